import Files
import Glibc
import Wording

/// The scripts' output: the process's own streams, so that `print`, `io.write` and the log appear in order. The log may
/// write from any thread; the front end is called on the host's thread only.
final class ScriptOutput: @unchecked Sendable {
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
    func write(_ bytes: [UInt8], toStandardError: Bool = false) throws(FileError) {
        if active?.write(bytes, toStandardError: toStandardError) == true { return }
        // In order: what was printed before an error is above it. A failure of that is the output's, and counted.
        if toStandardError { try? output.flush() }
        try (toStandardError ? error : output).write(bytes)
    }

    /// Writes the host's text, with data escaped.
    func put(text: String) { put(Array(VisibleText.escaped(text).utf8)) }

    /// Writes the host's text to standard error: messages, errors, the log.
    func putError(_ text: String) { put(Array(VisibleText.escaped(text).utf8), toStandardError: true) }

    /// Whether standard output is a terminal, or an attached prompt.
    var isTerminal: Bool { active?.isTerminal ?? Self.isOwnTerminal }

    /// Determined once: `print` must not cost a system call.
    static let isOwnTerminal = isatty(STDOUT_FILENO) == 1

    /// Flushes the files that scripts have open.
    var flushFiles: () -> Void = {}

    /// Writes what is buffered, also for the files that scripts have open; a failure is counted.
    func flush() {
        try? output.flush()
        flushFiles()
    }

    /// One of the streams, for a script's handle of it.
    func stream(_ isError: Bool) -> StandardStream { isError ? error : output }
}
