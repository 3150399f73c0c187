import Application
public import Items
public import Lua
import Synchronization

/// Swift functions for scripts, and functions of scripts for Swift.
extension ScriptHost {
    /// Declares an asynchronous global function. A script that calls it waits; timers, signals and other tasks go on.
    ///
    /// ```swift
    /// host.register("fetch", ["url"], doc: "Reads a page.") { (url: String) async throws -> Data in
    ///     try await pages.read(url)
    /// }
    /// ```
    ///
    /// An error of the closure is raised at the line of the call, where `pcall` catches it. When the script is stopped
    /// (by Ctrl-C, its time limit, the end of the application) the closure's task is cancelled, and the script ends
    /// even if the closure does not.
    ///
    /// - Parameters:
    ///   - name: the global's name.
    ///   - parameters: the names of the parameters, for errors and help: all of them, or none.
    ///   - doc: the documentation for help.
    ///   - example: a script that calls it, or "".
    ///   - body: called in a task of its own. `LuaDecoder` and `LuaRepresentable` convert the arguments and the result;
    ///     a parameter of type `LuaAsyncFunction` takes a function of the script.
    /// - Precondition: there are as many names as parameters of the closure, or none.
    public func register<each Argument: Decodable & Sendable, Result: Encodable & Sendable>(
        _ name: String, _ parameters: [String] = [], doc: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) async throws -> Result
    ) {
        declare(TypedFunction(name, parameters, doc, example: example, results: .value, awaiting: body))
    }

    /// Declares an asynchronous global function without a result.
    public func register<each Argument: Decodable & Sendable>(
        _ name: String, _ parameters: [String] = [], doc: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) async throws -> Void
    ) {
        declare(TypedFunction(name, parameters, doc, example: example, results: .nothing, awaiting: body))
    }

    /// Declares a global function that is called on the host's thread and returns at once.
    public func register<each Argument: Decodable & Sendable, Result: Encodable & Sendable>(
        _ name: String, _ parameters: [String] = [], doc: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) throws -> Result
    ) {
        declare(TypedFunction(name, parameters, doc, example: example, results: .value, calling: body))
    }

    /// Declares a global function without a result that is called on the host's thread and returns at once.
    public func register<each Argument: Decodable & Sendable>(
        _ name: String, _ parameters: [String] = [], doc: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) throws -> Void
    ) {
        declare(TypedFunction(name, parameters, doc, example: example, results: .nothing, calling: body))
    }

    private func declare(_ function: TypedFunction) {
        precondition(function.contradiction == nil, function.contradiction ?? "")
        state.setGlobal(function.declaration, body: function.body.invoke)
    }

    /// Suspends a call until a Swift task ends, while timers, signals and other tasks go on.
    package func wait(_ call: LuaCall, for operation: @escaping LuaOperation) throws -> LuaResults {
        try lifeCycle.saver.settle()
        return try scheduler.wait(for: call) { [loop] resume in loop.perform(operation, resume) }
    }

    /// A function of a script, for calls from any task.
    ///
    /// A call is a task of the host, run in a turn of its loop, with `options.timeLimit` unless it has its own limit;
    /// its changes are committed at its end. After the end of the application it throws.
    ///
    /// - Parameter name: the global's name; `a.b` names a field of a global table.
    /// - Returns: the current function of the global.
    /// - Throws: `LuaError` if there is no such function, or the application has ended.
    public func function(_ name: String) throws(LuaError) -> LuaAsyncFunction {
        LuaAsyncFunction(try state.globals.function(named: name), lifeCycle.calls)
    }
}

extension EventLoop {
    /// Starts an operation in a Swift task; its outcome is delivered on this thread.
    ///
    /// - Returns: a function that cancels the task and drops its outcome.
    fileprivate func perform(
        _ operation: @escaping LuaOperation, _ resume: @escaping (@escaping TaskScheduler.Completion) -> Void
    ) -> () -> Void {
        let reply = reply { (outcome: Result<LuaCompletion, any Error>) in resume { try outcome.get()($0) } }
        let task = Task {
            do { reply.send(.success(try await operation())) } catch { reply.send(.failure(error)) }
        }
        return { [weak self] in
            task.cancel()
            self?.forget(reply)
        }
    }
}

extension ScriptHost {
    /// The host's items as models with generated keys, on the host's thread.
    @_disfavoredOverload
    public func collection<Model>(of type: Model.Type) -> LocalItemCollection<Model> { withoutKey() }

    private func withoutKey<Model>() -> LocalItemCollection<Model> { LocalItemCollection(items) }

    /// The host's items as models whose `id` is the key. Scripts have the same items, with the properties as fields.
    public func collection<Model: Identifiable>(of type: Model.Type) -> LocalItemCollection<Model>
    where Model.ID: ItemIdentifier {
        LocalItemCollection(items)
    }

    /// The host's items as models that have the text of `id` as their key.
    @_disfavoredOverload
    public func collection<Model: Identifiable>(of type: Model.Type) -> LocalItemCollection<Model>
    where Model.ID: LosslessStringConvertible & Sendable {
        LocalItemCollection(items)
    }

    // An id of another type does not compile, as in `ItemDatabase`.

    /// Ambiguous: an `id` is a key if its type is `String`, `UUID`, an integer or `LosslessStringConvertible`.
    @_disfavoredOverload
    public func collection<Model: Identifiable>(of type: Model.Type) -> LocalItemCollection<Model> { withoutKey() }

