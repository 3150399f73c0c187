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
    /// - Returns: a size for `Image.rgb(sizing:background:)`.
    package static func sizing(for image: Image, columns: Int, rows: Int) -> ImageSizing {
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
