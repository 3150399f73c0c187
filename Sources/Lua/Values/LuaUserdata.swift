internal import CLuaShim

/// A userdata retained by Swift: an object of the host, or a foreign one.
public struct LuaUserdata {
    let state: LuaState
    let reference: LuaReference

    /// The class's name; nil for a foreign userdata.
    public var className: String? {
        let L = state.current
        state.push(reference, on: L)
        defer { clua_settop(L, -2) }
        guard let cls = clua_classof(L, -1) else { return nil }
        return String(cString: clua_classname(cls))
    }
}
