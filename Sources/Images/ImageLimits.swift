/// How large a picture may be before it is refused, unread.
public struct ImageLimits: Sendable, Hashable {
    /// The largest limit that makes sense: so many take 16 GB.
    package static let mostPixels = 1 << 32

    /// The most pixels, width times height; checked against the header, before anything is decoded.
    public var pixels: Int
    /// The most bytes of a file.
    public var bytes: Int

    public init(pixels: Int = 268_000_000, bytes: Int = 512 << 20) {
        self.pixels = pixels
        self.bytes = bytes
    }
}
