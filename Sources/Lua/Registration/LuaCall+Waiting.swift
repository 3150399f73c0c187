internal import CLuaShim

/// Calls with deferred results.
extension LuaCall {
    /// Whether the call can wait: each coroutine between it and the host's run must be able to yield.
    var canWait: Bool { clua_canwait(L) != 0 }

    /// Makes the script wait for a task.
    package func waits(for operation: @escaping LuaOperation) throws -> LuaResults {
        guard let waiter = state.waiter else {
            throw LuaError(.runtime, "an async function can be called by scripts of a LuaEngine or a ScriptHost only")
        }
        return try waiter(self, operation)
    }

    /// Yields the coroutine to the host. When the host resumes it, `completion` returns the call's results, or throws
    /// the error that the call raises.
    package func waits(for completion: @escaping (LuaCall) throws -> LuaResults) -> LuaResults {
        let function = LuaNativeFunction(body: completion)
        clua_pushcontinuation(L, Unmanaged.passRetained(function).toOpaque())
        return LuaResults(CLUA_WAIT)
    }
}
