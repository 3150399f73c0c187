import FoundationEssentials

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
