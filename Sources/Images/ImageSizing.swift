/// The size that a picture is to have, and how it comes to it.
public struct ImageSizing: Sendable, Hashable {
    public enum Mode: Sendable, Hashable {
        /// As large as fits into the size, in the picture's own proportions (aspect fit).
        case fit
        /// The size exactly, filled from the middle; what is over is cut off (aspect fill).
        case fill
        /// The size exactly, in its proportions.
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
