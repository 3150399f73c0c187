internal import CLuaShim

/// A property as called by the shim. Each kind of value has a specialised subclass, without boxing.
class LuaAccessor {
    /// The qualified name for errors: `Item.name`.
    let name: String

    init(name: String) { self.name = name }

    func get(_ object: UnsafeMutableRawPointer, _ L: OpaquePointer) throws -> LuaResults { .none }

    func set(_ object: UnsafeMutableRawPointer, _ L: OpaquePointer) throws {
        throw LuaError(.argument, "\(name) cannot be assigned")
    }

    /// The type error of the assigned value, at stack index 3.
    func refuse(_ type: LuaType, _ L: OpaquePointer) -> LuaError {
        LuaError(.argument, "\(name): \(type.mismatch(at: 3, on: L) ?? "\(type.name) expected")")
    }
}

/// Any property, or the fallback for names without a member: the getter pushes its result.
final class LuaGeneralAccessor<T>: LuaAccessor {
    let type: LuaType
    let decode: (UnsafeMutableRawPointer) -> T
    let getter: (T, LuaCall) throws -> LuaResults
    let setter: ((T, LuaCall) throws -> Void)?
    /// The stack index of argument 0: 3 for the assigned value, 2 for the key before it.
    let base: Int32

    init(
        name: String, type: LuaType, base: Int32 = 3, decode: @escaping (UnsafeMutableRawPointer) -> T,
        getter: @escaping (T, LuaCall) throws -> LuaResults, setter: ((T, LuaCall) throws -> Void)?
    ) {
        self.base = base
        self.type = type
        self.decode = decode
        self.getter = getter
        self.setter = setter
        super.init(name: name)
    }

    override func get(_ object: UnsafeMutableRawPointer, _ L: OpaquePointer) throws -> LuaResults {
        try getter(decode(object), LuaCall(L: L, base: base))
    }

    override func set(_ object: UnsafeMutableRawPointer, _ L: OpaquePointer) throws {
        guard let setter else { return try super.set(object, L) }
        guard type.mismatch(at: 3, on: L) == nil else { throw refuse(type, L) }
        do {
            try setter(decode(object), LuaCall(L: L, base: base))
        } catch let error as LuaArgumentError {
            throw LuaError(.argument, "\(name): \(error.message)")
        } catch let error as LuaMismatch {
            throw LuaError(.argument, "\(name): \(error.message)")
        }
    }
}

/// An integer property of an object.
final class LuaIntegerAccessor<T: AnyObject>: LuaAccessor {
    let getter: (T) throws -> Int64
    let setter: (T, Int64) throws -> Void

    init(name: String, get: @escaping (T) throws -> Int64, set: @escaping (T, Int64) throws -> Void) {
        getter = get
        setter = set
        super.init(name: name)
    }

    override func get(_ object: UnsafeMutableRawPointer, _ L: OpaquePointer) throws -> LuaResults {
        let value = try Unmanaged<T>.fromOpaque(object)._withUnsafeGuaranteedRef { try getter($0) }
        clua_pushinteger(L, value)
        return .one
    }

    override func set(_ object: UnsafeMutableRawPointer, _ L: OpaquePointer) throws {
        var isInteger: Int32 = 0
        let value = clua_tointeger(L, 3, &isInteger)
        guard isInteger != 0, clua_type(L, 3) == LuaBasicType.number.rawValue else { throw refuse(.integer, L) }
        try Unmanaged<T>.fromOpaque(object)._withUnsafeGuaranteedRef { try setter($0, value) }
    }
}

/// A text property of an object.
final class LuaTextAccessor<T: AnyObject>: LuaAccessor {
    let getter: (T) throws -> String
    let setter: (T, consuming String) throws -> Void

    init(
        name: String, get: @escaping (T) throws -> String, set: @escaping (T, consuming String) throws -> Void
    ) {
        getter = get
        setter = set
        super.init(name: name)
    }

    override func get(_ object: UnsafeMutableRawPointer, _ L: OpaquePointer) throws -> LuaResults {
        pushProperty(try Unmanaged<T>.fromOpaque(object)._withUnsafeGuaranteedRef { try getter($0) }, on: L)
        return .one
    }

    override func set(_ object: UnsafeMutableRawPointer, _ L: OpaquePointer) throws {
        var length = 0
        guard let start = clua_tostring(L, 3, &length) else { throw refuse(.text, L) }
        let bytes = UnsafeBufferPointer(
            start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: length)
        guard isUTF8(UnsafeRawBufferPointer(bytes)) else { throw refuse(.text, L) }
        // Created in argument position, the text is not retained for a local.
        try Unmanaged<T>.fromOpaque(object)._withUnsafeGuaranteedRef {
            try setter($0, String(decoding: bytes, as: UTF8.self))
        }
    }
}

/// An optional text property of an object.
final class LuaOptionalTextAccessor<T: AnyObject>: LuaAccessor {
    let getter: (T) throws -> String?
    let setter: (T, String?) throws -> Void

    init(
        name: String, get: @escaping (T) throws -> String?, set: @escaping (T, String?) throws -> Void
    ) {
        getter = get
        setter = set
        super.init(name: name)
    }

    override func get(_ object: UnsafeMutableRawPointer, _ L: OpaquePointer) throws -> LuaResults {
        if let text = try Unmanaged<T>.fromOpaque(object)._withUnsafeGuaranteedRef({ try getter($0) }) {
            pushProperty(text, on: L)
        } else {
            clua_pushnil(L)
        }
        return .one
    }

    override func set(_ object: UnsafeMutableRawPointer, _ L: OpaquePointer) throws {
        var text: String?
        var length = 0
        if let start = clua_tostring(L, 3, &length) {
            text = makeText(UnsafeRawBufferPointer(start: start, count: length))
            guard text != nil else { throw refuse(.text, L) }
        } else {
            guard clua_type(L, 3) <= 0 else { throw refuse(.optional(.text), L) }
        }
        try Unmanaged<T>.fromOpaque(object)._withUnsafeGuaranteedRef { try setter($0, text) }
    }
}
