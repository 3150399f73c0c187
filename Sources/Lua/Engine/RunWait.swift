internal import Platform
internal import Synchronization

/// Gives a host function's results, once they are known: it pushes them, or throws.
package typealias LuaCompletion = @Sendable (LuaCall) throws -> LuaResults

/// What a host function does while its script waits.
package typealias LuaOperation = @Sendable () async throws -> LuaCompletion

/// A wait for a Swift task. It ends with the task, or before: the task is then cancelled and its outcome dropped.
///
/// The task retains the wait and no more, so one that ignores its cancellation keeps neither a run nor an engine.
final class RunWait: Sendable {
    private enum Waiter {
        case task(UnsafeContinuation<Void, Never>)
        case thread(ThreadSignal)

        func resume() {
            switch self {
            case .task(let continuation): continuation.resume()
            case .thread(let signal): signal.set()
            }
        }
    }

    private struct State {
        var hasEnded = false
        var outcome: Result<LuaCompletion, any Error>?
        var task: Task<Void, Never>?
        var waiter: Waiter?
        var end: MonotonicInstant?
    }

    private let state = Mutex(State())

    /// Starts the task, with the task-local values of the caller.
    func begin(_ operation: @escaping LuaOperation) {
        let task = Task {
            do { end(.success(try await operation())) } catch { end(.failure(error)) }
        }
        let isLate = state.withLock { state in
            if !state.hasEnded { state.task = task }
            return state.hasEnded
        }
        if isLate { task.cancel() }
    }

    /// Ends the wait, unless it has ended before; nil cancels the task.
    func end(_ outcome: Result<LuaCompletion, any Error>?) {
        let (task, waiter) = state.withLock { state -> (Task<Void, Never>?, Waiter?) in
            guard !state.hasEnded else { return (nil, nil) }
            state.hasEnded = true
            state.outcome = outcome
            state.end = .now
            defer { (state.task, state.waiter) = (nil, nil) }
            return (state.task, state.waiter)
        }
        if outcome == nil { task?.cancel() }
        waiter?.resume()
    }

    /// Suspends the calling task until the end.
    func ended(isolation: isolated (any Actor)? = #isolation) async {
        await withUnsafeContinuation { continuation in
            wait(as: .task(continuation))
        }
    }

    /// Blocks the calling thread until the end; at a time it ends the wait.
    func block(until end: MonotonicInstant?) {
        let signal = ThreadSignal()
        wait(as: .thread(signal))
        signal.wait(until: end)
        self.end(nil)
    }

    private func wait(as waiter: Waiter) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.waiter = waiter }
            return state.hasEnded
        }
        if hasEnded { waiter.resume() }
    }

    /// When it ended; nil before.
    var end: MonotonicInstant? { state.withLock { $0.end } }

    /// The task's outcome, when it has ended the wait; nil if the wait ended before it.
    var outcome: Result<LuaCompletion, any Error>? { state.withLock { $0.outcome } }
}
