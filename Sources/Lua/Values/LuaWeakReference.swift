/// A reference that does not retain a table or a function, for host objects that Lua values refer to.
///
/// A host object that retains a function that uses the object is never released: Lua's collector does not see Swift's
/// reference. A weak reference breaks the cycle; a value that only weak references refer to is collected.
public struct LuaWeakReference<Value: LuaRepresentable> {
    /// A table with the value as its single, weak element.
    private let cell: LuaTable

    fileprivate init(_ value: Value, in state: LuaState) {
        cell = state.makeTable(array: 1)
        let metatable = state.makeTable(fields: 1)
        metatable["__mode"] = "v"
        cell.setMetatable(metatable)
        cell[1] = value.luaValue(in: state)
    }

    /// The value; nil once Lua has collected it.
    public var value: Value? { try? Value?(lua: cell[1]) }
}

extension LuaTable {
    /// A reference that does not retain the table.
    public var weakReference: LuaWeakReference<LuaTable> { LuaWeakReference(self, in: state) }
}

extension LuaFunction {
    /// A reference that does not retain the function; Lua must refer to it elsewhere.
    public var weakReference: LuaWeakReference<LuaFunction> { LuaWeakReference(self, in: state) }
}
