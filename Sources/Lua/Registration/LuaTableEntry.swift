internal import CLuaShim

/// An entry of a table that a call was given, as it lies on Lua's stack: no value is made of it until one is asked for.
/// Valid until the body that got it returns.
public struct LuaTableEntry {
    let call: LuaCall
    /// Where the key is; the value is behind it.
    let index: Int32

    /// The key, as a value that Swift keeps.
    public var key: LuaValue { call.state.value(at: index, on: call.L) }
    /// The value, as one that Swift keeps.
    public var value: LuaValue { call.state.value(at: index + 1, on: call.L) }

    /// The bytes of a key that is a string.
    @inline(__always)
    public func withKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result? {
        try withBytes(at: index, body)
    }

    /// The bytes of a value that is a string.
    @inline(__always)
    public func withText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result? {
        try withBytes(at: index + 1, body)
    }

    /// A value that is an integer, or a number that equals one.
    public var integer: Int64? {
        guard clua_type(call.L, index + 1) == LuaBasicType.number.rawValue else { return nil }
        var isInteger: Int32 = 0
        let value = clua_tointeger(call.L, index + 1, &isInteger)
        return isInteger != 0 ? value : nil
    }

    /// A value that is of a class.
    public func object<T>(_ cls: LuaClass<T>) -> T? { cls.object(at: index + 1, on: call.L) }

    @inline(__always)
    private func withBytes<Result>(
        at index: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result? {
        // A number would be made a string in place, which a walk over the table can't stand.
        guard clua_type(call.L, index) == LuaBasicType.string.rawValue else { return nil }
        var length = 0
        guard let start = clua_tostring(call.L, index, &length) else { return nil }
        return try body(UnsafeRawBufferPointer(start: start, count: length))
    }
}

extension LuaCall {
    /// Calls a body with each entry of an argument that is a table, past any `__pairs`. The body must not change the
    /// table, nor run Lua code that could.
    public func forEachEntry(_ position: Int, _ body: (LuaTableEntry) throws -> Void) throws {
        let table = base + Int32(position)
        guard clua_type(L, table) == LuaBasicType.table.rawValue, clua_checkstack(L, 8) != 0 else { return }
        let top = clua_gettop(L)
        defer { clua_settop(L, top) }
        clua_pushnil(L)
        while clua_nextentry(L, table) != 0 {
            try body(LuaTableEntry(call: self, index: top + 1))
            clua_settop(L, top + 1)
        }
    }
}
