internal import CLuaShim

/// A userdata held by Swift: an object of the host, or a foreign one.
public struct LuaUserdata {
    let state: LuaState
    let reference: LuaReference

    /// The name of its class, when it is one of the host's.
    public var className: String? {
        let L = state.current
        state.push(reference, on: L)
        defer { clua_settop(L, -2) }
        guard let cls = clua_classof(L, -1, nil) else { return nil }
        return String(cString: clua_classname(cls))
    }
}
