/// A table or a function that Swift does not keep alive: for objects of the host that Lua's own values refer to.
///
/// A host's object that retains a function, which uses the object, is never released: Lua's collector does not see the
/// reference that Swift holds. A weak reference breaks the cycle; what only it refers to is collected.
public struct LuaWeakReference<Value: LuaRepresentable> {
    /// A table with the value as its one, weak element.
    private let cell: LuaTable

    fileprivate init(_ value: Value, in state: LuaState) {
        cell = state.makeTable(array: 1)
        let metatable = state.makeTable(fields: 1)
        metatable["__mode"] = "v"
        cell.setMetatable(metatable)
        cell[1] = value.luaValue(in: state)
    }

    /// The value; nil when Lua has collected it.
    public var value: Value? { try? Value?(lua: cell[1]) }
}

extension LuaTable {
    /// A reference that does not keep the table alive.
    public var weakReference: LuaWeakReference<LuaTable> { LuaWeakReference(self, in: state) }
}

extension LuaFunction {
    /// A reference that does not keep the function alive; something in Lua has to.
    public var weakReference: LuaWeakReference<LuaFunction> { LuaWeakReference(self, in: state) }
}
