internal import CLuaShim

/// Classes of ``LuaObject`` types.
extension LuaState {
    /// Declares a class. The table of its static functions, if there are any, becomes a global with the class's name.
    public func addClass(_ type: any LuaObject.Type) {
        let cls = objectClass(type)
        if let table = cls.ownTable { globals[cls.name] = .table(table) }
    }

    /// Assigns a global: a value of any type with a counterpart in Lua.
    public func setGlobal(_ name: String, to value: some LuaRepresentable) { globals[name] = value.luaValue(in: self) }

    /// The class of a type, declared on first use.
    func objectClass(_ type: any LuaObject.Type) -> any DeclaredClass {
        if let known = objectClasses[ObjectIdentifier(type)] { return known }
        let declaration = type.luaClass
        // A subclass without a declaration uses its superclass's.
        let cls = objectClasses[declaration.type] ?? declaration.declare(self)
        objectClasses[ObjectIdentifier(type)] = cls
        return cls
    }

    /// The object at a stack index; nil for a value of another class.
    func object<Object: LuaObject>(at index: Int32, on L: OpaquePointer) -> Object? {
        guard clua_type(L, index) == LuaBasicType.userdata.rawValue,
            let object = clua_toobject(L, index, objectClass(Object.self).pointer)
        else { return nil }
        return Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue() as? Object
    }

    /// The object of a referenced userdata; nil for one of another class.
    func object<Object: LuaObject>(of reference: LuaReference) -> Object? {
        let L = current
        push(reference, on: L)
        defer { clua_settop(L, -2) }
        return object(at: -1, on: L)
    }
}

/// A state's class without the static type of its objects.
protocol DeclaredClass: AnyObject {
    var name: String { get }
    var pointer: OpaquePointer { get }
    var ownTable: LuaTable? { get }
    var state: LuaState { get }
}

extension LuaClass: DeclaredClass {}
