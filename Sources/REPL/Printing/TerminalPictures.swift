import Application
import Files
import Glibc
package import Images
import LineEditor
import Plots
package import Scripting

/// Draws pictures on the terminal by the best method that it supports.
struct TerminalPictures {
    /// The size of the screen, and of its cells where known.
    var size: TerminalSize
    var capabilities = TerminalCapabilities()
    private let colors: TerminalColors?
    private let program: String

    /// - Parameters:
    ///   - size: the screen's.
    ///   - hasColors: false to draw none: no terminal, or no colours.
    ///   - environment: reads a variable.
    init(size: TerminalSize, hasColors: Bool, environment: (String) -> String?) {
        self.size = size
        let depth = environment("COLORTERM") ?? ""
        colors = hasColors ? (depth == "truecolor" || depth == "24bit" ? .trueColor : .palette256) : nil
        // Inside tmux the variable describes the outer terminal.
        program = environment("TMUX") == nil ? environment("TERM_PROGRAM") ?? "" : ""
    }

    /// The supported graphics; nil where pictures are not drawn.
    var graphics: TerminalGraphics? {
        guard let colors else { return nil }
        if capabilities.hasKittyGraphics { return .kitty }
        let name = capabilities.name ?? program
        if name.hasPrefix("iTerm") || name.hasPrefix("WezTerm") { return .iTerm2 }
        return capabilities.hasSixel ? .sixel : .halfBlocks(colors)
    }

    /// A picture at most as wide as the screen, and low enough to keep its caption and the prompt visible.
    ///
    /// - Throws: `ImageError` when it cannot be decoded.
    func text(_ image: BitmapImage, columns: Int = 80, rows: Int = 30) throws(ImageError) -> String? {
        guard let graphics else { return nil }
        return try TerminalImage.text(
            image, as: graphics, in: area(columns: min(size.columns, columns), rows: max(4, min(size.rows - 4, rows))))
    }

    /// A plot as wide and as high as some cells; nil where pictures are drawn of characters, if at all.
    ///
    /// - Throws: `ImageError` when the picture cannot be made.
    func text(_ plot: Plot, columns: Int, rows: Int) throws(ImageError) -> String? {
        guard let graphics else { return nil }
        if case .halfBlocks = graphics { return nil }
        // The last column is left free: a picture that reaches the edge may wrap.
        let area = area(columns: min(size.columns, columns) - 1, rows: rows)
        // Text of the size of the terminal's own: a drawing's lines are sixteen pixels high.
        let scale = max(Double(area.cellHeight) / 16, 0.5)
        let picture = try plot.picture(
            width: Int(Double(area.columns * area.cellWidth) / scale),
            height: Int(Double(area.rows * area.cellHeight) / scale), scale: scale,
            theme: capabilities.background == .light ? .light : .dark)
        // The terminal has fonts of its own.
        if !picture.missingCharacters.isEmpty { return nil }
        return try TerminalImage.text(picture.image, as: graphics, in: area)
    }

    /// A picture for a table's row, some cells wide.
    func inlineText(_ image: BitmapImage, columns: Int) -> String? {
        guard let graphics else { return nil }
        return (try? TerminalImage.inlineText(image, as: graphics, in: area(columns: columns, rows: 1)))
            ?? Self.unreadable(columns)
    }

    /// What a table's row has in the place of a picture that cannot be drawn.
    static func unreadable(_ columns: Int) -> String { "?" + String(repeating: " ", count: max(columns - 1, 0)) }

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

/// The front end of a script without a prompt: draws its pictures when standard output is a terminal.
package final class ScriptPictures: HostFrontEnd {
    private unowned let host: ScriptHost
    private let usesColor: Bool
    private lazy var pictures = TerminalPictures(
        size: Console.size, hasColors: hasColors, environment: ProcessEnvironment.value)
    private var hasAsked = false

    /// - Parameters:
    ///   - host: the scripts' host.
    ///   - usesColor: false to draw none.
    package init(_ host: ScriptHost, usesColor: Bool) {
        self.host = host
        self.usesColor = usesColor
    }

    private var hasColors: Bool {
        !TerminalPalette.appropriate(
            isTerminal: StandardStream.output.isTerminal, isForbidden: !usesColor, environment: ProcessEnvironment.value
        ).isEmpty
    }

    package func show(_ image: BitmapImage) {
        guard hasColors else { return }
        host.flushOutput()
        if !hasAsked {
            hasAsked = true
            pictures.capabilities = TerminalCapabilities.ask(
                input: StandardDescriptor.input, output: StandardDescriptor.output,
                environment: ProcessEnvironment.value)
        }
        pictures.size = TerminalSize(descriptor: StandardDescriptor.output) ?? pictures.size
        do throws(ImageError) {
            guard let text = try pictures.text(image) else { return }
            host.write(Array(text.utf8), toStandardError: false)
        } catch {
            host.write(Array((VisibleText.line(error.message) + "\n").utf8), toStandardError: true)
        }
    }
}

extension PlotStyle {
    /// The colours of a palette.
    init(_ palette: TerminalPalette) {
        self.init(
            title: palette[.heading], axis: palette[.dimmed], mark: palette[.number], remark: palette[.notice])
    }
}
