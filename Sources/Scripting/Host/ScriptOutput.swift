import CPlatform

/// Where scripts' text goes: C's own streams, so that `print`, `io.write` and the log come in the order they were made.
final class ScriptOutput {
    weak var frontEnd: (any HostFrontEnd)?

    func write(_ bytes: [UInt8]) {
        if frontEnd?.write(bytes, toStandardError: false) == true { return }
        bytes.withUnsafeBytes { cubby_write_output($0.baseAddress, $0.count) }
    }

    func writeError(_ text: String) {
        let bytes = Array(text.utf8)
        if frontEnd?.write(bytes, toStandardError: true) == true { return }
        cubby_flush_output()
        bytes.withUnsafeBytes { cubby_write_error($0.baseAddress, $0.count) }
    }

    func flush() { cubby_flush_output() }
}
