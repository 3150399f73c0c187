import Application
import Foundation
import Images
import TestSupport
import Testing

/// Bytes that are not a picture, or lie about it: an error in words, never a crash, and no memory for what is only
/// claimed.
@Suite("Hostile images")
struct HostileImageTests {
    @Test(
        "no picture at all",
        arguments: [
            [], [0], [0xff, 0xd8], Array("just text, whatever the name says".utf8), Array("%PDF-1.7".utf8),
            Array("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>".utf8),
            [UInt8](repeating: 0, count: 4096), Array("id=ImageMagick".utf8), Array("RIFF1234WAVE".utf8),
            Array("\0\0\0\u{18}ftypqt  ".utf8),
        ] as [[UInt8]])
    func noPicture(bytes: [UInt8]) {
        let error = #expect(throws: ImageError.self) { try BitmapImage(bytes: bytes) }
        #expect(error?.code == .notAPicture)
        #expect(error?.message.hasPrefix("not a picture") == true)
    }

    @Test("a text named .jpg is named in the error")
    func named() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("not a photograph", to: "photo.jpg")
        let error = #expect(throws: ImageError.self) { try BitmapImage.open(path) }
        #expect(error?.path == path)
        #expect(error?.description.hasPrefix("\(path): not a picture") == true)
    }

    @Test("a file cut short anywhere is refused", arguments: ["teapot.jpg", "lamp.png"])
    func truncated(name: String) throws {
        let bytes = try Pictures.bytes(Pictures.example(name))
        for count in stride(from: 4, to: bytes.count - 1, by: 97) {
            let error = #expect(throws: ImageError.self, "\(count) bytes") { try decode(Array(bytes[..<count])) }
            #expect(error?.code == .damaged || error?.code == .notAPicture)
        }
    }

    @Test("samples cut short do not crash", arguments: Samples.all)
    func truncatedSamples(sample: Samples.Sample) {
        for count in stride(from: 0, to: sample.bytes.count, by: 5) { try? decode(Array(sample.bytes[..<count])) }
    }

    @Test("a byte changed here or there does not crash", arguments: Samples.all)
    func changed(sample: Samples.Sample) {
        var generator = SeededGenerator(seed: 7)
        // CMYK costs more than all others together.
        for place in stride(from: 0, to: sample.bytes.count, by: sample.name == "cmykJPEG" ? 40 : 6) {
            var bytes = sample.bytes
            bytes[place] = UInt8.random(in: 0...255, using: &generator)
            try? decode(bytes)
        }
    }

    @Test("headers that claim too much are refused before decoding")
    func claims() throws {
        for (width, height) in [(60000, 60000), (0x7fff_ffff, 1), (0x7fff_ffff, 0x7fff_ffff)] as [(UInt32, UInt32)] {
            let error = #expect(throws: ImageError.self) {
                try BitmapImage(bytes: Pictures.png(width: width, height: height))
            }
            #expect(error?.code == .tooManyPixels)
            #expect(error?.message.contains("\(width)×\(height)") == true)
        }
        // A JPEG's frame header, changed to 65,000×65,000.
        var jpeg = try Pictures.bytes(Pictures.example("teapot.jpg"))
        let frame = try #require(jpeg.indices.dropLast().first { jpeg[$0] == 0xff && jpeg[$0 + 1] == 0xc0 })
        jpeg.replaceSubrange(frame + 5..<frame + 9, with: [0xfd, 0xe8, 0xfd, 0xe8])
        let error = #expect(throws: ImageError.self) { try BitmapImage(bytes: jpeg) }
        #expect(error?.code == .tooManyPixels)
    }

    @Test("a size that the pixels do not fill is an error in words")
    func lyingSize() throws {
        let image = try BitmapImage(
            bytes: Pictures.png(width: 5000, height: 5000, data: [0x78, 0x9c, 0x03, 0, 0, 0, 0, 1]))
        let error = #expect(throws: ImageError.self) { try image.jpegData() }
        #expect(error?.code == .damaged)
        #expect(error?.message.hasPrefix("the picture cannot be decoded: ") == true)
        for size in [(0, 5), (5, 0)] as [(UInt32, UInt32)] {
            #expect(throws: ImageError.self) { try BitmapImage(bytes: Pictures.png(width: size.0, height: size.1)) }
        }
    }

    @Test("a picture that does not decode is an error every time, in every size")
    func steadyErrors() throws {
        // A good start of the pixels and then nothing, and nothing good at all.
        let half: [UInt8] = [0x78, 0x9c, 0xec, 0xc1, 0x01, 0x0d, 0, 0, 0, 0xc2, 0xa0, 0xf7, 0x4f, 0x6d, 0x0e, 0x37]
        for data in [half, [1, 2, 3], []] {
            for side in [10, 300] as [UInt32] {
                let image = try BitmapImage(bytes: Pictures.png(width: side, height: side, data: data))
                for _ in 0..<30 {
                    for sizing in [
                        nil, ImageSizing(width: 5, height: 5), ImageSizing(width: 40, height: 40, mode: .fill),
                    ] {
                        #expect(throws: ImageError.self) { try image.jpegData(sizing: sizing) }
                        #expect(throws: ImageError.self) { try image.rgb(sizing: sizing) }
                    }
                }
            }
        }
    }

    @Test("several threads may decode at once")
    func threads() async throws {
        let good = try BitmapImage.open(Pictures.example("teapot.jpg"))
        let bad = try BitmapImage(bytes: Pictures.png(width: 10, height: 10, data: [1, 2, 3]))
        let expected = try good.jpegData(sizing: ImageSizing(width: 50, height: 50))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<20 {
                        let made = try good.jpegData(sizing: ImageSizing(width: 50, height: 50))
                        #expect(made == expected)
                        #expect(throws: ImageError.self) { try bad.jpegData() }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("the limits are settable")
    func limits() throws {
        let path = Pictures.example("lamp.png")
        let pixels = #expect(throws: ImageError.self) {
            try BitmapImage.open(path, limits: ImageLimits(pixels: 320 * 240 - 1))
        }
        #expect(pixels?.code == .tooManyPixels)
        #expect(try BitmapImage.open(path, limits: ImageLimits(pixels: 320 * 240)).width == 320)
        let bytes = #expect(throws: ImageError.self) { try BitmapImage.open(path, limits: ImageLimits(bytes: 100)) }
        #expect(bytes?.code == .tooManyBytes)
        let sample = #expect(throws: ImageError.self) {
            try BitmapImage(bytes: Samples.bytes("webp"), limits: ImageLimits(pixels: 100))
        }
        #expect(sample?.code == .tooManyPixels)
    }

    @Test(
        "a line of pixels can be made smaller, larger and filled, whatever is left of its width",
        arguments: [(1, 5000), (5000, 1), (3, 30_000), (20_000, 2)], [1, 3, 4])
    func lines(shape: (width: Int, height: Int), channels: Int) throws {
        let made = BitmapImage(
            pixels: Pictures.pixels(shape.width, shape.height) { column, row in
                [UInt8(truncatingIfNeeded: column), UInt8(truncatingIfNeeded: row), 90, 200].prefix(max(channels, 3))
                    + []
            })
        // A grey one has one channel when it comes back.
        let grey = BitmapImage(pixels: Pictures.pixels(shape.width, shape.height) { _, _ in [70, 70, 70] })
        let source = channels == 1 ? grey : made
        let jpeg = try source.jpegData(quality: 0.9)
        for bytes in [jpeg, try source.pngData(), Pictures.jpeg(jpeg, orientation: 6, bigEndian: true)] {
            let image = try BitmapImage(bytes: bytes)
            for side in [1, 10, 40, 100] {
                for mode in [ImageSizing.Mode.fit, .fill, .stretch] {
                    let small = try image.resized(width: side, height: side, mode: mode)
                    #expect((1...side).contains(small.width) && (1...side).contains(small.height))
                    #expect(mode == .fit || (small.width, small.height) == (side, side))
                }
            }
        }
    }

    @Test("a JPEG file with fewer pixels than its header says is damaged")
    func fewerPixels() throws {
        var bytes = try Pictures.bytes(Pictures.example("teapot.jpg"))
        let frame = try #require(
            bytes.indices.dropLast().first { bytes[$0] == 0xff && (bytes[$0 + 1] == 0xc0 || bytes[$0 + 1] == 0xc2) })
        bytes.replaceSubrange((frame + 5)..<(frame + 9), with: [0x03, 0xe8, 0x03, 0xe8])
        let image = try BitmapImage(bytes: bytes)
        #expect((image.width, image.height) == (1000, 1000))
        for sizing in [nil, ImageSizing(width: 30, height: 30)] {
            let error = #expect(throws: ImageError.self) { try image.jpegData(sizing: sizing) }
            #expect(error?.code == .damaged, "\(error?.message ?? "")")
        }
    }

    @Test("pictures that are decoded on many threads do not take over each other's damage, or its words")
    func manyThreads() throws {
        let teapot = try Pictures.bytes(Pictures.example("teapot.jpg"))
        let middle = teapot.count / 2
        let torn = teapot[..<middle] + [UInt8](repeating: 0xff, count: 40) + teapot[(middle + 40)...]
        let files: [[UInt8]] = [
            teapot, Pictures.png(width: 60, height: 60, data: [1, 2, 3]),
            try Pictures.bytes(Pictures.example("lamp.png")), Array(torn), Samples.bytes("webp"),
            Samples.bytes("webp").dropLast(60) + [UInt8](repeating: 7, count: 60),
        ]
        @Sendable func outcome(_ number: Int) -> Result<[UInt8], ImageError> {
            let (bytes, isSmall) = (files[number % files.count], number / files.count % 2 == 1)
            do throws(ImageError) {
                let sizing = isSmall ? ImageSizing(width: 30, height: 30) : nil
                return .success(try BitmapImage(bytes: bytes).jpegData(sizing: sizing))
            } catch {
                return .failure(error)
            }
        }
        let alone = (0..<2 * files.count).map(outcome)
        #expect(alone.contains { (try? $0.get()) == nil } && alone.contains { (try? $0.get()) != nil })
        try ParallelWork.forEach(40 * files.count, width: 6, work: outcome) { number, found in
            #expect(found == alone[number % alone.count], "file \(number % files.count)")
        }
    }

    @Test("thumbnails that are made beside each other: each damaged picture is named, with its own words")
    func besideEachOther() throws {
        let directory = try TemporaryDirectory()
        let store = ImageStore(
            directory: directory.path, caches: directory.file("Caches"), logger: RecordingLog().logger)
        let teapot = try Pictures.bytes(Pictures.example("teapot.jpg"))
        let kinds: [[UInt8]] = [
            teapot, Pictures.png(width: 60, height: 60, data: [1, 2, 3]), Samples.bytes("webp"),
            try Pictures.bytes(Pictures.example("lamp.png")), Array(teapot.dropLast(500)), Array("text".utf8),
        ]
        let keys = (0..<120).map { "\($0)" }
        for (number, key) in keys.enumerated() {
            try Data(kinds[number % kinds.count]).write(to: URL(fileURLWithPath: directory.file(key)))
        }
        let failures = try store.prepareThumbnails(forKeys: keys, size: 20)
        for (number, key) in keys.enumerated() {
            let error = #expect(throws: (any Error).self) {
                _ = try store.thumbnail(forKey: key, size: 20)
                throw TestFailure("none")
            }
            #expect(failures[key] == error as? ImageError, "\(key)")
            #expect((failures[key] != nil) == [1, 4, 5].contains(number % kinds.count), "\(key)")
        }
    }

    /// All that a picture can be asked.
    private func decode(_ bytes: [UInt8]) throws {
        let limits = ImageLimits(pixels: 4_000_000)
        let image = try BitmapImage(bytes: bytes, limits: limits)
        _ = try image.rgb(sizing: ImageSizing(width: 20, height: 20))
        _ = try image.jpegData()
    }
}

/// The same numbers at every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
