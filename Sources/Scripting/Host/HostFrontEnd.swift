package import Application
package import Files
import Glibc
package import Images
package import Items
package import Logging
package import Lua

/// The user interface of a host: a REPL, or standard output alone.
package protocol HostFrontEnd: AnyObject {
    /// Called before the process stops: restores the terminal.
    func applicationWillStop()
    /// Called when the process has the terminal again.
    func applicationDidEnterForeground()
    /// Called when the process continues without the terminal.
    func applicationWillEnterBackground()
    /// Called before the application ends, before its last save.
    func applicationWillTerminate()
    /// Writes text for standard output or standard error; returns false to let the host write it.
    func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool
    /// Whether scripts' output goes to a terminal.
    var isTerminal: Bool { get }
    /// Draws a picture.
    func show(_ image: BitmapImage)
    /// Shows the text of `help`; returns false to let the host print it.
    func show(help text: String) -> Bool
    /// Asks the user whether scripts may read or write a path outside the container.
    func consent(to access: PathConsent.Access, path: String) -> PathConsent
    /// Asks the user whether scripts may start a program whose file has changed since it was granted.
    func consent(toChanged program: ProgramGrant) -> Bool
    /// Asks the user whether scripts may connect to a machine.
    func consent(toConnect endpoint: NetworkEndpoint) -> Bool
}

extension HostFrontEnd {
    package func applicationWillStop() {}
    package func applicationDidEnterForeground() {}
    package func applicationWillEnterBackground() {}
    package func applicationWillTerminate() {}
    package func write(_ bytes: [UInt8], toStandardError: Bool) -> Bool { false }
    package var isTerminal: Bool { StandardStream.output.isTerminal }
    package func show(_ image: BitmapImage) {}
    package func show(help text: String) -> Bool { false }
    package func consent(to access: PathConsent.Access, path: String) -> PathConsent { .no }
    package func consent(toChanged program: ProgramGrant) -> Bool { false }
    package func consent(toConnect endpoint: NetworkEndpoint) -> Bool { false }
}

/// A front end with a prompt, which formats values for its screen.
package protocol PromptFrontEnd: HostFrontEnd {
    /// The width of the screen, to which tables are truncated.
    var screenColumns: Int { get }
    /// The text of a table, for `print` in an entry.
    func describe(_ table: LuaTable) -> String
    /// The help on a value without a declaration, such as a script's own function; `help` tries it first.
    func help(onUnknown value: LuaValue) -> String?
    /// Shows values whole, however long.
    func show(whole values: [LuaValue])
}

/// The user's answer when a script requests a path outside the container.
package enum PathConsent: Sendable {
    /// The access that a script requests.
    package enum Access: String, Sendable {
        /// To read it.
        case reading
        /// To write to it.
        case writing
    }

    /// Allowed, for this path.
    case yes
    /// Allowed, for its whole folder.
    case folder
    /// Refused.
    case no

    /// Parses an answer: the word or its first letter, in any case; nil for other input.
    package init?(answer: String) {
        let words = answer.lowercased().split(whereSeparator: \.isWhitespace)
        switch words.count == 1 ? words[0] : "" {
        case "y", "yes": self = .yes
        case "f", "folder": self = .folder
        case "n", "no": self = .no
        default: return nil
        }
    }
}

/// Receives the number of items of each commit, and the attached prompt that made it.
package protocol CommitListener: AnyObject {
    /// - Parameters:
    ///   - cause: why the commit was made.
    ///   - tally: the numbers of items.
    ///   - author: the attached prompt whose entry made it; nil for the host's own scripts and prompt.
    func didCommit(_ cause: ItemStoreCommit.Cause, _ tally: ItemCommitTally, author: (any HostFrontEnd)?)
}

