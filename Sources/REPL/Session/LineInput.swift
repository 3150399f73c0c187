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
    init(isEditing: Bool, size: TerminalSize, palette: Palette, history: History) {
        self.isEditing = isEditing
        var renderer = Renderer(columns: size.columns, rows: size.rows, palette: palette)
        renderer.reflows = TerminalMode.reflows(environment: ProcessEnvironment.value)
        editor = TerminalLineEditor(renderer: renderer, history: history)
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
    func begin(prompt: StyledText, continuation: StyledText, text: String = "") -> [Outcome] {
        isEditing
            ? editor.begin(prompt: prompt, continuation: continuation, text: text)
            : plain.begin(prompt: prompt, continuation: continuation)
    }

    func feed(_ bytes: some Sequence<UInt8>) -> [Outcome] { isEditing ? editor.feed(bytes) : plain.feed(bytes) }

    /// The end of the input.
    func end() -> [Outcome] { isEditing ? [.endOfInput] : plain.end() }

    /// Ctrl-C while nothing runs.
    func interrupt() -> [Outcome] { isEditing ? editor.press(.control("c")) : plain.interrupt() }

    /// Shows the line again after other programs used the terminal.
    func resume() -> [Outcome] { isEditing ? editor.resumeDisplay() : plain.resume() }

    func resize(_ size: TerminalSize) -> [Outcome] {
        isEditing ? editor.resize(columns: size.columns, rows: size.rows) : []
    }
}
