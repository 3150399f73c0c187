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

/// Classes whose objects are rows of a table. A Lua value is the row's number; Swift creates an object only on access.
/// A value costs no memory, and the same row is the same value in Lua, also as a table key.
extension LuaClass where T: AnyObject {
    /// Declares the state's class of rows; at most one per state. ``field(_:_:_:set:get:)`` declares its properties.
    ///
    /// - Parameters:
    ///   - name: of the class, for errors and `tostring`.
    ///   - doc: for `help`.
    ///   - state: the state that the class belongs to.
    ///   - number: the number of an object, in 48 bits: its row and its generation, new for each use of a row.
    ///   - object: the object of a number, or a placeholder for a removed object.
    ///   - unknownMember: resolves names without a member; returns nil for an unknown name.
    ///   - assignUnknown: handles assignments to undeclared names: key and value are arguments 0 and 1.
    package convenience init(
        rows name: String, doc: String, in state: LuaState, number: @escaping (T) -> UInt64,
        object: @escaping (UInt64) -> T, unknownMember: ((T, String, LuaCall) throws -> LuaResults?)? = nil,
        assignUnknown: ((T, LuaCall) throws -> Void)? = nil
    ) {
        precondition(clua_hasrows(state.current) == 0, "a state has one class of rows")
        self.init(
            name, doc, in: state, kind: CLUA_ROW,
            decode: { object($0.load(as: UInt64.self)) },
            encode: { object, _, L in clua_pushrow(L, number(object)) },
            find: { index, cls, L in
                var bits: UInt64 = 0
                return clua_toinline(L, index, cls, &bits) != 0 ? object(bits) : nil
            },
            unknownMember: unknownMember, unknownKey: nil, assignUnknown: assignUnknown)
    }

    /// A property by the row's number: `get` returns one result, `set` reads the value from argument 0.
    package func field(
        _ name: String, _ type: LuaType, doc: String, set: ((UInt64, LuaCall) throws -> Void)? = nil,
        get: @escaping (UInt64, LuaCall) throws -> LuaResults
    ) {
        precondition(!holdsObjects, "\(self.name) is not a class of rows")
        add(
            LuaRowAccessor(name: "\(self.name).\(name)", type: type, getter: get, setter: set), name, type,
            isReadOnly: set == nil, doc)
    }
}

extension LuaClass where T: AnyObject {
    /// Declares how a row's removal is detected; iterators skip removed rows.
    ///
    /// - Parameters:
    ///   - epoch: a counter that every removal changes; its address is valid as long as `isGone` is retained.
    ///   - isGone: whether a row was removed.
    package func declareExistence(epoch: UnsafePointer<UInt64>, isGone: @escaping (UInt64) -> Bool) {
        precondition(!holdsObjects, "\(name) is not a class of rows")
        let accessor = LuaRowAccessor(
            name: name, type: .any, getter: { row, _ in isGone(row) ? .none : .one }, setter: nil)
        clua_setrowexistence(pointer, state.retain(accessor), epoch)
    }
}

extension LuaCall {
    /// Pushes an iterator for `for` over rows in order. It returns positions from 1 and rows, and skips rows removed in
    /// the meantime.
    ///
    /// - Parameters:
    ///   - count: the number of rows.
    ///   - epoch: the value of the class's epoch before the rows were read.
    ///   - cls: the class of rows.
    /// - Returns: the buffer for the rows.
    package func pushIterator<T: AnyObject>(
        over count: Int, since epoch: UInt64, _ cls: LuaClass<T>
    ) -> UnsafeMutablePointer<UInt64>? {
        cls.check(L)
        precondition(!cls.holdsObjects, "\(cls.name) is not a class of rows")
        return clua_pushrowiterator(L, count, epoch)
    }

    /// Returns the iterator that ``pushIterator(over:since:_:)`` pushed.
    package func returnsIterator() -> LuaResults { .one }

    /// Returns a row, or nil.
    @inline(__always)
    package func returns<T: AnyObject>(row: UInt64?, _ cls: LuaClass<T>) -> LuaResults {
        cls.check(L)
        precondition(!cls.holdsObjects, "\(cls.name) is not a class of rows")
        if let row { clua_pushrow(L, row) } else { clua_pushnil(L) }
        return .one
    }

    /// Returns an array of rows.
    package func returns<T: AnyObject>(rows: UnsafeBufferPointer<UInt64>, _ cls: LuaClass<T>) throws -> LuaResults {
        guard clua_checkstack(L, 8) != 0 else { throw LuaError(.memory, "stack overflow") }
        cls.check(L)
        precondition(!cls.holdsObjects, "\(cls.name) is not a class of rows")
        clua_pushrows(L, rows.baseAddress, rows.count)
        return .one
    }
}

/// A property of a row, by the row's number.
final class LuaRowAccessor: LuaAccessor {
    private let type: LuaType
    /// The type in the shim's encoding.
    private let takes: UInt64
    private let words: LuaChoices?
    private let getter: (UInt64, LuaCall) throws -> LuaResults
    private let setter: ((UInt64, LuaCall) throws -> Void)?

    init(
        name: String, type: LuaType, getter: @escaping (UInt64, LuaCall) throws -> LuaResults,
        setter: ((UInt64, LuaCall) throws -> Void)?
    ) {
        self.type = type
        takes = LuaType.takes([LuaParameter("value", type)])
        words = LuaChoices([LuaParameter("value", type)])
        self.getter = getter
        self.setter = setter
        super.init(name: name)
    }

    override func get(_ object: UnsafeMutableRawPointer, _ L: OpaquePointer) throws -> LuaResults {
        try getter(object.load(as: UInt64.self), LuaCall(L: L, base: 3))
    }

    override func set(_ object: UnsafeMutableRawPointer, _ L: OpaquePointer) throws {
        guard let setter else { return try super.set(object, L) }
        guard clua_conforms(L, 3, takes, words?.text, .max) != 0 || type.mismatch(at: 3, on: L) == nil else {
            throw refuse(type, L)
        }
        do {
            try setter(object.load(as: UInt64.self), LuaCall(L: L, base: 3))
        } catch let error as LuaMismatch {
            throw LuaError(.argument, "\(name): \(error.message)")
        }
    }
}
