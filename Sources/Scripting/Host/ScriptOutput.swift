import CPlatform
import Glibc
import Wording

/// Where scripts' text goes: C's own streams, so that `print`, `io.write` and the log come in the order they were made.
/// The log may write from any thread; the front end is asked only on the host's own.
final class ScriptOutput: @unchecked Sendable {
    // Guarded by the host's isolation: set and asked on the thread that owns the host.
    weak var frontEnd: (any HostFrontEnd)?
    /// The attached prompt's entry whose code runs, if any. Guarded as the front end is.
    var entry: ScriptEntry?

    private var active: (any HostFrontEnd)? { entry == nil ? frontEnd : entry?.frontEnd }

    func write(_ bytes: [UInt8]) {
        if active?.write(bytes, toStandardError: false) == true { return }
        bytes.withUnsafeBytes { cubby_write_output($0.baseAddress, $0.count) }
    }

    /// Writes a text of the host's for people: what stands in it from data obeys nothing.
    func write(text: String) { write(Array(VisibleText.escaped(text).utf8)) }

    /// The same for standard error: messages, errors, the log.
    func writeError(_ text: String) { writeError(Array(VisibleText.escaped(text).utf8)) }

    func writeError(_ bytes: [UInt8]) {
        if active?.write(bytes, toStandardError: true) == true { return }
        cubby_flush_output()
        bytes.withUnsafeBytes { cubby_write_error($0.baseAddress, $0.count) }
    }

    /// Whether standard output is a terminal's, or that of an attached prompt.
    var isTerminal: Bool { frontEnd?.isTerminal ?? Self.isOwnTerminal }

    /// Asked once: `print` must not cost a system call.
    static let isOwnTerminal = isatty(STDOUT_FILENO) == 1

    func flush() { cubby_flush_output() }
}
