import Application
import Files
import Glibc
import LineEditor
import Scripting

/// Whose console it is: the host's own prompt, or that of `cubby attach`.
protocol ConsoleOwner: PromptOutput {
    var screen: TerminalSize { get }
    /// Whether an entry runs: keys wait, and Ctrl-C is a signal.
    var isRunningEntry: Bool { get }
    /// Whether all waits must end.
    var isEnding: Bool { get }
    /// Whether the terminal is lent.
    var isLent: Bool { get }

    func perform(_ outcomes: [EditorOutcome])
    /// Makes keys wait; Ctrl-C and Ctrl-Z are signals.
    func waitWithKeys()
    /// Gives the terminal in its original mode to a question or a program, until ``takeTerminalBack()``.
    func lendTerminal()
    /// Takes the terminal back for whatever needs it then: the line, or the running entry.
    func takeTerminalBack()
    /// One turn of the loop while the user is waited for; false if the wait must end.
    func turn(timeout: Double?) -> Bool
    /// Runs a body that waits for the user.
    func waitingForUser<Value>(_ body: () -> Value) -> Value
    /// Stops this process, as Ctrl-Z does.
    func suspend()
    /// Applies the terminal's new size to everything that draws.
    func resized()
    /// Writes to the terminal.
    func put(_ bytes: [UInt8])
    /// The text that is left on the screen after a pager has shown values.
    func remains(of printed: PrintedValues) -> String
}

/// The terminal's side of a prompt, in the host's process or in that of `cubby attach`: its lines, its pager, the
/// questions asked at it, and the requests of commands.
final class Console {
    unowned let owner: any ConsoleOwner
    let loop: EventLoop
    let mode: TerminalMode
    let isInputTerminal = isatty(StandardDescriptor.input) == 1
    let historyFile: HistoryFile
    /// The place of an entry's file for an external editor.
    let scratch: (folder: String, files: any FileLayer)
    /// The lines: during a break, those of the break.
    var lines: LineInput
    private(set) lazy var pager = ConsolePager(self)
    /// Whether Ctrl-C came during an entry while no script code ran: in a pager or a question.
    var isInterrupted = false
    /// The initial text of the next line, from an external editor.
    var nextText = ""
    /// Keys for the next entry that came before its line.
    private var typedAhead: [UInt8] = []
    /// The watches of the questions and pagers that wait, outermost first: the last one gets the input.
    private var questions: [LoopWatch] = []
    /// The text of the question that waits for its answer; nil while none does.
    private var openQuestion: String?
    private var escapeTimer: LoopTimer?
    private var hasAskedTerminal = false
    private let terminal = Terminal()

    /// - Parameters:
    ///   - owner: outlives the console.
    ///   - loop: the thread's loop.
    ///   - options: the modes of the terminal; Ctrl-C is a signal in any case.
    ///   - container: has the history.
    ///   - files: the container's files.
    ///   - lines: makes the lines, given the history's file.
    init(
        of owner: any ConsoleOwner, loop: EventLoop, options: TerminalMode.Options = TerminalMode.Options(),
        container: ApplicationContainer, files: any FileLayer, lines: (HistoryFile) -> LineInput
    ) {
        self.owner = owner
        self.loop = loop
        var options = options
        options.interruptsBySignal = true
        mode = TerminalMode(
            input: StandardDescriptor.input, output: StandardDescriptor.output, options: options)
        scratch = (container.tmp, files)
        historyFile = HistoryFile(
            path: PathText.join(container.applicationSupport, "repl_history"), followsLinks: false)
        self.lines = lines(historyFile)
    }

    // MARK: The terminal

    /// The size of the terminal on standard output, or a usual one.
    static var size: TerminalSize {
        TerminalSize(descriptor: StandardDescriptor.output) ?? TerminalSize(columns: 80, rows: 24)
    }

    /// Whether lines can be edited on the standard streams.
    static var canEdit: Bool {
        TerminalMode.supportsEditing(
            input: StandardDescriptor.input, output: StandardDescriptor.output, environment: ProcessEnvironment.value)
    }

    var jobState: Terminal.JobState { terminal.jobState }

    /// Restores the terminal's mode if the process crashes.
    func restoreAfterCrash() {
        guard lines.isEditing else { return }
        Terminal.restoreAfterCrash(sequences: PagerScreen.restoring + mode.restoringSequences)
    }

    /// Asks the terminal what it can draw. Once, at the first prompt: the answers arrive among the keys, long before
    /// the first picture.
    func askTerminal() {
        guard !hasAskedTerminal else { return }
        hasAskedTerminal = true
        owner.put(TerminalCapabilities.questions(environment: ProcessEnvironment.value, isLineEmpty: true))
    }

    /// Makes keys wait in the foreground.
    func holdKeys() {
        guard lines.isEditing, jobState != .background else { return }
        try? mode.run()
    }

