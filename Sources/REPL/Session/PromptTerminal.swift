import Application
import Files
import Glibc
import LineEditor
import Scripting
import Wording

/// The side of a prompt that has the terminal: the host's process, or that of `cubby attach`.
protocol PromptTerminal: PromptOutput {
    var loop: EventLoop { get }
    var terminal: Terminal { get }
    var mode: TerminalMode { get }
    var editor: LineEditor { get }
    var screen: TerminalSize { get }
    var historyFile: HistoryFile { get }
    /// Where an entry waits for an external editor.
    var scratch: (folder: String, files: any FileLayer) { get }
    /// Whether lines are edited; otherwise whole lines come from the terminal or a pipe.
    var isEditing: Bool { get }
    var isInputTerminal: Bool { get }
    /// Whether an entry runs: keys wait, and Ctrl-C is a signal.
    var isRunningEntry: Bool { get }
    /// Whether Ctrl-C came during an entry while no script code ran: a pager, a question.
    var isInterrupted: Bool { get set }
    /// Whether nothing is to be waited for any more.
    var isEnding: Bool { get }
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
    /// Stops this process, as Ctrl-Z does.
    func suspend()
    /// Tells everything that draws of the terminal's new size.
    func resized()
    /// Writes to the terminal.
    func put(_ bytes: [UInt8])
    /// What is left on the screen of values that a pager has shown.
    func remains(of printed: PrintedValues) -> String
}

extension PromptTerminal {
    /// The number of a submitted text, for the screen's margin; empty where it is not shown.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - number: its number if it is Lua, which alone is counted.
    ///   - isDefined: whether the session has a variable.
    /// - Returns: the number.
    func margin(of text: String, number: Int, isDefined: (String) -> Bool) -> StyledText {
        guard !text.trimmed.isEmpty, !palette[.dimmed].isEmpty, EntryKind(text, isDefined: isDefined).isLua else {
            return ""
        }
        return StyledText(String(number), .dimmed)
    }

    // MARK: Questions

    /// Asks until there is an answer; nil at the end of input, after Ctrl-C, and without a terminal.
    func ask<Answer>(_ question: String, _ answer: (String) -> Answer?) -> Answer? {
        guard isInputTerminal else { return nil }
        // The answer is edited by the kernel; keys typed before the question are not part of it.
        mode.leave()
        defer { waitWithKeys() }
        while true {
            tcflush(STDIN_FILENO, TCIFLUSH)
            put(Array(question.utf8))
            let reply = nextInput { $0.contains(0x0A) }
            guard let end = reply.firstIndex(of: 0x0A) else {
                put([0x0A])
                return nil
            }
            if let answer = answer(String(decoding: reply[..<end], as: UTF8.self)) { return answer }
        }
    }

    /// The same for a question without further answers.
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
        // The prompt's own watch is inside the handler of the running entry.
        let question = loop.watch(STDIN_FILENO) { [unowned self] _ in
            var buffer = [UInt8](repeating: 0, count: 1024)
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count > 0 {
                input += buffer[..<count]
            } else if count == 0 || (errno != EINTR && errno != EAGAIN && terminal.presence != .background) {
                hasEnded = true
            }
        }
        defer { question.cancel() }
        isInterrupted = false
        while !hasEnded, !isEnough(input), !isInterrupted, !isEnding {
            // In the background the question waits: input belongs to the shell. The poller's timer wakes the loop.
            question.events = terminal.presence == .background ? [] : .readable
            loop.runOnce(timeout: seconds)
            if seconds != nil { break }
        }
        return isInterrupted ? [] : input
    }
}
