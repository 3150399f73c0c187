/// A target size and the way to reach it.
public struct ImageSizing: Sendable, Hashable {
    public enum Mode: Sendable, Hashable {
        /// The largest size within the target, with the picture's proportions (aspect fit).
        case fit
        /// Exactly the target size, filled from the middle and cropped (aspect fill).
        case fill
        /// Exactly the target size and its proportions.
        case stretch
    }

    /// In pixels.
    public var width: Int
    /// In pixels.
    public var height: Int
    public var mode: Mode

    public init(width: Int, height: Int, mode: Mode = .fit) {
        self.width = width
        self.height = height
        self.mode = mode
    }
}
