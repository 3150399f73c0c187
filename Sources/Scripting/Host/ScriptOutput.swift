import CPlatform
import Glibc
import Wording

/// The scripts' output: C's own streams, so that `print`, `io.write` and the log appear in order. The log may write
/// from any thread; the front end is called on the host's thread only.
final class ScriptOutput: @unchecked Sendable {
    // Guarded by the host's isolation: accessed on the host's thread only.
    weak var frontEnd: (any HostFrontEnd)?
    /// The attached prompt's entry whose code is running, if any. Guarded like the front end.
    var entry: ScriptEntry?

    private var active: (any HostFrontEnd)? { entry == nil ? frontEnd : entry?.frontEnd }

    func write(_ bytes: [UInt8]) {
        if active?.write(bytes, toStandardError: false) == true { return }
        bytes.withUnsafeBytes { cubby_write_output($0.baseAddress, $0.count) }
    }

    /// Writes the host's text, with data escaped.
    func write(text: String) { write(Array(VisibleText.escaped(text).utf8)) }

    /// Writes the host's text to standard error: messages, errors, the log.
    func writeError(_ text: String) { writeError(Array(VisibleText.escaped(text).utf8)) }

    func writeError(_ bytes: [UInt8]) {
        if active?.write(bytes, toStandardError: true) == true { return }
        cubby_flush_output()
        bytes.withUnsafeBytes { cubby_write_error($0.baseAddress, $0.count) }
    }

    /// Whether standard output is a terminal, or an attached prompt.
    var isTerminal: Bool { active?.isTerminal ?? Self.isOwnTerminal }

    /// Determined once: `print` must not cost a system call.
    static let isOwnTerminal = isatty(STDOUT_FILENO) == 1

    func flush() { cubby_flush_output() }
}
