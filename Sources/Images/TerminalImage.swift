import FoundationEssentials

/// Pictures as text with two pixels per cell: the upper is the colour of `▀`, the lower its background.
package enum TerminalImage {
    /// The size in pixels of a picture that fits into some cells with its own proportions and is not enlarged.
    ///
    /// Cells are assumed to be twice as high as wide, so that a pixel is square.
    ///
    /// - Parameters:
    ///   - image: the picture.
    ///   - columns: the cells' width.
    ///   - rows: the cells' height.
    /// - Returns: a size for `BitmapImage.rgb(sizing:background:)`.
    package static func sizing(for image: BitmapImage, columns: Int, rows: Int) -> ImageSizing {
        ImageSizing(
            width: min(max(columns, 1), image.width), height: min(max(rows, 1) * 2, image.height), mode: .fit)
    }

    /// Draws pixels as lines of half blocks. With an odd height the last lower half has the terminal's background.
    ///
    /// - Parameters:
    ///   - pixels: the picture; alpha is ignored.
    ///   - colors: the terminal's colours.
    /// - Returns: lines, each ended by a reset of the colours and a line feed.
    package static func halfBlocks(_ pixels: ImagePixels, colors: TerminalColors) -> String {
        var text = ""
        // About half of the cells set both colours.
        text.reserveCapacity(pixels.width * pixels.height * 12)
        for top in stride(from: 0, to: pixels.height, by: 2) {
            var foreground: Pixel?
            var background: Pixel?
            for column in 0..<pixels.width {
                let upper = Pixel(pixels, column, top)
                let lower = top + 1 < pixels.height ? Pixel(pixels, column, top + 1) : nil
                var changes: [String] = []
                if upper != foreground { changes.append("38;" + upper.parameters(colors)) }
                if let lower, lower != background { changes.append("48;" + lower.parameters(colors)) }
                if !changes.isEmpty { text += "\u{1b}[" + changes.joined(separator: ";") + "m" }
                text += "▀"
                foreground = upper
                background = lower
            }
            text += "\u{1b}[0m\n"
        }
        return text
    }

    private struct Pixel: Equatable {
        var red: UInt8
        var green: UInt8
        var blue: UInt8

        init(_ pixels: ImagePixels, _ column: Int, _ row: Int) {
            let start = (row * pixels.width + column) * pixels.channels
            red = pixels.bytes[start]
            green = pixels.bytes[start + 1]
            blue = pixels.bytes[start + 2]
        }

        func parameters(_ colors: TerminalColors) -> String {
            colors.parameters(red: red, green: green, blue: blue)
        }
    }
}

/// Maximum area of a picture in a terminal.
package struct TerminalArea: Sendable, Hashable {
    /// Maximum width in cells.
    package var columns: Int
    /// Maximum height in cells.
    package var rows: Int
    /// A cell's width in pixels.
    package var cellWidth: Int
    /// A cell's height in pixels.
    package var cellHeight: Int

    /// - Parameters:
    ///   - columns: the maximum width in cells, at least 1.
    ///   - rows: the maximum height in cells, at least 1.
    ///   - cellWidth: in pixels; by default cells have 8 by 16.
    ///   - cellHeight: in pixels.
    package init(columns: Int, rows: Int, cellWidth: Int = 8, cellHeight: Int = 16) {
        self.columns = max(columns, 1)
        self.rows = max(rows, 1)
        self.cellWidth = min(max(cellWidth, 1), 256)
        self.cellHeight = min(max(cellHeight, 1), 256)
    }

    /// The size in pixels of a picture that fits, with its own proportions and not enlarged.
    package func pixels(for image: BitmapImage) -> ImageSizing {
        ImageSizing(
            width: min(columns * cellWidth, image.width, 65_535), height: min(rows * cellHeight, image.height, 65_535))
    }
}

/// The methods of a terminal to show a picture, the best first.
package enum TerminalGraphics: Sendable, Hashable {
    /// The kitty graphics protocol: a PNG file in the terminal's pixels.
    case kitty
    /// iTerm2's inline images, also in WezTerm and others: a JPEG file.
    case iTerm2
    /// DEC's sixels, of at most 256 colours.
    case sixel
    /// Two pixels per cell as characters, for every terminal with colours.
    case halfBlocks(TerminalColors)
}

/// The colours of a terminal.
package enum TerminalColors: Sendable, Hashable {
    /// 24 bits.
    case trueColor
    /// The 6×6×6 cube and the 24 greys of xterm.
    case palette256

    /// The parameters of the escape sequence for a colour, after `38;` or `48;`.
    func parameters(red: UInt8, green: UInt8, blue: UInt8) -> String {
        switch self {
        case .trueColor: "2;\(red);\(green);\(blue)"
        case .palette256: "5;\(Self.paletteIndex(red: red, green: green, blue: blue))"
        }
    }

    private static let cubeLevels = [0, 95, 135, 175, 215, 255]

    /// The nearest colour of the cube or the greys, by squared distance.
    static func paletteIndex(red: UInt8, green: UInt8, blue: UInt8) -> Int {
        let wanted = [Int(red), Int(green), Int(blue)]
        let steps = wanted.map { $0 < 48 ? 0 : $0 < 115 ? 1 : ($0 - 35) / 40 }
        let cube = steps.map { cubeLevels[$0] }
        let average = (wanted[0] + wanted[1] + wanted[2]) / 3
        let greyStep = min(max((average - 3) / 10, 0), 23)
        let grey = [Int](repeating: 8 + 10 * greyStep, count: 3)
        return distance(wanted, grey) < distance(wanted, cube)
            ? 232 + greyStep : 16 + 36 * steps[0] + 6 * steps[1] + steps[2]
    }

    private static func distance(_ a: [Int], _ b: [Int]) -> Int {
        zip(a, b).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
    }
}

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

