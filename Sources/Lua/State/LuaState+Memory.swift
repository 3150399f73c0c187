internal import CLuaShim

/// The one account of what scripts make the host hold: Lua's own memory, and what is charged to it.
extension LuaState {
    /// Looks whether scripts may have so many bytes more, and collects garbage first if they may not.
    ///
    /// Lua's memory is never refused to the host, which counts it as debt: so a host that is about to make much for a script
    /// asks.
    ///
    /// - Parameter bytes: what is to be made.
    /// - Throws: an error of kind `memory` when the limit would be passed.
    public func checkRoom(for bytes: Int) throws(LuaError) {
        checkUse()
        let limit = clua_limit(host)
        guard limit > 0, clua_used(host) > limit - min(max(bytes, 0), limit) else { return }
        collectGarbage()
        // With a little room more: else the next one that asks would collect again.
        guard clua_used(host) > limit - limit / 32 - min(max(bytes, 0), limit - limit / 32) else { return }
        throw notEnoughMemory
    }

    /// What scripts get for want of memory.
    var notEnoughMemory: LuaError {
        var error = LuaError(.memory, "not enough memory")
        if let limit = memory.limit { error.message += " (the limit is \(limit / 1_048_576) MB)" }
        return error
    }
}
