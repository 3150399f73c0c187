/// Decoded pixels: rows from the top, 8 bits per channel, sRGB.
public struct ImagePixels: Sendable, Hashable {
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int
    /// Bytes per pixel: 3 for RGB, 4 for RGBA.
    public let channels: Int
    /// `width * height * channels` bytes.
    public let bytes: [UInt8]

    /// Makes pixels of bytes.
    ///
    /// - Precondition: the number of bytes matches the size, and there are 3 or 4 channels.
    public init(width: Int, height: Int, channels: Int = 3, bytes: [UInt8]) {
        precondition(channels == 3 || channels == 4, "pixels have 3 or 4 channels")
        precondition(width > 0 && height > 0 && width < 1 << 31 && height < 1 << 31, "pixels have a size")
        precondition(bytes.count == width * height * channels, "\(width)×\(height)×\(channels) needs as many bytes")
        self.width = width
        self.height = height
        self.channels = channels
        self.bytes = bytes
    }

    /// The pixels with transparent rounded corners; pixels on the arc are partly transparent by coverage.
    ///
    /// - Parameter radius: in pixels, at most half of the shorter side.
    /// - Returns: pixels of four channels.
    public func rounded(_ radius: Double) -> ImagePixels {
        var result = [UInt8]()
        result.reserveCapacity(width * height * 4)
        for start in stride(from: 0, to: bytes.count, by: channels) {
            result.append(contentsOf: bytes[start..<start + 3])
            result.append(channels == 4 ? bytes[start + 3] : 255)
        }
        let side = min(Int(radius.rounded(.up)), width, height)
        for row in 0..<max(side, 0) {
            for column in 0..<side {
                let (x, y) = (radius - Double(column) - 0.5, radius - Double(row) - 0.5)
                guard x > 0, y > 0 else { continue }
                let within = min(max(radius + 0.5 - (x * x + y * y).squareRoot(), 0), 1)
                for (column, row) in [
                    (column, row), (width - 1 - column, row), (column, height - 1 - row),
                    (width - 1 - column, height - 1 - row),
                ] {
                    let place = (row * width + column) * 4 + 3
                    result[place] = UInt8((Double(result[place]) * within).rounded())
                }
            }
        }
        return ImagePixels(width: width, height: height, channels: 4, bytes: result)
    }
}
