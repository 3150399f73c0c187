import Foundation
import Images
import Testing

@Suite("Terminal image")
struct TerminalImageTests {
    private static let four = Pictures.pixels(2, 2) { column, row in
        [UInt8(column * 255), UInt8(row * 255), 0]
    }

    @Test("two pixels a cell, in true colour")
    func trueColor() {
        #expect(
            TerminalImage.halfBlocks(Self.four, colors: .trueColor)
                == "\u{1b}[38;2;0;0;0;48;2;0;255;0m▀\u{1b}[38;2;255;0;0;48;2;255;255;0m▀\u{1b}[0m\n")
    }

    @Test("two pixels a cell, in 256 colours")
    func palette() {
        #expect(
            TerminalImage.halfBlocks(Self.four, colors: .palette256)
                == "\u{1b}[38;5;16;48;5;46m▀\u{1b}[38;5;196;48;5;226m▀\u{1b}[0m\n")
    }

    @Test("colours are said once, and an odd last row leaves the background")
    func repetition() {
        let plain = Pictures.pixels(3, 3) { _, _ in [9, 9, 9] }
        #expect(
            TerminalImage.halfBlocks(plain, colors: .trueColor)
                == "\u{1b}[38;2;9;9;9;48;2;9;9;9m▀▀▀\u{1b}[0m\n\u{1b}[38;2;9;9;9m▀▀▀\u{1b}[0m\n")
    }

    @Test("every colour of the palette is its own nearest", arguments: 16..<256)
    func nearest(index: Int) {
        let levels = [0, 95, 135, 175, 215, 255]
        let cube = index - 16
        let color =
            index < 232
            ? [levels[cube / 36], levels[cube / 6 % 6], levels[cube % 6]]
            : [Int](repeating: 8 + 10 * (index - 232), count: 3)
        let pixels = Pictures.pixels(1, 1) { _, _ in color.map { UInt8($0) } }
        let text = TerminalImage.halfBlocks(pixels, colors: .palette256)
        // No colour of the cube is a grey of the ramp.
        #expect(text == "\u{1b}[38;5;\(index)m▀\u{1b}[0m\n")
    }

    @Test(
        "a picture fits the cells, is square in them and is not enlarged",
        arguments: [(80, 24, 64, 48), (20, 50, 20, 15), (1000, 1000, 320, 240), (0, 0, 1, 1)])
    func sizing(columns: Int, rows: Int, width: Int, height: Int) throws {
        let image = try BitmapImage.open(Pictures.example("bicycle.png"))
        let pixels = try image.rgb(sizing: TerminalImage.sizing(for: image, columns: columns, rows: rows))
        #expect((pixels.width, pixels.height) == (width, height))
    }
}

@Suite("Terminal graphics")
struct TerminalGraphicsTests {
    @Test(
        "each protocol draws a picture and one for a row",
        arguments: [
            (TerminalGraphics.kitty, "\u{1b}_Ga=T,f=100,q=2,m=", "\u{1b}\\"),
            (.iTerm2, "\u{1b}]1337;File=inline=1;size=", "\u{07}"),
            (.sixel, "\u{1b}P0;1q\"1;1;80;60", "-\u{1b}\\"),
            (.halfBlocks(.palette256), "\u{1b}[38;5;", "\u{1b}[0m"),
        ])
    func drawn(graphics: TerminalGraphics, beginning: String, end: String) throws {
        let image = try BitmapImage.open(Pictures.example("bicycle.png"))
        let text = try TerminalImage.text(image, as: graphics, in: TerminalArea(columns: 10, rows: 40))
        #expect(text.hasPrefix(beginning) && text.hasSuffix(end + "\n"), "\(text.prefix(60).debugDescription)")
        let inline = try TerminalImage.inlineText(image, as: graphics, in: TerminalArea(columns: 2, rows: 1))
        #expect(!inline.contains("\n") && !inline.isEmpty)
        guard case .halfBlocks = graphics else {
            // A line below is there before the picture, which itself never ends below its own.
            #expect(inline.hasPrefix("\u{1b}D\u{1b}[A\u{1b}7") && inline.hasSuffix("\u{1b}8\u{1b}[2C"))
            #expect(!inline.contains("-\u{1b}\\"))
            return
        }
    }

