import Images
import LineEditor

/// How pictures are drawn on the terminal that a person looks at: the best way that it has answered to know.
struct TerminalPictures {
    /// The size of the screen, and of its cells where the terminal tells.
    var size: TerminalSize
    var capabilities = TerminalCapabilities()
    private let colors: TerminalColors?
    private let program: String

    /// - Parameters:
    ///   - size: of the screen.
    ///   - hasColors: false where nothing is to be drawn: no terminal, or no colours wanted.
    ///   - environment: looks up a variable.
    init(size: TerminalSize, hasColors: Bool, environment: (String) -> String?) {
        self.size = size
        let depth = environment("COLORTERM") ?? ""
        colors = hasColors ? (depth == "truecolor" || depth == "24bit" ? .trueColor : .palette256) : nil
        // What is said inside of tmux is said of the terminal around it.
        program = environment("TMUX") == nil ? environment("TERM_PROGRAM") ?? "" : ""
    }

    /// What the terminal understands; nil where nothing is drawn.
    var graphics: TerminalGraphics? {
        guard let colors else { return nil }
        if capabilities.hasKittyGraphics { return .kitty }
        let name = capabilities.name ?? program
        if name.hasPrefix("iTerm") || name.hasPrefix("WezTerm") { return .iTerm2 }
        return capabilities.hasSixel ? .sixel : .halfBlocks(colors)
    }

    /// A picture, at most as wide as the screen and as high as leaves its caption and the prompt in sight.
    func text(_ image: Image) -> String? {
        guard let graphics else { return nil }
        return try? TerminalImage.text(
            image, as: graphics, in: area(columns: min(size.columns, 80), rows: max(4, min(size.rows - 4, 30))))
    }

    /// A picture for the row of a table, some cells wide.
    func inlineText(_ image: Image, columns: Int) -> String? {
        guard let graphics else { return nil }
        return try? TerminalImage.inlineText(image, as: graphics, in: area(columns: columns, rows: 1))
    }

    private func area(columns: Int, rows: Int) -> TerminalArea {
        if let cell = capabilities.cell {
            return TerminalArea(columns: columns, rows: rows, cellWidth: cell.width, cellHeight: cell.height)
        }
        guard size.pixelWidth > 0, size.pixelHeight > 0 else { return TerminalArea(columns: columns, rows: rows) }
        return TerminalArea(
            columns: columns, rows: rows, cellWidth: size.pixelWidth / size.columns,
            cellHeight: size.pixelHeight / size.rows)
    }
}
