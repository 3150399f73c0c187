import Files
import Foundation
import Images
import TestSupport
import Testing

@Suite("Image")
struct ImageTests {
    @Test(
        "the examples have their size and format",
        arguments: [
            ("bicycle.png", ImageFormat.png), ("chair.png", .png), ("guitar.png", .png), ("lamp.png", .png),
            ("radio.png", .png), ("teapot.png", .png), ("teapot.jpg", .jpeg),
        ])
    func examples(name: String, format: ImageFormat) throws {
        let image = try BitmapImage.open(Pictures.example(name))
        #expect(image.width == 320)
        #expect(image.height == 240)
        #expect(image.format == format)
        #expect(image.byteCount == (try Pictures.bytes(Pictures.example(name)).count))
        #expect(image.description.hasPrefix("320×240 \(format.displayName), "))
    }

    @Test(
        "photographs have their size and format",
        .enabled(if: Project.shared != nil, Comment(rawValue: Project.sharedIsAbsent)),
        arguments: [
            ("china.jpg", 640, 427, ImageFormat.jpeg), ("flower.jpg", 640, 427, .jpeg),
            ("grace_hopper.jpg", 512, 600, .jpeg), ("rocket.jpg", 640, 427, .jpeg), ("coffee.png", 600, 400, .png),
            ("chelsea.png", 451, 300, .png),
        ])
    func photographs(name: String, width: Int, height: Int, format: ImageFormat) throws {
        let image = try BitmapImage.open(try #require(Project.sharedData("images/\(name)")))
        #expect((image.width, image.height) == (width, height))
        #expect(image.format == format)
        let small = try BitmapImage(bytes: image.jpegData(sizing: ImageSizing(width: 100, height: 100)))
        #expect(max(small.width, small.height) == 100)
    }

    @Test("every format comes in and shows the same", arguments: Samples.all)
    func formats(sample: Samples.Sample) throws {
        let image = try BitmapImage(bytes: sample.bytes)
        #expect(image.format == sample.format)
        #expect((image.width, image.height) == (Samples.width, Samples.height))
        let pixels = try image.rgb()
        #expect((pixels.width, pixels.height, pixels.channels) == (Samples.width, Samples.height, 3))
        guard sample.name != "greyJPEG" else { return }
        // CMYK goes through a general profile.
        let slack = sample.name == "cmykJPEG" ? 60 : 24
        for (column, row, color) in [(8, 6, [220, 40, 60]), (56, 6, [30, 40, 60]), (8, 26, [220, 200, 60])] {
            #expect(pixels.isNear(column, row, color, slack: slack), "\(sample.name) at \(column), \(row)")
        }
    }

    @Test("what comes out comes in again")
    func encoding() throws {
        let image = BitmapImage(pixels: Pictures.pixels(50, 30) { [UInt8($0 * 5), UInt8($1 * 8), 100] })
        #expect(image.format == nil)
        let png = try BitmapImage(bytes: image.pngData())
        #expect(png.format == .png)
        #expect(try png.rgb() == image.rgb())
        let jpeg = try BitmapImage(bytes: image.jpegData(quality: 1))
        #expect(jpeg.format == .jpeg)
        #expect(try jpeg.rgb().isNear(20, 20, [100, 160, 100], slack: 8))
        #expect(try image.jpegData(quality: 0.1).count < image.jpegData(quality: 0.95).count)
        // Beyond 0 to 1, and no number at all.
        #expect(try image.jpegData(quality: 7) == image.jpegData(quality: 1))
        #expect(try image.jpegData(quality: -1) == image.jpegData(quality: 0))
        #expect(try image.jpegData(quality: .nan) == image.jpegData(quality: 0.5))
        #expect(try image.jpegData(quality: .infinity) == image.jpegData(quality: 1))
    }

    @Test("transparency becomes white in JPEG and stays in PNG")
    func transparency() throws {
        let image = BitmapImage(pixels: Pictures.pixels(16, 16) { column, _ in [200, 0, 0, column < 8 ? 255 : 0] })
        let flat = try BitmapImage(bytes: image.jpegData(quality: 1)).rgb()
        #expect(flat.isNear(2, 8, [200, 0, 0], slack: 20))
        #expect(flat.isNear(14, 8, [255, 255, 255], slack: 20))
        let again = try BitmapImage(bytes: image.pngData())
        #expect(try again.rgb(background: 0).isNear(14, 8, [0, 0, 0], slack: 2))
        #expect(try again.rgb(background: 90).isNear(14, 8, [90, 90, 90], slack: 2))
    }

    @Test(
        "sizes",
        arguments: [
            (ImageSizing(width: 100, height: 100), 100, 75), (ImageSizing(width: 1000, height: 120), 160, 120),
            (ImageSizing(width: 640, height: 640), 640, 480),
            (ImageSizing(width: 40, height: 40, mode: .fill), 40, 40),
            (ImageSizing(width: 90, height: 10, mode: .fill), 90, 10),
            (ImageSizing(width: 33, height: 200, mode: .stretch), 33, 200),
            (ImageSizing(width: 1, height: 1), 1, 1),
        ])
    func sizes(sizing: ImageSizing, width: Int, height: Int) throws {
        let file = try BitmapImage.open(Pictures.example("lamp.png"))
        let made = BitmapImage(pixels: try file.rgb())
        for image in [file, made] {
            let resized = try image.resized(width: sizing.width, height: sizing.height, mode: sizing.mode)
            #expect((resized.width, resized.height) == (width, height))
            let jpeg = try BitmapImage(bytes: image.jpegData(sizing: sizing))
            #expect((jpeg.width, jpeg.height) == (width, height))
        }
    }

    /// What is opaque is resized by fewer operations than what has transparency.
    @Test(
        "a picture becomes the same in every size, with opacity and without",
        arguments: [
            ImageSizing(width: 40, height: 40, mode: .fill), ImageSizing(width: 90, height: 10, mode: .fill),
            ImageSizing(width: 10, height: 90, mode: .fill), ImageSizing(width: 100, height: 100),
            ImageSizing(width: 319, height: 239), ImageSizing(width: 33, height: 200, mode: .stretch),
            ImageSizing(width: 400, height: 400), ImageSizing(width: 1, height: 1),
            ImageSizing(width: 3, height: 2, mode: .stretch),
        ])
    func opaque(sizing: ImageSizing) throws {
        let picture = try BitmapImage.open(Pictures.example("teapot.png")).rgb()
        let opaque = stride(from: 0, to: picture.bytes.count, by: 3).flatMap { picture.bytes[$0..<$0 + 3] + [255] }
        let pixels = try BitmapImage(pixels: picture).rgb(sizing: sizing)
        let expected = try BitmapImage(
            pixels: ImagePixels(width: picture.width, height: picture.height, channels: 4, bytes: opaque)
        ).rgb(sizing: sizing)
        #expect((pixels.width, pixels.height) == (expected.width, expected.height))
        // Between its two passes one is rounded to whole numbers, the other not.
        let difference = zip(pixels.bytes, expected.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        #expect(Double(difference) / Double(pixels.bytes.count) < 1.5)
    }

    @Test("a plain surface keeps its colour in every size", arguments: [1, 7, 40, 99])
    func plainSurface(side: Int) throws {
        let bytes = try BitmapImage(pixels: Pictures.pixels(100, 100) { _, _ in [200, 100, 50] }).jpegData(
            quality: 0.95)
        let first = try BitmapImage(bytes: bytes).rgb().bytes.prefix(3).map(Int.init)
        let small = try BitmapImage(bytes: bytes).rgb(sizing: ImageSizing(width: side, height: side, mode: .fill))
        for row in 0..<side { for column in 0..<side { #expect(small.isNear(column, row, first, slack: 0)) } }
    }

    @Test(
        "sizes that cannot be", arguments: [(0, 10), (10, 0), (-1, 5), (70000, 5), (60000, 60000), (Int.max, Int.max)])
    func impossibleSizes(width: Int, height: Int) throws {
        let image = try BitmapImage.open(Pictures.example("lamp.png"))
        let error = #expect(throws: ImageError.self) { try image.resized(width: width, height: height) }
        #expect(error?.code == .cannotMake)
    }

    @Test("pictures come upright by their EXIF orientation", arguments: 1...8 as ClosedRange<UInt8>, [true, false])
    func orientation(orientation: UInt8, bigEndian: Bool) throws {
        // Four corners of four colours: upper left, upper right, lower left, lower right.
        let colors: [[UInt8]] = [[220, 30, 30], [30, 200, 30], [30, 30, 220], [230, 230, 40]]
        let stored = BitmapImage(pixels: Pictures.pixels(64, 32) { colors[($1 < 16 ? 0 : 2) + ($0 < 32 ? 0 : 1)] })
        let bytes = Pictures.jpeg(
            try stored.jpegData(quality: 1), orientation: orientation, bigEndian: bigEndian)
        // Which stored corner is to be seen at each corner, by EXIF's table.
        let upright: [UInt8: [Int]] = [
            1: [0, 1, 2, 3], 2: [1, 0, 3, 2], 3: [3, 2, 1, 0], 4: [2, 3, 0, 1],
            5: [0, 2, 1, 3], 6: [2, 0, 3, 1], 7: [3, 1, 2, 0], 8: [1, 3, 0, 2],
        ]
        let expected = try #require(upright[orientation])
        let image = try BitmapImage(bytes: bytes)
        let (width, height) = orientation < 5 ? (64, 32) : (32, 64)
        #expect((image.width, image.height) == (width, height))
        let full = try image.rgb()
        let small = try image.rgb(sizing: ImageSizing(width: width / 2, height: height / 2))
        for pixels in [full, small] {
            #expect(pixels.width * height == pixels.height * width)
            for (corner, stored) in expected.enumerated() {
                let column = pixels.width * (corner % 2 == 0 ? 1 : 3) / 4
                let row = pixels.height * (corner < 2 ? 1 : 3) / 4
                #expect(pixels.isNear(column, row, colors[stored].map(Int.init), slack: 30), "corner \(corner)")
            }
        }
        // What is written out has no orientation left to apply.
        let written = try BitmapImage(bytes: image.jpegData())
        #expect((written.width, written.height) == (width, height))
    }

    @Test("a JPEG file that holds more than a picture is not bare")
    func bare() throws {
        let picture = try BitmapImage.open(Pictures.example("lamp.png"))
        let bytes = try picture.jpegData()
        #expect(picture.bareJPEG == nil)
        #expect(try BitmapImage(bytes: bytes).bareJPEG == bytes)
        #expect(try BitmapImage(bytes: Pictures.jpeg(bytes, orientation: 1, bigEndian: false)).bareJPEG == nil)
        let comment: [UInt8] = [0xff, 0xfe, 0, 4, 0x68, 0x69]
        #expect(try BitmapImage(bytes: bytes[..<2] + comment + bytes[2...]).bareJPEG == nil)
    }

    @Test("a field of EXIF is there with its value, or named") func exif() throws {
        // ImageDescription in Latin-1, XPTitle "Titre", Make "Acme, Inc (x), Ltd", FNumber 0/0, ExposureTime 1/0.
        let text =
            "/+EAvkV4aWYAAElJKgAIAAAABAAOAQIACgAAAD4AAAAPAQIAEwAAAEgAAABphwQAAQAAAGgAAACbnAEADAAAAFwAAAAAAAAAQ2Fm"
            + "6SBk6WrgAEFjbWUsIEluYyAoeCksIEx0ZAAAVABpAHQAcgBlAAAAAwCaggUAAQAAAJIAAACdggUAAQAAAJoAAAADkAIAFAAAAKIA"
            + "AAAAAAAAAQAAAAAAAAAAAAAAAAAAADIwMjA6MDE6MDIgMDM6MDQ6MDUA"
        let segment = [UInt8](try #require(Data(base64Encoded: text)))
        let bytes = try Pictures.bytes(Pictures.example("teapot.jpg"))
        let metadata = try BitmapImage(bytes: bytes[..<2] + segment + bytes[2...]).metadata()
        #expect(metadata.fields["XPTitle"] == .text("Titre"))
        #expect(metadata.fields["Make"] == .text("Acme, Inc (x), Ltd"))
        #expect(metadata.fields["FNumber"] == .text("0/0"))
        #expect(metadata.fields["ExposureTime"] == .text("1/0"))
        #expect(metadata.fields["DateTimeOriginal"] == .text("2020:01:02 03:04:05"))
        #expect(metadata.fields["ImageDescription"] == nil && metadata.unread == ["ImageDescription"])
    }

    @Test("values of EXIF are those of the file, where libvips has prose, or names them as unread") func exactEXIF()
        throws
    {
        func int16(_ number: Int) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8)] }
        func int32(_ number: Int) -> [UInt8] { int16(number & 65535) + int16(number >> 16) }
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            int16(tag) + int16(type) + int32(count) + value
        }
        func metadata(_ comment: [UInt8]) throws -> ImageMetadata {
            // At 8 the first directory, at 38 that of EXIF, at 68 that of GPS, at 86 the comment.
            let tiff =
                Array("II".utf8) + int16(42) + int32(8)
                + int16(2) + entry(0x8769, 4, 1, int32(38)) + entry(0x8825, 4, 1, int32(68)) + int32(0)
                + int16(2) + entry(0x8831, 4, 1, int32(3_000_000_000)) + entry(0x9286, 7, comment.count, int32(86))
                + int32(0) + int16(1) + entry(5, 1, 1, [1, 0, 0, 0]) + int32(0) + comment
            let body = Array("Exif\0\0".utf8) + tiff
            let bytes = try Pictures.bytes(Pictures.example("teapot.jpg"))
            let segment: [UInt8] = [0xff, 0xe1, 0, UInt8(body.count + 2)] + body
            return try BitmapImage(bytes: bytes[..<2] + segment + bytes[2...]).metadata()
        }
        let found = try metadata(Array("UNICODE\0".utf8) + Array("Größe".utf16).flatMap { int16(Int($0)) })
        #expect(found.fields["StandardOutputSensitivity"] == .integer(3_000_000_000))
        #expect(found.fields["GPSAltitudeRef"] == .integer(1))
        #expect(found.fields["UserComment"] == .text("Größe") && found.unread.isEmpty)
        let other = try metadata(Array("JIS\0\0\0\0\0".utf8) + [0x30, 0x21])
        #expect(other.fields["UserComment"] == nil && other.unread == ["UserComment"])
    }

    @Test("grey of more than 16 bits, in an unknown range, is refused in words")
    func unknownRange() throws {
        func int16(_ number: Int) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8)] }
        func int32(_ number: Int) -> [UInt8] { int16(number & 65535) + int16(number >> 16) }
        for (format, pixel) in [(3, int32(Int(Float(1).bitPattern))), (1, int32(4_000_000_000))] {
            let fields = [
                (256, 4, 1), (257, 4, 1), (258, 3, 32), (259, 3, 1), (262, 3, 1), (273, 4, 8), (277, 3, 1), (278, 4, 1),
                (279, 4, 4), (339, 3, format),
            ]
            let entries = fields.flatMap { int16($0.0) + int16($0.1) + int32(1) + int32($0.2) }
            let bytes = Array("II".utf8) + int16(42) + int32(12) + pixel + int16(fields.count) + entries + int32(0)
            let error = #expect(throws: ImageError.self) { try BitmapImage(bytes: bytes) }
            #expect(error?.message.contains("convert it to 8 or 16 bits") == true, "\(String(describing: error))")
        }
    }

    @Test("a file that is not there is named")
    func absent() throws {
        let error = #expect(throws: ImageError.self) { try BitmapImage.open("/nonexistent/lamp.png") }
        #expect(error?.code == .unreadable)
        #expect(error?.fileError?.code == FileLayerCode.absent)
        #expect(error?.description == "cannot open /nonexistent/lamp.png: No such file or directory")
    }
}

extension ImagePixels {
    /// Whether a pixel's channels are each within a distance of a colour's.
    func isNear(_ column: Int, _ row: Int, _ color: [Int], slack: Int) -> Bool {
        let start = (row * width + column) * channels
        return zip(bytes[start..<start + 3], color).allSatisfy { abs(Int($0) - $1) <= slack }
    }
}
