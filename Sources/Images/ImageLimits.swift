/// The limits of pictures, checked before decoding.
public struct ImageLimits: Sendable, Hashable {
    /// The largest useful limit, 16 GB of pixels.
    package static let mostPixels = 1 << 32

    /// Maximum number of pixels; checked against the header before decoding.
    public var pixels: Int
    /// Maximum size of a file in bytes.
    public var bytes: Int

    /// Creates limits of pixels and bytes for one picture.
    public init(pixels: Int = 268_000_000, bytes: Int = 512 << 20) {
        self.pixels = pixels
        self.bytes = bytes
    }
}
