internal import CPlatform
internal import Platform
internal import Synchronization

/// The thread that answers, for all engines, the runs that wait for an engine's thread until their deadlines, or until
/// they are cancelled.
///
/// It exists once a run has had to wait for its turn, and sleeps until the next deadline.
final class EngineWatch: Sendable {
    static let shared = EngineWatch()

    private struct State {
        var hasThread = false
        var times: [ObjectIdentifier: (thread: EngineThread, time: MonotonicTime)] = [:]

        mutating func takeDue(_ now: MonotonicTime) -> ([EngineThread], MonotonicTime?) {
            let due = times.filter { $0.value.time <= now }
            for key in due.keys { times[key] = nil }
            return (due.values.map(\.thread), times.values.lazy.map(\.time).min())
        }
    }

    private let state = Mutex(State())
    private let wake = ThreadSignal()

    private init() {}

    /// Makes the thread look at an engine's jobs at some time, or earlier.
    func look(at thread: EngineThread, by time: MonotonicTime) {
        let mustStart = state.withLock { state in
            let key = ObjectIdentifier(thread)
            state.times[key] = (thread, min(state.times[key]?.time ?? time, time))
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if mustStart { start() }
        wake.set()
    }

    /// Without a thread, runs are answered when their engines' threads are free.
    private func start() {
        let result = cubby_thread_start(
            256 << 10,
            { argument in
                if let argument { Unmanaged<EngineWatch>.fromOpaque(argument).takeUnretainedValue().watch() }
                return nil
            }, Unmanaged.passUnretained(self).toOpaque(), nil)
        if result != 0 { state.withLock { $0.hasThread = false } }
    }

    private func watch() {
        while true {
            let (due, next) = state.withLock { $0.takeDue(.now()) }
            for thread in due {
                if let time = thread.answerOverdue() { look(at: thread, by: time) }
            }
            if due.isEmpty { wake.wait(until: next) }
        }
    }
}
