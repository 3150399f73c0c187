import LineEditor
import Wording

/// The output of a prompt.
protocol PromptOutput: AnyObject {
    var palette: Palette { get }
    /// The width of the screen.
    var screenColumns: Int { get }
    /// Whether the entry has failed.
    var hasFailed: Bool { get set }
    /// Writes preformatted text: values from the printer, with pictures.
    func draw(_ text: String, toStandardError: Bool)
    /// Shows values from the printer, paged if longer than the screen.
    func page(_ printed: PrintedValues)
}

extension PromptOutput {
    /// Prints styled text, with data escaped.
    func print(_ text: StyledText, toStandardError: Bool = false) {
        let escaped = text.pieces.map { StyledText.Piece(VisibleText.escaped($0.text), $0.style) }
        draw(palette.apply(to: StyledText(escaped)), toStandardError: toStandardError)
    }

    func print(_ text: String, toStandardError: Bool = false) {
        print(StyledText(text), toStandardError: toStandardError)
    }

    /// Reports that an entry has failed. The message is wrapped at words.
    func complain(_ text: String) {
        hasFailed = true
        let text = WrappedText.wrapped(text, to: screenColumns)
        print(StyledText([.init(text, .error), .init("\n", .plain)]), toStandardError: true)
    }

    /// Prints a text, paged if longer than the screen, with data escaped.
    func page(_ text: String) { page(PrintedValues(VisibleText.escaped(text))) }
}
