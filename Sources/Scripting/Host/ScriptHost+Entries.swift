import Items
package import Lua

/// Entries of attached prompts: tasks independent of the host's own chunk.
extension ScriptHost {
    /// Starts a function as an entry, which runs until it waits or ends; its changes are committed at its end, also
    /// after an error.
    ///
    /// - Parameters:
    ///   - function: a function without parameters.
    ///   - entry: its record.
    ///   - completion: called once at its end, possibly before this returns.
    package func begin(
        _ function: LuaFunction, as entry: ScriptEntry,
        completion: @escaping (Result<[LuaValue], LuaError>) -> Void
    ) {
        if foreground == nil {
            state.resetOutput()
            output.hasData = false
        }
        classes.imageClasses.forgetFailure()
        _ = scheduler.start(
            function, [], seconds: options.timeLimit, as: entry,
            onFinish: { [unowned self] result in
                endIfDeferred()
                endedEntry = entry
                let committed = commit()
                endedEntry = nil
                output.flush()
                if case .failure(let error) = committed, case .success = result { return completion(.failure(error)) }
                completion(result)
            })
    }

    /// Runs a function as an entry of the host's own prompt.
    package func runEntry(_ function: LuaFunction) -> Result<[LuaValue], LuaError> {
        // An entry may arrive from an attached prompt while another one waits.
        let wasRunning = isRunningEntry
        isRunningEntry = true
        defer { isRunningEntry = wasRunning }
        return run(function)
    }

    /// Whether the results of a chunk are a call's report on what it has written to standard output itself: the handle
    /// that `io.write` returns, the count of an export. Shown after the data, they would be a part of it.
    package func isReportOfOutput(_ values: [LuaValue]) -> Bool {
        guard values.count == 1, let value = values.first else { return false }
        switch value {
        case .integer, .boolean: return output.hasData
        case .userdata where state.output > 0:
            guard case .table(let io) = state.globals["io"] else { return false }
            return value == io["stdout"] || value == io["stderr"]
        default: return false
        }
    }

    /// Stops an entry and no other code.
    package func cancel(_ entry: ScriptEntry) {
        if let task = entry.task { scheduler.requestCancel(task) }
    }

    /// Runs the host's work for an entry's result, such as showing it: interrupting the entry also stops script code in
    /// this work.
    package func work<Value>(for entry: ScriptEntry, _ body: () -> Value) -> Value {
        guard let task = entry.task else { return body() }
        return scheduler.work(for: task, body)
    }

    /// The front end of the running code.
    var activeFrontEnd: (any HostFrontEnd)? {
        guard let entry = scheduler.entry else { return frontEnd }
        return entry.frontEnd
    }

    /// The front end of the running code, if it is a prompt.
    package var activePrompt: (any PromptFrontEnd)? { activeFrontEnd as? any PromptFrontEnd }

    /// The prompt whose entry runs; nil for any other code.
    var promptOfEntry: (any PromptFrontEnd)? {
        isRunningEntry || scheduler.entry != nil ? activePrompt : nil
    }

    // MARK: Commit listeners

    /// Adds a listener, notified of each commit until it is removed.
    package func addCommitListener(_ listener: any CommitListener) {
        commitListeners.append(listener)
        items.commitCounter = { [unowned self] cause, tally in
            let author = scheduler.entry ?? endedEntry
            for listener in commitListeners { listener.didCommit(cause, tally, author: author?.frontEnd) }
        }
    }

    package func removeCommitListener(_ listener: any CommitListener) {
        commitListeners.removeAll { $0 === listener }
        // Counting takes time in proportion to the changes.
        if commitListeners.isEmpty { items.commitCounter = nil }
    }
}