extension TerminalImage {
    /// The control sequences or characters that show a picture, followed by a line feed.
    ///
    /// - Parameters:
    ///   - image: the picture, decoded no larger than it is drawn.
    ///   - graphics: the terminal's method.
    ///   - area: the available area.
    /// - Returns: the control sequences, or lines of half blocks.
    /// - Throws: `ImageError` when the picture cannot be decoded.
    package static func text(
        _ image: BitmapImage, as graphics: TerminalGraphics, in area: TerminalArea
    ) throws(ImageError) -> String {
        switch graphics {
        case .kitty: return kitty(try image.pngData(sizing: area.pixels(for: image))) + "\n"
        case .iTerm2: return iTerm2(try image.jpegData(quality: 0.9, sizing: area.pixels(for: image))) + "\n"
        case .sixel:
            return SixelImage.text(try image.rgb(sizing: area.pixels(for: image), background: 0, isReduced: true))
                + "\n"
        case .halfBlocks(let colors):
            let sizing = sizing(for: image, columns: area.columns, rows: area.rows)
            return halfBlocks(try image.rgb(sizing: sizing), colors: colors)
        }
    }

    /// A picture in one line of cells, without a line feed, for the row of a table.
    ///
    /// - Parameters:
    ///   - image: the picture, whose middle is shown.
    ///   - graphics: the terminal's method.
    ///   - area: the available cells, of which one row is used.
    /// - Returns: the text, which leaves the cursor after its last cell.
    /// - Throws: `ImageError` when the picture cannot be decoded.
    package static func inlineText(
        _ image: BitmapImage, as graphics: TerminalGraphics, in area: TerminalArea
    ) throws(ImageError) -> String {
        let pixels = ImageSizing(
            width: area.columns * area.cellWidth, height: area.cellHeight, mode: .fill)
        // The cursor is positioned explicitly, independent of the protocol. On the screen's last line an index creates
        // a line below first: otherwise a scroll by the picture would move the cursor a line too low.
        let frame = ("\u{1b}D\u{1b}[A\u{1b}7", "\u{1b}8\u{1b}[\(area.columns)C")
        switch graphics {
        case .kitty:
            return frame.0 + kitty(try image.pngData(sizing: pixels), cells: (area.columns, 1)) + frame.1
        case .iTerm2:
            let bytes = try image.jpegData(quality: 0.9, sizing: pixels)
            return frame.0 + iTerm2(bytes, cells: (area.columns, 1)) + frame.1
        case .sixel:
            // A band is six pixels high; one that reaches below the line would scroll the last line.
            let height = max(area.cellHeight / 6 * 6, 6)
            let fitting = ImageSizing(width: pixels.width, height: height, mode: .fill)
            let rgb = try image.rgb(sizing: fitting, background: 0, isReduced: true)
            return frame.0 + SixelImage.text(rgb, endsBelow: false) + frame.1
        case .halfBlocks(let colors):
            let sizing = ImageSizing(width: area.columns, height: 2, mode: .fill)
            return String(halfBlocks(try image.rgb(sizing: sizing), colors: colors).dropLast())
        }
    }

    /// The kitty graphics protocol: transmit and display, a PNG in pieces of 4,096 characters, without a response.
    private static func kitty(_ png: [UInt8], cells: (columns: Int, rows: Int)? = nil) -> String {
        let payload = Array(Data(png).base64EncodedString().utf8)
        let size = cells.map { ",c=\($0.columns),r=\($0.rows)" } ?? ""
        var text = ""
        for start in stride(from: 0, to: payload.count, by: 4096) {
            let end = min(start + 4096, payload.count)
            let control = start == 0 ? "a=T,f=100,q=2\(size)," : ""
            text += "\u{1b}_G\(control)m=\(end < payload.count ? 1 : 0);"
            text += String(decoding: payload[start..<end], as: UTF8.self) + "\u{1b}\\"
        }
        return text
    }

    /// OSC 1337 as iTerm2 documents it.
    private static func iTerm2(_ jpeg: [UInt8], cells: (columns: Int, rows: Int)? = nil) -> String {
        let size = cells.map { ";width=\($0.columns);height=\($0.rows);preserveAspectRatio=0" } ?? ""
        return "\u{1b}]1337;File=inline=1;size=\(jpeg.count)\(size):\(Data(jpeg).base64EncodedString())\u{07}"
    }
}
