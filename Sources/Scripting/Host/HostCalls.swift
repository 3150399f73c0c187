import Application
import Lua
import Synchronization

/// Transfers calls of scripts' functions from other threads to the host's thread.
///
/// It does not retain the host: functions that a program keeps throw after the host has ended.
final class HostCalls: LuaFunctionCaller {
    static let hasEnded = LuaError(.cancelled, "the application has ended")

    private struct State {
        /// The unfinished calls, by number.
        var calls: [Int: HostCall] = [:]
        var lastNumber = 0
        /// The numbers of the calls that the host has not received yet.
        var new: [Int] = []
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let interrupter: LuaInterrupter
    // Both are set by the initializer, before any other thread knows this object.
    nonisolated(unsafe) private var additions: EventNotifier?
    /// A separate notifier: each of its notifications is followed by an interrupt, so that a running script handles it.
    nonisolated(unsafe) private var cancellations: EventNotifier?
    /// The host's tasks for calls, by number. Used on the host's thread only.
    nonisolated(unsafe) private var tasks: [Int: ScriptTask] = [:]

    init(_ host: ScriptHost) {
        interrupter = host.state.interrupter
        additions = host.loop.notifier { [weak self, unowned host] in self?.startNew(host) }
        cancellations = host.loop.notifier { [weak self, unowned host] in self?.cancelRequested(host) }
    }

    func call<T: Sendable>(
        _ function: LuaReference, timeLimit: Duration?, encoding: @escaping @Sendable (LuaState) throws -> [LuaValue],
        decoding: @escaping @Sendable (LuaValue) throws -> T
    ) async throws -> T {
        let call = HostCall(function, seconds: timeLimit.map { $0 / .seconds(1) }, encode: encoding)
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                call.onEnd { result, stopError in
                    continuation.resume(
                        with: Result {
                            let value = try result.get()
                            do { return try decoding(value) } catch { throw stopError() ?? error }
                        })
                }
                add(call)
            }
        } onCancel: {
            call.cancel()
            cancellations?.notify()
            // The function may be running. The interrupt comes last: a script polls for notifications once per
            // interrupt, and would miss a notification that follows it.
            interrupter.interrupt(.events)
        }
    }

    private func add(_ call: HostCall) {
        let isLate = state.withLock { state in
            guard !state.hasEnded else { return true }
            state.lastNumber += 1
            state.calls[state.lastNumber] = call
            state.new.append(state.lastNumber)
            return false
        }
        if isLate { call.end(.failure(Self.hasEnded)) } else { additions?.notify() }
    }

    /// On the host's thread, possibly between two instructions of a script: new calls start in the loop's next turn.
    private func startNew(_ host: ScriptHost) {
        let (new, calls) = state.withLock { state in
            defer { state.new = [] }
            return (state.new, state.calls)
        }
        for number in new {
            guard let call = calls[number] else { continue }
            host.loop.after(0) { [weak self, unowned host] in self?.start(call, number, host) }
        }
    }

    /// On the host's thread, possibly between two instructions of the function to be cancelled.
    private func cancelRequested(_ host: ScriptHost) {
        let calls = state.withLock { $0.calls }
        for (number, task) in tasks where calls[number]?.isCancelled ?? false { host.scheduler.requestCancel(task) }
    }

    private func start(_ call: HostCall, _ number: Int, _ host: ScriptHost) {
        guard !call.isCancelled else {
            return end(number, .failure(TaskScheduler.interruption))
        }
        _ = host.scheduler.start(
            LuaFunction(call.function, in: host.state), [], seconds: call.seconds ?? host.options.timeLimit,
            generation: 0, prepare: { [unowned host] in try call.encode(host.state) },
            onStart: { [weak self] task in
                task.isCancelled = { call.isCancelled }
                self?.tasks[number] = task
            },
            onFinish: { [weak self, unowned host] result in
                let task = self?.tasks[number]
                host.endIfDeferred()
                host.commit()
                host.output.flush()
                let value = result.map { $0.first ?? .nil }.mapError {
                    $0.underlying as? EncodingError ?? $0 as any Error
                }
                guard let self, let task else { return call.end(value) }
                // The call ends when its result is in the caller's hands.
                host.scheduler.work(for: task) { self.end(number, value) { host.scheduler.stopError(of: task) } }
            })
    }

    private func end(
        _ number: Int, _ result: Result<LuaValue, any Error>, stopError: () -> LuaError? = { nil }
    ) {
        let call = state.withLock { $0.calls.removeValue(forKey: number) }
        call?.end(result, stopError: stopError)
        tasks[number] = nil
    }

    /// The application has ended: calls throw.
    func end() {
        let calls = state.withLock { state in
            state.hasEnded = true
            defer { state.calls = [:] }
            return state.calls
        }
        for call in calls.values { call.end(.failure(Self.hasEnded)) }
    }
}
