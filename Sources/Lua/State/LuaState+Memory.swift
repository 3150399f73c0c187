internal import CLuaShim

/// Accounts for memory used by scripts: Lua's own, and the host's charges.
extension LuaState {
    /// Checks that scripts may use this many more bytes; if not, collects garbage and checks again.
    ///
    /// The allocator never refuses memory to the host but records the excess as debt, so a host must check before a
    /// large allocation for a script.
    ///
    /// - Parameter bytes: the size of the allocation.
    /// - Throws: an error of kind `memory` if the limit would be exceeded.
    package func checkRoom(for bytes: Int) throws(LuaError) {
        checkUse()
        let limit = clua_limit(host)
        guard limit > 0, clua_used(host) > limit - min(max(bytes, 0), limit) else { return }
        collectGarbage()
        // A margin, so that the next check does not collect again.
        guard clua_used(host) > limit - limit / 32 - min(max(bytes, 0), limit - limit / 32) else { return }
        throw notEnoughMemory
    }

    /// The error of scripts that exceed the memory limit.
    var notEnoughMemory: LuaError {
        var error = LuaError(.memory, "not enough memory")
        if let limit = memory.limit { error.message += " (the limit is \(limit / 1_048_576) MB)" }
        return error
    }
}
