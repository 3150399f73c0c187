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

    /// Throws if a value that was pushed since the last entry did not fit into the memory limit.
    func checkRefusal() throws(LuaError) {
        checkUse()
        guard clua_take_refusal(host) != 0 else { return }
        throw notEnoughMemory
    }

    /// Forgets a refused value, of which another error tells.
    func takeRefusal() -> Bool { clua_take_refusal(host) != 0 }

    /// Whether the host may push this many more bytes. If not, they count as refused.
    func admits(_ bytes: Int) -> Bool { clua_reserve(current, bytes) != 0 }

    /// Whether a pushed value was refused: what follows is refused, too, until an error says so.
    var isRefusing: Bool { clua_is_refusing(host) != 0 }

    /// The error of scripts that exceed the memory limit.
    var notEnoughMemory: LuaError {
        var error = LuaError(.memory, "not enough memory")
        if let limit = memory.limit { error.message += " (the limit is \(limit / 1_048_576) MB)" }
        return error
    }
}
