import Application
import LineEditor

/// The lines of a prompt: edited, or read whole from a pipe or a terminal without control sequences.
final class LineInput {
    let isEditing: Bool
    let editor: TerminalLineEditor
    private var plain = PlainLineReader()

    /// - Parameters:
    ///   - isEditing: whether lines are edited.
    ///   - size: the terminal's size.
    ///   - palette: the colours.
    ///   - history: the entries for recall.
    init(isEditing: Bool, size: TerminalSize, palette: TerminalPalette, history: EditorHistory) {
        self.isEditing = isEditing
        var renderer = TerminalRenderer(columns: size.columns, rows: size.rows, palette: palette)
        renderer.reflows = TerminalMode.reflows(environment: ProcessEnvironment.value)
        editor = TerminalLineEditor(renderer: renderer, history: history, options: PromptSettings.usualEditing)
    }

    var services: EditorServices {
        get { editor.services }
        set {
            editor.services = newValue
            plain.services = newValue
        }
    }

    /// Whether a line is being read.
    var isActive: Bool { isEditing ? editor.isActive : plain.isActive }

    /// Whether an edited line is on the screen.
    var isVisible: Bool { isEditing && editor.isActive && !editor.isDisplaySuspended }

    /// Begins a line; an initial text is for an edited one.
    func begin(prompt: StyledText, continuation: StyledText, text: String = "") -> [EditorOutcome] {
        isEditing
            ? editor.begin(prompt: prompt, continuation: continuation, text: text)
            : plain.begin(prompt: prompt, continuation: continuation)
    }

    func feed(_ bytes: some Sequence<UInt8>) -> [EditorOutcome] { isEditing ? editor.feed(bytes) : plain.feed(bytes) }

    /// The end of the input.
    func end() -> [EditorOutcome] { isEditing ? [.endOfInput] : plain.end() }

    /// Ctrl-C while nothing runs.
    func interrupt() -> [EditorOutcome] { isEditing ? editor.press(.control("c")) : plain.interrupt() }

    /// Shows the line again after other programs used the terminal.
    func resume() -> [EditorOutcome] { isEditing ? editor.resumeDisplay() : plain.resume() }

    func resize(_ size: TerminalSize) -> [EditorOutcome] {
        isEditing ? editor.resize(columns: size.columns, rows: size.rows) : []
    }
}
