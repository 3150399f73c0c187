import Files
import Glibc
import Synchronization

/// Samples the process's memory every few milliseconds on a thread of its own, while it has users.
package final class MemoryWatch: Sendable {
    /// The sampling interval in microseconds.
    private static let interval: UInt32 = 4000

    private struct State: Sendable {
        var limit = Int.max
        /// The number of users.
        var watchers = 0
        var isEnded = false
    }

    private let monitor = Monitor(State())
    private let onExcess: @Sendable () -> Void
    private let hasThread = Atomic(false)

    /// - Parameter onExcess: called on the sampling thread at each sample beyond the limit.
    package init(onExcess: @escaping @Sendable () -> Void) { self.onExcess = onExcess }

    /// The process's private memory in bytes, without mapped files. Nil where the system does not report it.
    package static func ownMemory() -> Int? {
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return ownMemory(from: descriptor)
    }

    private static func ownMemory(from descriptor: Int32) -> Int? {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
            guard let base = buffer.baseAddress else { return nil }
            let count = pread(descriptor, base, buffer.count, 0)
            guard count > 0 else { return nil }
            // Pages: address space, resident, shared.
            var fields = [0, 0, 0]
            var field = 0
            for byte in buffer[..<count] {
                if byte == 0x20 {
                    field += 1
                    if field == 3 { break }
                } else if byte >= 0x30, byte <= 0x39 {
                    fields[field] = fields[field] &* 10 &+ Int(byte - 0x30)
                }
            }
            return field < 3 ? nil : (fields[1] - fields[2]) * sysconf(Int32(_SC_PAGESIZE))
        }
    }

    /// Samples until a matching `end()`.
    ///
    /// - Parameter limit: the limit in bytes.
    package func begin(limit: Int) {
        monitor.change {
            $0.limit = limit
            $0.watchers += 1
        }
        guard hasThread.exchange(true, ordering: .relaxed) == false else { return }
        let (monitor, onExcess) = (monitor, onExcess)
        _ = WorkerThread { Self.serve(monitor, onExcess) }
    }

    package func end() { monitor.change { $0.watchers -= 1 } }

    deinit { monitor.change { $0.isEnded = true } }

    private static func serve(_ monitor: Monitor<State>, _ onExcess: () -> Void) {
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        while true {
            let state = monitor.wait(until: { $0.watchers > 0 || $0.isEnded }) { $0 }
            if state.isEnded { return }
            if let memory = ownMemory(from: descriptor), memory > state.limit { onExcess() }
            usleep(interval)
        }
    }
}
