import Application
public import Lua

/// Swift functions for scripts, and functions of scripts for Swift.
extension ScriptHost {
    /// Declares an asynchronous global function. A script that calls it waits; timers, signals and other tasks go on.
    ///
    /// ```swift
    /// host.register("fetch", ["url"], "Reads a page.") { (url: String) async throws -> Data in
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
    ///   - parameters: the names of the parameters, for errors and help.
    ///   - documentation: for help.
    ///   - example: a script that calls it, or "".
    ///   - body: called in a task of its own. `LuaDecoder` and `LuaRepresentable` convert the arguments and the result;
    ///     a parameter of type `LuaAsyncFunction` takes a function of the script.
    public func register<each Argument: Decodable & Sendable, Result: Encodable & Sendable>(
        _ name: String, _ parameters: [String] = [], _ documentation: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) async throws -> Result
    ) {
        declare(TypedFunction(name, parameters, documentation, example: example, results: .value, awaiting: body))
    }

    /// Declares an asynchronous global function without a result.
    public func register<each Argument: Decodable & Sendable>(
        _ name: String, _ parameters: [String] = [], _ documentation: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) async throws -> Void
    ) {
        declare(TypedFunction(name, parameters, documentation, example: example, results: .nothing, awaiting: body))
    }

    /// Declares a global function that is called on the host's thread and returns at once.
    public func register<each Argument: Decodable & Sendable, Result: Encodable & Sendable>(
        _ name: String, _ parameters: [String] = [], _ documentation: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) throws -> Result
    ) {
        declare(TypedFunction(name, parameters, documentation, example: example, results: .value, calling: body))
    }

    /// Declares a global function without a result that is called on the host's thread and returns at once.
    public func register<each Argument: Decodable & Sendable>(
        _ name: String, _ parameters: [String] = [], _ documentation: String = "", example: String = "",
        calling body: @escaping @Sendable (repeat each Argument) throws -> Void
    ) {
        declare(TypedFunction(name, parameters, documentation, example: example, results: .nothing, calling: body))
    }

    private func declare(_ function: TypedFunction) {
        state.setGlobal(function.declaration) { call in
            switch function.body {
            case .returns(let body): try body(call)
            case .waits(let begin): try call.waits(for: begin(call))
            }
        }
    }

    /// Suspends a call until a Swift task ends, while timers, signals and other tasks go on.
    func wait(_ call: LuaCall, for operation: @escaping LuaOperation) throws -> LuaResults {
        commit()
        output.flush()
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
    public func function(_ name: String) throws -> LuaAsyncFunction {
        let function = try state.globals.function(named: name)
        guard let calls else { throw HostCalls.hasEnded }
        return LuaAsyncFunction(function, calls)
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
