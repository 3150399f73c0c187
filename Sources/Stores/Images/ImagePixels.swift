/// A picture's decoded pixels: rows from the top, 8 bits a channel, sRGB.
public struct ImagePixels: Sendable, Hashable {
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int
    /// Bytes a pixel: 3 for red, green, blue; 4 with opacity.
    public let channels: Int
    /// `width * height * channels` of them.
    public let bytes: [UInt8]

    /// Pixels at hand.
    ///
    /// - Precondition: there are as many bytes as the size asks for, and 3 or 4 channels.
    public init(width: Int, height: Int, channels: Int = 3, bytes: [UInt8]) {
        precondition(channels == 3 || channels == 4, "pixels have 3 or 4 channels")
        precondition(width > 0 && height > 0 && width < 1 << 31 && height < 1 << 31, "pixels have a size")
        precondition(bytes.count == width * height * channels, "\(width)×\(height)×\(channels) needs as many bytes")
        self.width = width
        self.height = height
        self.channels = channels
        self.bytes = bytes
    }
}
