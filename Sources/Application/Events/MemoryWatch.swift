import Files
import Glibc
import Synchronization

/// Watches how much memory the process has, for as long as somebody wants to know: a thread of its own looks every few
/// milliseconds, whatever the others do.
package final class MemoryWatch: Sendable {
    /// How long the thread sleeps between two looks, in microseconds.
    private static let interval: UInt32 = 4000

    private struct State: Sendable {
        var limit = Int.max
        /// How many want to know.
        var watchers = 0
        var isEnded = false
    }

    private let monitor = Monitor(State())
    private let onExcess: @Sendable () -> Void
    private let hasThread = Atomic(false)

    /// - Parameter onExcess: called on the watch's thread at each look that finds more than the limit.
    package init(onExcess: @escaping @Sendable () -> Void) { self.onExcess = onExcess }

    /// The memory that the process has to itself, in bytes: what it mapped of files is left out. Nil where the system does
    /// not tell.
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
            // Pages: of the address space, resident, and of those the shared ones.
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

    /// Looks until `end()`, as often as it was begun.
    ///
    /// - Parameter limit: the memory, in bytes, that is too much when it is passed.
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
