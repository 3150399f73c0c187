/// Bytes as text, in lines of sixteen: the offset of the first, the bytes in hexadecimal, the characters of ASCII.
package struct HexDump {
    /// The number of bytes that are shown unless a length is given.
    package static let standardLength = 4096
    /// The number of bytes that are shown at most.
    package static let longest = 1 << 20

    private let bytes: [UInt8]
    private let bytesPerLine: Int

    /// - Parameters:
    ///   - bytes: the bytes.
    ///   - columns: the width of the screen; lines of eight bytes, where sixteen have no room.
    package init(_ bytes: [UInt8], columns: Int = 80) {
        self.bytes = bytes
        bytesPerLine = columns < 78 ? 8 : 16
    }

    /// The lines of a part.
    ///
    /// - Parameters:
    ///   - offset: the offset of the first byte, from 0.
    ///   - length: the number of bytes; cut at the end of the bytes, and at ``longest``.
    ///   - continuation: what shows the bytes behind, by the offset of their first.
    /// - Returns: lines, each ending with a line break; the last one counts the bytes behind the part.
    package func text(from offset: Int, length: Int, continuation: (Int) -> String) -> String {
        let start = min(max(offset, 0), bytes.count)
        let end = start + min(max(length, 0), Self.longest, bytes.count - start)
        var text: [UInt8] = []
        text.reserveCapacity((end - start) * 5 + 80)
        var line = start
        while line < end {
            append(line..<min(line + bytesPerLine, end), to: &text)
            line += bytesPerLine
        }
        var lines = String(decoding: text, as: UTF8.self)
        if end < bytes.count {
            lines += "… and \((bytes.count - end).counted("more byte", "more bytes")): \(continuation(end))\n"
        }
        return lines
    }

    private func append(_ range: Range<Int>, to text: inout [UInt8]) {
        let offset = String(range.lowerBound, radix: 16)
        text += [UInt8](repeating: UInt8(ascii: "0"), count: max(0, 8 - offset.utf8.count)) + offset.utf8
        for place in 0..<bytesPerLine {
            text.append(UInt8(ascii: " "))
            if place % 8 == 0 { text.append(UInt8(ascii: " ")) }
            guard range.lowerBound + place < range.upperBound else {
                text += "  ".utf8
                continue
            }
            let byte = bytes[range.lowerBound + place]
            text.append(Self.digits[Int(byte >> 4)])
            text.append(Self.digits[Int(byte & 15)])
        }
        text += "  |".utf8
        for byte in bytes[range] { text.append((0x20..<0x7F).contains(byte) ? byte : UInt8(ascii: ".")) }
        text += "|\n".utf8
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
