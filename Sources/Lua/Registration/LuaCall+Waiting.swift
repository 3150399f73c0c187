internal import CLuaShim

/// Calls whose results come later.
extension LuaCall {
    /// Whether the call can wait: each coroutine between it and the host's run can yield.
    var canWait: Bool { clua_canwait(L) != 0 }

    /// Yields the coroutine to the host. When it resumes the coroutine, `completion` gives the call's results, or throws
    /// the error that the call raises.
    package func waits(for completion: @escaping (LuaCall) throws -> LuaResults) -> LuaResults {
        let function = LuaNativeFunction(body: completion)
        clua_pushcontinuation(L, Unmanaged.passRetained(function).toOpaque())
        return LuaResults(CLUA_WAIT)
    }
}
