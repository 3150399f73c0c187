/// Encodes pixels as sixels: bands of six rows, each drawn one colour at a time. Source: DEC's VT330/VT340 Programmer
/// Reference Manual, chapter 14.
enum SixelImage {
    /// - Parameters:
    ///   - pixels: pixels of at most 256 colours; further ones use the last register.
    ///   - endsBelow: whether the cursor ends below the last band, as for a picture of its own.
    /// - Returns: the device control string. O(width × height + bands × colours × width).
    static func text(_ pixels: ImagePixels, endsBelow: Bool = true) -> String {
        let (indexes, palette) = indexed(pixels)
        var text = Array("\u{1b}P0;1q\"1;1;\(pixels.width);\(pixels.height)".utf8)
        for (index, color) in palette.enumerated() {
            text += "#\(index);2;\(percent(color >> 16));\(percent(color >> 8));\(percent(color))".utf8
        }
        var band = Band(width: pixels.width, colors: palette.count)
        for top in stride(from: 0, to: pixels.height, by: 6) {
            if top > 0 { text.append(UInt8(ascii: "-")) }
            let rows = min(6, pixels.height - top)
            band.fill(from: indexes[(top * pixels.width)..<((top + rows) * pixels.width)])
            band.write(to: &text)
        }
        if endsBelow { text.append(UInt8(ascii: "-")) }
        text += "\u{1b}\\".utf8
        return String(decoding: text, as: UTF8.self)
    }

    /// Converts a level of 0 to 255, in the low byte, to the 0 to 100 of a colour register.
    private static func percent(_ level: UInt32) -> UInt32 { ((level & 255) * 100 + 127) / 255 }

    /// The register of each pixel, and the registers' colours in order of appearance.
    private static func indexed(_ pixels: ImagePixels) -> (indexes: [UInt8], palette: [UInt32]) {
        var registers: [UInt32: UInt8] = [:]
        var palette: [UInt32] = []
        var indexes = [UInt8](repeating: 0, count: pixels.width * pixels.height)
        var last: (color: UInt32, index: UInt8)?
        pixels.bytes.withUnsafeBufferPointer { bytes in
            for pixel in indexes.indices {
                let start = pixel * pixels.channels
                let color = UInt32(bytes[start]) << 16 | UInt32(bytes[start + 1]) << 8 | UInt32(bytes[start + 2])
                if let last, last.color == color {
                    indexes[pixel] = last.index
                    continue
                }
                let index = registers[color] ?? UInt8(min(palette.count, 255))
                if registers[color] == nil {
                    registers[color] = index
                    if palette.count < 256 { palette.append(color) }
                }
                indexes[pixel] = index
                last = (color, index)
            }
        }
        return (indexes, palette)
    }

    /// Six rows: for each colour a row of sixels, whose bits are the pixels of that colour, the topmost the lowest.
    private struct Band {
        private let width: Int
        private var sixels: [UInt8]
        private var used: [Bool]

        init(width: Int, colors: Int) {
            self.width = width
            sixels = [UInt8](repeating: 0, count: width * colors)
            used = [Bool](repeating: false, count: colors)
        }

        mutating func fill(from indexes: ArraySlice<UInt8>) {
            for index in sixels.indices { sixels[index] = 0 }
            for index in used.indices { used[index] = false }
            for (offset, color) in indexes.enumerated() {
                sixels[Int(color) * width + offset % width] |= 1 << UInt8(offset / width)
                used[Int(color)] = true
            }
        }

        func write(to text: inout [UInt8]) {
            var isFirst = true
            for color in used.indices where used[color] {
                // Returns to the band's left edge before another colour.
                if !isFirst { text.append(UInt8(ascii: "$")) }
                isFirst = false
                text += "#\(color)".utf8
                runs(of: sixels[(color * width)..<((color + 1) * width)], to: &text)
            }
        }

        /// Encodes more than three repetitions with a count; empty sixels on the right are omitted.
        private func runs(of row: ArraySlice<UInt8>, to text: inout [UInt8]) {
            let end = row.lastIndex { $0 != 0 } ?? row.startIndex
            var start = row.startIndex
            while start <= end {
                var next = start + 1
                while next <= end, row[next] == row[start] { next += 1 }
                let count = next - start
                let character = row[start] + 63
                if count > 3 {
                    text += "!\(count)".utf8
                    text.append(character)
                } else {
                    for _ in 0..<count { text.append(character) }
                }
                start = next
            }
        }
    }
}
