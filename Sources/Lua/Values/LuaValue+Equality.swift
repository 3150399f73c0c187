internal import CLuaShim

/// Lua's `rawequal`: numbers are equal by value, so that 1 equals 1.0, strings by bytes, others by identity.
extension LuaValue: Equatable {
    public static func == (a: LuaValue, b: LuaValue) -> Bool {
        switch (a, b) {
        case (.nil, .nil): true
        case (.boolean(let a), .boolean(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.number(let a), .number(let b)): a == b
        case (.integer(let a), .number(let b)), (.number(let b), .integer(let a)): Int64(exactly: b) == a
        case (.string(let a), .string(let b)): a == b
        case (.table(let a), .table(let b)): a == b
        case (.function(let a), .function(let b)): a == b
        case (.thread(let a), .thread(let b)): a == b
        case (.userdata(let a), .userdata(let b)): a == b
        default: false
        }
    }
}

extension LuaTable: Equatable {
    /// Whether both are the same table.
    public static func == (a: LuaTable, b: LuaTable) -> Bool { a.state.isSame(a.reference, b.reference) }
}

extension LuaFunction: Equatable {
    /// Whether both are the same function.
    public static func == (a: LuaFunction, b: LuaFunction) -> Bool { a.state.isSame(a.reference, b.reference) }
}

extension LuaThread: Equatable {
    /// Whether both are the same coroutine.
    public static func == (a: LuaThread, b: LuaThread) -> Bool { a.state.isSame(a.reference, b.reference) }
}

extension LuaUserdata: Equatable {
    /// Whether both are the same userdata. ``LuaState/areEqual(_:_:)`` compares host values by the class's `__eq`.
    public static func == (a: LuaUserdata, b: LuaUserdata) -> Bool { a.state.isSame(a.reference, b.reference) }
}

extension LuaState {
    /// Whether two references hold the same object.
    fileprivate func isSame(_ a: LuaReference, _ b: LuaReference) -> Bool {
        if a === b { return true }
        guard isOpen, a.releases === b.releases else { return false }
        return identity(of: a) == identity(of: b)
    }

    /// The address of a referenced object.
    func identity(of reference: LuaReference) -> UnsafeRawPointer? {
        let L = current
        push(reference, on: L)
        defer { clua_settop(L, -2) }
        return clua_topointer(L, -1)
    }
}
