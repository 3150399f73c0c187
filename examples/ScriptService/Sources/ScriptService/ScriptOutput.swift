import Synchronization

/// What one script writes.
final class ScriptOutput: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

    func write(_ written: borrowing Span<UInt8>) {
        bytes.withLock { bytes in
            for index in written.indices { bytes.append(written[index]) }
        }
    }
}
