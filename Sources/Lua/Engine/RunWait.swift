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
        var end: MonotonicTime?
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
            state.end = .now()
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
    func block(until end: MonotonicTime?) {
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
    var end: MonotonicTime? { state.withLock { $0.end } }

    /// The task's outcome, if it ended the wait; nil if the wait ended earlier.
    var outcome: Result<LuaCompletion, any Error>? { state.withLock { $0.outcome } }
}

/// A request, from any thread, to stop a script: of one run, or of all runs of an engine.
///
/// The interrupt only triggers the interrupt handler. The handler reads the flags of the current run, so a request that
/// arrives after its run has ended stops nothing else. The runs' waits end immediately.
final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)
    /// The deadline before which its run must begin; nil for none.
    let end: MonotonicTime?
    private let mustNotBegin = Atomic<Bool>(false)
    private let waits = Mutex<[ObjectIdentifier: RunWait]>([:])
    private let interrupter: LuaInterrupter

    init(_ interrupter: LuaInterrupter, before end: MonotonicTime? = nil) {
        self.interrupter = interrupter
        self.end = end
    }

    /// Whether the run was given up before it began: nothing of its engine may be touched.
    var isGivenUp: Bool { mustNotBegin.load(ordering: .acquiring) }

    /// Gives up a run that has not begun, if it is cancelled or its deadline has passed.
    func giveUp(_ now: MonotonicTime) -> Bool {
        guard isSet || end.map({ $0 <= now }) ?? false else { return false }
        mustNotBegin.store(true, ordering: .releasing)
        return true
    }

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() {
        let waits = waits.withLock { waits in
            flag.store(true, ordering: .releasing)
            defer { waits = [:] }
            return waits
        }
        // Unlike `.cancel`, events stay pending until code runs, so a request before the first instruction is not lost.
        interrupter.interrupt(.events)
        for wait in waits.values { wait.end(nil) }
    }

    /// Makes a request end the wait.
    func add(_ wait: RunWait) {
        let isLate = waits.withLock { waits in
            if !isSet { waits[ObjectIdentifier(wait)] = wait }
            return isSet
        }
        if isLate { wait.end(nil) }
    }

    func remove(_ wait: RunWait) { waits.withLock { $0[ObjectIdentifier(wait)] = nil } }
}
