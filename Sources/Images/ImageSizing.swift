/// A target size and the way to reach it.
public struct ImageSizing: Sendable, Hashable {
    /// How a picture fills a size of another shape.
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
    /// How the picture fills the size.
    public var mode: Mode

    /// Creates a sizing to a width and a height in pixels.
    public init(width: Int, height: Int, mode: Mode = .fit) {
        self.width = width
        self.height = height
        self.mode = mode
    }
}
