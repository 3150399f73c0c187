import Foundation
import Images
import TestSupport

/// Pictures for tests: the example's own, and ones that are made or broken here.
enum Pictures {
    static func example(_ name: String) -> String { "\(Project.root)/examples/data/pictures/\(name)" }

    static func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

    /// Pixels by a function of column and row.
    static func pixels(_ width: Int, _ height: Int, _ color: (Int, Int) -> [UInt8]) -> ImagePixels {
        var bytes: [UInt8] = []
        for row in 0..<height { for column in 0..<width { bytes += color(column, row) } }
        return ImagePixels(
            width: width, height: height, channels: bytes.count / (width * height), bytes: bytes)
    }

    /// A JPEG file with an EXIF segment that tells an orientation.
    static func jpeg(_ jpeg: [UInt8], orientation: UInt8, bigEndian: Bool) -> [UInt8] {
        let tiff: [UInt8] =
            bigEndian
            ? [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
            : [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]
        let body = Array("Exif\0\0".utf8) + tiff
        return jpeg[..<2] + [0xff, 0xe1, 0, UInt8(body.count + 2)] + body + jpeg[2...]
    }

    /// A PNG file of one chunk that claims a size, with little or nothing behind it.
    static func png(width: UInt32, height: UInt32, data: [UInt8] = []) -> [UInt8] {
        func big(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
        func chunk(_ kind: String, _ data: [UInt8]) -> [UInt8] {
            let body = Array(kind.utf8) + data
            return big(UInt32(data.count)) + body + big(crc(body))
        }
        return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
            + chunk("IHDR", big(width) + big(height) + [8, 2, 0, 0, 0]) + chunk("IDAT", data) + chunk("IEND", [])
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var crc: UInt32 = .max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
        }
        return ~crc
    }
}
