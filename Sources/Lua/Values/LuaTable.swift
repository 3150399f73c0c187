internal import CLuaShim

/// A Lua table retained by Swift.
public struct LuaTable {
    let state: LuaState
    let reference: LuaReference

    /// Reads a field, with metamethods.
    public func get(_ key: LuaValue) throws(LuaError) -> LuaValue {
        let L = try state.enter(capacity: 6)
        let base = clua_gettop(L)
        state.push(reference, on: L)
        state.push(key, on: L)
        let status = clua_gettable(L, -2)
        guard status == 0 else { throw state.takeError(status, on: L, top: base) }
        defer { clua_settop(L, base) }
        return state.value(at: -1, on: L)
    }

    /// Assigns a field, with metamethods.
    public func set(_ key: LuaValue, _ value: LuaValue) throws(LuaError) {
        let L = try state.enter(capacity: 6)
        let base = clua_gettop(L)
        state.push(reference, on: L)
        state.push(key, on: L)
        state.push(value, on: L)
        let status = clua_settable(L, -3)
        guard status == 0 else { throw state.takeError(status, on: L, top: base) }
        clua_settop(L, base)
    }

    /// The value of a key, without metamethods; nil means no entry.
    ///
    /// An assignment to a key of nil or NaN is ignored. One that does not fit into ``LuaLimits/memory`` is dropped, and the
    /// next call into Lua throws.
    public subscript(key: LuaValue) -> LuaValue {
        get {
            let L = state.current
            guard clua_checkstack(L, 4) != 0 else { return .nil }
            let base = clua_gettop(L)
            defer { clua_settop(L, base) }
            state.push(reference, on: L)
            state.push(key, on: L)
            _ = clua_rawget(L, -2)
            return state.value(at: -1, on: L)
        }
        nonmutating set {
            switch key {
            case .nil: return
            case .number(let number) where number.isNaN: return
            default: break
            }
            let L = state.current
            guard clua_checkstack(L, 4) != 0 else { return }
            let base = clua_gettop(L)
            defer { clua_settop(L, base) }
            state.push(reference, on: L)
            state.push(key, on: L)
            state.push(newValue, on: L)
            guard !state.isRefusing else { return }
            clua_rawset(L, -3)
        }
    }

    /// The value of a field, without metamethods.
    public subscript(name: String) -> LuaValue {
        get { self[.text(name)] }
        nonmutating set { self[.text(name)] = newValue }
    }

    /// The value at a position counted from 1, without metamethods.
    public subscript(position: Int) -> LuaValue {
        get { self[.integer(Int64(position))] }
        nonmutating set { self[.integer(Int64(position))] = newValue }
    }

    /// The value of a key as a Swift type, without metamethods: `try table["watts", as: Int?.self]`.
    ///
    /// - Throws: `LuaMismatch` for a value of another type.
    package subscript<Value: LuaRepresentable>(key: LuaValue, as type: Value.Type) -> Value {
        get throws(LuaMismatch) {
            do { return try type.init(lua: self[key]) } catch { throw error.at("field \(key)") }
        }
    }

    /// The length of the sequence, without metamethods.
    public var count: Int { state.reading(reference) { Int(clua_rawlen($0, -1)) } }

    /// A key beside the array: not an integer from 1 to ``count``; nil if there is none.
    package func keyBesideArray() throws -> LuaValue? {
        let count = Int64(count)
        var found: LuaValue?
        try forEach { key, _ in
            if case .integer(let place) = key, place >= 1, place <= count { return true }
            found = key
            return false
        }
        return found
    }

    /// Calls `body` with each key and value, without `__pairs`, until it returns false. The body must not add keys.
    public func forEach(_ body: (LuaValue, LuaValue) throws -> Bool) throws {
        let L = try state.enter(capacity: 8)
        let base = clua_gettop(L)
        defer { clua_settop(L, base) }
        state.push(reference, on: L)
        clua_pushnil(L)
        while true {
            var more: Int32 = 0
            let status = clua_next(L, base + 1, &more)
            guard status == 0 else { throw state.takeError(status, on: L, top: base + 1) }
            guard more != 0 else { return }
            if try !body(state.value(at: -2, on: L), state.value(at: -1, on: L)) { return }
            clua_settop(L, -2)
        }
    }

    /// The metatable, regardless of `__metatable`.
    package var metatable: LuaTable? { state.metatable(of: reference) }

    /// The table's identity, valid for its lifetime.
    package var identity: UnsafeRawPointer? { state.identity(of: reference) }

    /// Sets the metatable; nil removes it.
    package func setMetatable(_ metatable: LuaTable?) {
        let L = state.current
        state.push(reference, on: L)
        if let metatable { state.push(metatable.reference, on: L) } else { clua_pushnil(L) }
        clua_setmetatable(L, -2)
        clua_settop(L, -2)
    }
}
