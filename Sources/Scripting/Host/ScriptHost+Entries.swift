package import Lua

/// Entries of attached prompts: tasks beside the host's own chunk, none of which waits for the other.
extension ScriptHost {
    /// Begins a function as an entry. It runs until it waits or ends; what it changed is committed at its end, after an
    /// error too.
    ///
    /// - Parameters:
    ///   - function: without parameters.
    ///   - entry: what it is.
    ///   - completion: called once at its end, possibly before this returns.
    package func begin(
        _ function: LuaFunction, as entry: ScriptEntry,
        completion: @escaping (Result<[LuaValue], LuaError>) -> Void
    ) {
        if foreground == nil { state.resetOutput() }
        classes.imageClasses.forgetFailure()
        _ = scheduler.start(
            function, [], seconds: options.timeLimit, as: entry,
            onFinish: { [unowned self] result in
                endIfDeferred()
                let committed = commit()
                output.flush()
                if case .failure(let error) = committed, case .success = result { return completion(.failure(error)) }
                completion(result)
            })
    }

    /// Stops an entry, wherever it is, and nothing else.
    package func cancel(_ entry: ScriptEntry) {
        if let task = entry.task { scheduler.requestCancel(task) }
    }

    /// Runs the host's own work for an entry whose end is being told, such as showing its results: code of scripts that
    /// the work calls is stopped with the entry.
    package func work<Value>(for entry: ScriptEntry, _ body: () -> Value) -> Value {
        guard let task = entry.task else { return body() }
        return scheduler.work(for: task, body)
    }

    /// Who shows the text of the code that runs now and answers its questions.
    var activeFrontEnd: (any HostFrontEnd)? {
        guard let entry = scheduler.entry else { return frontEnd }
        return entry.frontEnd
    }
}