    @Test("sixels show each pixel in its colour, whatever the height", arguments: [1, 6, 7, 20])
    func sixels(height: Int) throws {
        let image = BitmapImage(
            pixels: Pictures.pixels(30, height) { column, row in
                column < 12 ? [255, 0, UInt8(row * 10)] : [0, UInt8(column * 8), 51]
            })
        let area = TerminalArea(columns: 10, rows: 10)
        let text = try TerminalImage.text(image, as: .sixel, in: area).dropLast()
        let shown = try #require(SixelDecoder(String(text))).rows
        #expect(shown.count == height && shown.allSatisfy { $0.count == 30 })
        let pixels = try image.rgb()
        for row in 0..<height {
            for column in 0..<30 {
                let color = try #require(shown[row][column]).map { ($0 * 255 + 50) / 100 }
                #expect(pixels.isNear(column, row, color, slack: 12), "\(column), \(row)")
            }
        }
    }

    @Test("what kitty and iTerm2 get is the picture, no larger than its room")
    func payloads() throws {
        let image = try BitmapImage.open(Pictures.example("bicycle.png"))
        let area = TerminalArea(columns: 20, rows: 40)
        let kitty = try TerminalImage.text(image, as: .kitty, in: area)
        let pieces = kitty.split(separator: "\u{1b}_G").map {
            $0.split(separator: ";", maxSplits: 1)[1].prefix { $0 != "\u{1b}" }
        }
        #expect(pieces.allSatisfy { $0.count <= 4096 })
        let png = try BitmapImage(bytes: [UInt8](try #require(Data(base64Encoded: pieces.joined()))))
        #expect((png.format, png.width, png.height) == (.png, 160, 120))
        let iTerm2 = try TerminalImage.text(image, as: .iTerm2, in: area)
        let payload = iTerm2.split(separator: ":", maxSplits: 1)[1].prefix { $0 != "\u{07}" }
        let jpeg = try BitmapImage(bytes: [UInt8](try #require(Data(base64Encoded: String(payload)))))
        #expect((jpeg.format, jpeg.width, jpeg.height) == (.jpeg, 160, 120))
    }
}

@Suite("Drawings of the program's own")
struct DrawingTests {
    private static let square =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"20\" height=\"10\"><rect width=\"10\" height=\"10\" fill=\"#ff0000\"/></svg>"

    @Test("an SVG document becomes pixels, enlarged by a factor")
    func drawing() throws {
        let picture = try BitmapImage(drawing: Self.square, scale: 2)
        #expect(picture.width == 40 && picture.height == 20)
        let pixels = try picture.rgb(background: 255)
        #expect(Array(pixels.bytes[..<3]) == [255, 0, 0] && Array(pixels.bytes[117..<120]) == [255, 255, 255])
    }

    @Test("the documents of others are not read, before and after")
    func others() throws {
        for _ in 0..<2 {
            let error = #expect(throws: ImageError.self) { try BitmapImage(bytes: Array(Self.square.utf8)) }
            #expect(error?.code == .notAPicture)
            _ = try BitmapImage(drawing: Self.square)
        }
        // A file that names itself a GIF, and is one of SVG for a reader that looks further.
        let disguised = Array("GIF89a".utf8) + Array(Self.square.utf8)
        #expect(throws: ImageError.self) { try BitmapImage(bytes: disguised).pngData() }
    }

    @Test("what is not a document is an error, and one too large is not drawn")
    func mistakes() throws {
        #expect(throws: ImageError.self) { try BitmapImage(drawing: "<svg") }
        let error = #expect(throws: ImageError.self) {
            try BitmapImage(drawing: Self.square, scale: 100, limits: ImageLimits(pixels: 1000))
        }
        #expect(error?.code == .tooManyPixels)
    }
}
