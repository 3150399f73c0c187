internal import CLuaShim

/// An entry of a table argument, still on Lua's stack: values are converted on access. Valid until the body returns.
public struct LuaTableEntry {
    let call: LuaCall
    /// The key's stack index; the value follows.
    let index: Int32

    /// The key as a retained value.
    public var key: LuaValue { call.state.value(at: index, on: call.L) }
    /// The value as a retained value.
    public var value: LuaValue { call.state.value(at: index + 1, on: call.L) }

    /// The bytes of a string key.
    @inline(__always)
    package func withKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result? {
        try withBytes(at: index, body)
    }

    /// The bytes of a string value.
    @inline(__always)
    package func withText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result? {
        try withBytes(at: index + 1, body)
    }

    /// The value, if it is an integer, or a number equal to one.
    public var integer: Int64? {
        guard clua_type(call.L, index + 1) == LuaBasicType.number.rawValue else { return nil }
        var isInteger: Int32 = 0
        let value = clua_tointeger(call.L, index + 1, &isInteger)
        return isInteger != 0 ? value : nil
    }

    /// The value, if it is an object of the class.
    public func object<T>(_ cls: LuaClass<T>) -> T? { cls.object(at: index + 1, on: call.L) }

    @inline(__always)
    private func withBytes<Result>(
        at index: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result? {
        // `lua_tolstring` would convert a number in place, which breaks the traversal.
        guard clua_type(call.L, index) == LuaBasicType.string.rawValue else { return nil }
        var length = 0
        guard let start = clua_tostring(call.L, index, &length) else { return nil }
        return try body(UnsafeRawBufferPointer(start: start, count: length))
    }
}

extension LuaCall {
    /// Calls a body with each entry of a table argument, bypassing `__pairs`. The body must not change the table, nor
    /// run Lua code that could.
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
