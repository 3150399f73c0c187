internal import Platform
internal import Synchronization

/// Pushes a host function's results once they are known, or throws.
package typealias LuaCompletion = @Sendable (LuaCall) throws -> LuaResults

/// The async part of a host function, during which its script waits.
package typealias LuaOperation = @Sendable () async throws -> LuaCompletion

/// A wait for a Swift task. It ends with the task, or earlier: the task is then cancelled and its outcome ignored.
///
/// The task only retains the wait, so a task that ignores its cancellation retains neither a run nor an engine.
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

    /// Ends the wait, unless it has already ended; nil cancels the task.
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

    /// Blocks the calling thread until the wait ends; ends the wait at its deadline.
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

    /// The time when it ended; nil before.
    var end: MonotonicInstant? { state.withLock { $0.end } }

    /// The task's outcome, if it ended the wait; nil if the wait ended earlier.
    var outcome: Result<LuaCompletion, any Error>? { state.withLock { $0.outcome } }
}