    // MARK: Lines

    /// Begins an edited line, with the keys that came before it.
    func beginLine(prompt: StyledText, continuation: StyledText) {
        let text = nextText
        nextText = ""
        owner.perform(lines.begin(prompt: prompt, continuation: continuation, text: text))
        let typed = typedAhead
        typedAhead = []
        if !typed.isEmpty { owner.perform(lines.feed(typed)) }
    }

    /// Keeps keys for the next line.
    func typeAhead(_ bytes: [UInt8]) { typedAhead += bytes }

    /// Takes the beginning of an escape sequence for keys if its rest does not come soon.
    func awaitEscape() {
        guard lines.isEditing, lines.editor.isWaiting else { return }
        escapeTimer?.cancel()
        escapeTimer = loop.after(0.04) { [unowned self] in owner.perform(lines.editor.flush()) }
    }

    /// Waits no longer for the rest of an escape sequence.
    func forgetEscape() { escapeTimer?.cancel() }

    /// Adds an entry to the history's file.
    func remember(_ text: String) { if lines.editor.history.accepts(text) { try? historyFile.append(text) } }

    /// The number of a submitted text, for the screen's margin; empty if it is not shown.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - number: its number if it is Lua: only Lua entries are numbered.
    ///   - isDefined: whether the session has a variable.
    /// - Returns: the number.
    func margin(of text: String, number: Int, isDefined: (String) -> Bool) -> StyledText {
        guard !text.trimmed.isEmpty, !owner.palette[.dimmed].isEmpty, EntryKind(text, isDefined: isDefined).isLua else {
            return ""
        }
        return StyledText(String(number), .dimmed)
    }

    // MARK: Questions

    /// Asks until there is an answer; nil at the end of input, after Ctrl-C, without a terminal, and when the code for
    /// which it asks must stop.
    func ask<Answer>(_ question: String, _ answer: (String) -> Answer?) -> Answer? {
        guard isInputTerminal else { return nil }
        let question = WrappedText.wrapped(question, to: owner.screenColumns)
        // The answer is edited by the kernel; keys typed before the question are not part of it.
        owner.lendTerminal()
        let outer = openQuestion
        openQuestion = question
        defer {
            openQuestion = outer
            owner.takeTerminalBack()
        }
        return owner.waitingForUser {
            while true {
                tcflush(StandardDescriptor.input, TCIFLUSH)
                StandardStream.flushAll()
                owner.put(Array((questionStart + question).utf8))
                let reply = nextInput { $0.contains(0x0A) }
                guard let end = reply.firstIndex(of: 0x0A) else {
                    owner.put([0x0A])
                    return nil
                }
                StandardStream.recordEchoedLine()
                if let answer = answer(String(decoding: reply[..<end], as: UTF8.self)) { return answer }
            }
        }
    }

    /// Writes the question that waits once more, after other programs used the terminal: what was typed is dropped.
    func askAgain() { if let openQuestion { owner.put(Array(openQuestion.utf8)) } }

    /// What makes a question stand by itself, whatever a script has written before: the end of an unfinished sequence
    /// and of an unfinished line, no attributes, a visible cursor.
    private var questionStart: String {
        (lines.isEditing ? "\u{1B}\\\u{1B}[0m\u{1B}[?25h" : "") + (StandardStream.isAtLineStart ? "" : "\n")
    }

    /// Waits for input while an entry runs, serving events; empty when interrupted or at the end.
    ///
    /// - Parameters:
    ///   - seconds: how long; without limit if not given.
    ///   - isEnough: whether the input is complete.
    /// - Returns: the bytes.
    func nextInput(within seconds: Double? = nil, until isEnough: ([UInt8]) -> Bool) -> [UInt8] {
        var input: [UInt8] = []
        var hasEnded = false
        // The prompt's own watch cannot be used: the entry runs in its handler.
        let question = loop.watch(StandardDescriptor.input) { [unowned self] _ in
            var buffer = [UInt8](repeating: 0, count: 1024)
            let count = read(StandardDescriptor.input, &buffer, buffer.count)
            if count > 0 {
                input += buffer[..<count]
            } else if count == 0 || (errno != EINTR && errno != EAGAIN && jobState != .background) {
                hasEnded = true
            }
        }
        // A question of a timer, while another one waits, comes first.
        questions.last?.events = []
        questions.append(question)
        defer {
            question.cancel()
            questions.removeAll { $0 === question }
        }
        isInterrupted = false
        while !hasEnded, !isEnough(input), !isInterrupted, !owner.isEnding {
            // In the background the question waits: input belongs to the shell. The poller's timer wakes the loop.
            question.events = jobState == .background ? [] : .readable
            guard owner.turn(timeout: seconds), seconds == nil else { break }
        }
        return isInterrupted ? [] : input
    }
}

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