    /// Ambiguous: an `id` is a key if its type is `String`, `UUID`, an integer or `LosslessStringConvertible`.
    @_disfavoredOverload
    public func collection<Model: Identifiable, OtherID>(of type: Model.Type) -> LocalItemCollection<Model>
    where Model.ID == OtherID { withoutKey() }

    /// The host's items as models with a key of their own.
    public func collection<Model>(
        of type: Model.Type, key: ItemAttribute<Model, some ItemIdentifier>
    ) -> LocalItemCollection<Model> {
        LocalItemCollection(items, key: key)
    }
}

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
    private let timeLimit: Double?
    // Both are set by the initializer, before any other thread knows this object.
    nonisolated(unsafe) private var additions: EventNotifier?
    /// A separate notifier: each of its notifications is followed by an interrupt, so that a running script handles it.
    nonisolated(unsafe) private var cancellations: EventNotifier?
    /// The host's tasks for calls, by number. Used on the host's thread only.
    nonisolated(unsafe) private var tasks: [Int: ScriptTask] = [:]

    /// - Parameters:
    ///   - lifeCycle: the host's life cycle, which ends this object.
    ///   - timeLimit: the time limit in seconds of a call that has none of its own.
    init(_ lifeCycle: LifeCycle, timeLimit: Double?) {
        self.timeLimit = timeLimit
        let runtime = lifeCycle.runtime
        interrupter = runtime.state.interrupter
        additions = runtime.loop.notifier { [weak self, unowned lifeCycle] in self?.startNew(lifeCycle) }
        cancellations = runtime.loop.notifier { [weak self, unowned scheduler = runtime.scheduler] in
            self?.cancelRequested(scheduler)
        }
    }

    func call<T: Sendable>(
        _ function: LuaReference, of account: MemoryAccount?, timeLimit: Duration?,
        encoding: @escaping @Sendable (LuaState) throws -> [LuaValue],
        decoding: @escaping @Sendable (LuaValue) throws -> T
    ) async throws -> T {
        let call = HostCall(function, seconds: timeLimit?.inSeconds, encode: encoding)
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
    private func startNew(_ lifeCycle: LifeCycle) {
        let (new, calls) = state.withLock { state in
            defer { state.new = [] }
            return (state.new, state.calls)
        }
        for number in new {
            guard let call = calls[number] else { continue }
            lifeCycle.runtime.loop.after(0) { [weak self, unowned lifeCycle] in self?.start(call, number, lifeCycle) }
        }
    }

    /// On the host's thread, possibly between two instructions of the function to be cancelled.
    private func cancelRequested(_ scheduler: TaskScheduler) {
        let calls = state.withLock { $0.calls }
        for (number, task) in tasks where calls[number]?.isCancelled ?? false { scheduler.requestCancel(task) }
    }

    private func start(_ call: HostCall, _ number: Int, _ lifeCycle: LifeCycle) {
        let (state, scheduler) = (lifeCycle.runtime.state, lifeCycle.runtime.scheduler)
        guard !call.isCancelled else {
            return end(number, .failure(TaskScheduler.interruption))
        }
        _ = scheduler.start(
            LuaFunction(call.function, in: state), [], seconds: call.seconds ?? timeLimit,
            generation: 0, prepare: { [unowned state] in try call.encode(state) },
            onStart: { [weak self] task in
                task.isCancelled = { call.isCancelled }
                self?.tasks[number] = task
            },
            onFinish: { [weak self, unowned lifeCycle, unowned scheduler] result in
                let task = self?.tasks[number]
                lifeCycle.endIfDeferred()
                let value = lifeCycle.saver.settle(after: result).map { $0.first ?? .nil }.mapError {
                    $0.underlying as? EncodingError ?? $0 as any Error
                }
                guard let self, let task else { return call.end(value) }
                // The call ends when its result is in the caller's hands.
                scheduler.work(for: task) { self.end(number, value) { scheduler.stopError(of: task) } }
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

/// A call of a script's function from another thread. It ends once: with the function, or when the application ends.
final class HostCall: Sendable {
    let function: LuaReference
    /// Its time limit in seconds; nil for the host's.
    let seconds: Double?
    let encode: @Sendable (LuaState) throws -> [LuaValue]
    /// Takes the result, and what gives the error for a conversion that has to stop.
    typealias Handler = @Sendable (Result<LuaValue, any Error>, _ stopError: () -> LuaError?) -> Void
    private let handler = Mutex<Handler?>(nil)
    private let isCancelRequested = Atomic<Bool>(false)

    init(
        _ function: LuaReference, seconds: Double?, encode: @escaping @Sendable (LuaState) throws -> [LuaValue]
    ) {
        self.function = function
        self.seconds = seconds
        self.encode = encode
    }

    var isCancelled: Bool { isCancelRequested.load(ordering: .acquiring) }

    func cancel() { isCancelRequested.store(true, ordering: .releasing) }

    /// Sets the function that takes the result.
    func onEnd(_ handler: @escaping Handler) {
        self.handler.withLock { $0 = handler }
    }

    func end(_ result: Result<LuaValue, any Error>, stopError: () -> LuaError? = { nil }) {
        let handler = handler.withLock { handler in
            defer { handler = nil }
            return handler
        }
        handler?(result, stopError)
    }
}
