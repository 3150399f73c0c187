internal import CLuaShim

/// A coroutine retained by Swift and resumed step by step by the host.
public struct LuaThread {
    /// The result of resuming a coroutine.
    public enum Outcome {
        /// Its function returned these results.
        case finished([LuaValue])
        /// It yielded these values and can be resumed.
        case yielded([LuaValue])
    }

    let state: LuaState
    let reference: LuaReference
    let L: OpaquePointer

    /// Resumes the coroutine until its next yield, its end or its error.
    ///
    /// - Throws: the `LuaError` raised; the coroutine is then dead and its pending variables are closed.
    public func resume(_ arguments: [LuaValue] = []) throws(LuaError) -> Outcome {
        try resume(arguments, by: clua_resume)
    }

    /// The same for code that is a program of its own: it sees the coroutine as the main one, which cannot yield, and
    /// host functions may also wait in the script's own coroutines.
    ///
    /// - Parameters:
    ///   - arguments: the arguments, or the results of the function that waited.
    ///   - limit: the number of results to take; nil for all.
    /// - Returns: the results, or what was yielded.
    /// - Throws: as `resume`.
    package func run(_ arguments: [LuaValue], limit: Int? = nil) throws(LuaError) -> Outcome {
        try resume(arguments, by: clua_run, limit)
    }

    private func resume(
        _ arguments: [LuaValue],
        by resume: (OpaquePointer?, OpaquePointer?, Int32, UnsafeMutablePointer<Int32>?) -> Int32, _ limit: Int? = nil
    ) throws(LuaError) -> Outcome {
        let from = try state.enter(room: 4)
        guard clua_checkstack(L, Int32(arguments.count) + 8) != 0 else {
            throw LuaError(.memory, "not enough memory for the stack of a coroutine")
        }
        for argument in arguments { state.push(argument, on: L) }
        var count: Int32 = 0
        let status = resume(L, from, Int32(arguments.count), &count)
        // A waiting host function yields no values.
        guard status == 0 || status == 1 || status == CLUA_WAITS else {
            let error = state.takeError(status, on: L, top: clua_gettop(L) - 1)
            clua_resetthread(L)
            throw error
        }
        let base = clua_gettop(L) - count
        if let limit, count > limit { clua_settop(L, base + Int32(clamping: limit)) }
        let values = state.takeValues(on: L, above: base)
        return status == 0 ? .finished(values) : .yielded(values)
    }

    /// Ends the coroutine and closes its pending variables.
    public func close() {
        state.checkUse()
        clua_resetthread(L)
    }

    /// Whether `call` came from this coroutine.
    public func isRunning(_ call: LuaCall) -> Bool { call.L == L }
}
