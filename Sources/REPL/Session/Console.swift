import Application
import Files
import Glibc
import LineEditor
import Scripting
import Wording

/// The terminal's side of a prompt: the host's process, or that of `cubby attach`.
protocol Console: PromptOutput {
    var loop: EventLoop { get }
    var terminal: Terminal { get }
    var mode: TerminalMode { get }
    var editor: LineEditor { get }
    var screen: TerminalSize { get }
    var historyFile: HistoryFile { get }
    /// The place of an entry's file for an external editor.
    var scratch: (folder: String, files: any FileLayer) { get }
    /// Whether lines are edited; otherwise whole lines come from the terminal or a pipe.
    var isEditing: Bool { get }
    var isInputTerminal: Bool { get }
    /// Whether an entry runs: keys wait, and Ctrl-C is a signal.
    var isRunningEntry: Bool { get }
    /// Whether Ctrl-C came during an entry while no script code ran: in a pager or a question.
    var isInterrupted: Bool { get set }
    /// Whether all waits must end.
    var isEnding: Bool { get }
    /// The watches of the questions and pagers that wait, outermost first: the last one gets the input.
    var questions: [LoopWatch] { get set }
    /// The initial text of the next line, from an external editor.
    var nextText: String { get set }
    /// The pager that has the terminal.
    var pagerScreen: PagerScreen? { get set }
    /// Keys for the next entry that came while a pager was open.
    var typedAhead: [UInt8] { get set }

    /// Makes keys wait; Ctrl-C and Ctrl-Z are signals.
    func waitWithKeys()
    /// Restores the terminal's mode.
    func leaveEditing()
    /// Gives the terminal in its original mode to a question or a program, until ``takeTerminalBack()``.
    func lendTerminal()
    /// Takes the terminal back for whatever needs it then: the line, or the running entry.
    func takeTerminalBack()
    /// Whether the terminal is lent.
    var isLent: Bool { get }
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

extension Console {
    /// The number of a submitted text, for the screen's margin; empty if it is not shown.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - number: its number if it is Lua: only Lua entries are numbered.
    ///   - isDefined: whether the session has a variable.
    /// - Returns: the number.
    func margin(of text: String, number: Int, isDefined: (String) -> Bool) -> StyledText {
        guard !text.trimmed.isEmpty, !palette[.dimmed].isEmpty, EntryKind(text, isDefined: isDefined).isLua else {
            return ""
        }
        return StyledText(String(number), .dimmed)
    }

    // MARK: Questions

    /// Asks until there is an answer; nil at the end of input, after Ctrl-C, without a terminal, and when the code for which
    /// it asks must stop.
    func ask<Answer>(_ question: String, _ answer: (String) -> Answer?) -> Answer? {
        guard isInputTerminal else { return nil }
        let question = WrappedText.wrapped(question, to: screenColumns)
        // The answer is edited by the kernel; keys typed before the question are not part of it.
        lendTerminal()
        defer { takeTerminalBack() }
        return waitingForUser {
            while true {
                tcflush(STDIN_FILENO, TCIFLUSH)
                StandardStream.flushAll()
                put(Array((questionStart + question).utf8))
                let reply = nextInput { $0.contains(0x0A) }
                guard let end = reply.firstIndex(of: 0x0A) else {
                    put([0x0A])
                    return nil
                }
                StandardStream.noteEchoedLine()
                if let answer = answer(String(decoding: reply[..<end], as: UTF8.self)) { return answer }
            }
        }
    }

    /// What makes a question stand by itself, whatever a script has written before: the end of an unfinished sequence and
    /// of an unfinished line, no attributes, a visible cursor.
    private var questionStart: String {
        (isEditing ? "\u{1B}\\\u{1B}[0m\u{1B}[?25h" : "") + (StandardStream.isAtLineStart ? "" : "\n")
    }

    /// Asks a question that is answered with yes or no.
    func askYesOrNo(_ question: String) -> Bool? {
        ask(question) { answer in
            switch PathConsent(answer: answer) {
            case .yes: true
            case .no: false
            case .folder, nil: nil
            }
        }
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
        let question = loop.watch(STDIN_FILENO) { [unowned self] _ in
            var buffer = [UInt8](repeating: 0, count: 1024)
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count > 0 {
                input += buffer[..<count]
            } else if count == 0 || (errno != EINTR && errno != EAGAIN && terminal.presence != .background) {
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
        while !hasEnded, !isEnough(input), !isInterrupted, !isEnding {
            // In the background the question waits: input belongs to the shell. The poller's timer wakes the loop.
            question.events = terminal.presence == .background ? [] : .readable
            guard turn(timeout: seconds), seconds == nil else { break }
        }
        return isInterrupted ? [] : input
    }
}