/// What a host says on standard error: the log, messages and errors.
package struct HostLog {
    package let logger: Logger
    /// Where it goes: in order with the scripts' output.
    let output = ScriptOutput()
    let form: StandardErrorLogHandler.Form
    private let level: Logger.Level
    /// Names the run in the lines of its log, and in its status.
    let run = RunIdentifier.make()

    init(_ options: ScriptHostOptions) {
        let output = self.output
        let form = options.logForm ?? StandardErrorLogHandler.fittingForm
        self.form = form
        let run = StandardErrorLogHandler.isRetained(form) ? run : nil
        level = options.logLevel
        logger = Logger(label: options.applicationName) { label in
            StandardErrorLogHandler(
                label: label, level: options.logLevel, form: form, processName: options.applicationName,
                run: run,
                sink: { text in output.putError(text) })
        }
    }

    /// Reports an error as it is, or as a line of the log if the log's format is for programs.
    ///
    /// - Parameter error: its message, which a terminal gets wrapped at words, and below it lines of code and calls.
    func report(_ error: String) {
        if form.isForPrograms { return logger.error("\(error)") }
        let message = error.prefix { !$0.is("\n") }
        let shown = StandardErrorLogHandler.wrapped(String(message)) + error[message.endIndex...]
        output.putError(shown + "\n")
    }

    /// Says what a command has done: as it is, or as a line of the log if the log's format is for programs; not at all
    /// below the log's level.
    func inform(_ text: String) {
        guard level <= .info else { return }
        if form.isForPrograms { logger.info("\(text)") } else { output.putError(text + "\n") }
    }
}

/// The scripts' output: the process's own streams, so that `print`, `io.write` and the log appear in order. The log may
/// write from any thread; the front end is called on the host's thread only.
package final class ScriptOutput: @unchecked Sendable {
    // Guarded by the host's isolation: accessed on the host's thread only.
    weak var frontEnd: (any HostFrontEnd)?
    /// The attached prompt's entry whose code is running, if any. Guarded like the front end.
    var entry: ScriptEntry?
    /// Replaced in tests only, before anything is written.
    var output = StandardStream.output
    var error = StandardStream.error

    private var active: (any HostFrontEnd)? { entry == nil ? frontEnd : entry?.frontEnd }

    /// Whether the running chunk has written a file to standard output.
    var hasData = false

    /// Writes for a caller that goes on in any case: a failure is counted.
    func put(_ bytes: [UInt8], toStandardError: Bool = false) {
        try? write(bytes, toStandardError: toStandardError)
    }

    /// Writes for a caller that hears of a failure.
    package func write(_ bytes: [UInt8], toStandardError: Bool = false) throws(FileError) {
        if active?.write(bytes, toStandardError: toStandardError) == true { return }
        // In order: what was printed before an error is above it. A failure of that is the output's, and counted.
        if toStandardError { try? output.flush() }
        try (toStandardError ? error : output).write(bytes)
    }

    /// Draws a text on the terminal that the next one there erases, such as a bar.
    func draw(status text: String) {
        if active?.write(Array("\r\(text)\u{1b}[K".utf8), toStandardError: true) == true { return }
        // In order: what was printed before is above it.
        try? output.flush()
        error.draw(status: text)
    }

    /// Erases it.
    func eraseStatus() {
        if active?.write(Array("\r\u{1b}[K".utf8), toStandardError: true) != true { error.eraseStatus() }
    }

    /// Writes the host's text, with data escaped.
    func put(text: String) { put(Array(VisibleText.escaped(text).utf8)) }

    /// Writes the host's text to standard error: messages, errors, the log.
    func putError(_ text: String) { put(Array(VisibleText.escaped(text).utf8), toStandardError: true) }

    /// Whether standard output is a terminal, or an attached prompt.
    var isTerminal: Bool { active?.isTerminal ?? output.isTerminal }

    /// Flushes the files that scripts have open.
    var flushFiles: () -> Void = {}

    /// Writes what is buffered, also for the files that scripts have open; a failure is counted.
    package func flush() {
        try? output.flush()
        flushFiles()
    }

    /// One of the streams, for a script's handle of it.
    func stream(_ isError: Bool) -> StandardStream { isError ? error : output }
}
