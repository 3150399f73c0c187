internal import CLuaShim

/// Classes of objects that are rows of a table: Lua holds a row's number in the value itself, and there is an object only
/// while Swift looks at one. It costs no memory, and the same row is the same value in Lua, also as a table's key.
extension LuaClass where T: AnyObject {
    /// Declares the state's class of rows; it can have one. Its properties are declared by ``field(_:_:_:set:get:)``.
    ///
    /// - Parameters:
    ///   - name: of the class, as errors and `tostring` show it.
    ///   - documentation: what `help` says of it.
    ///   - state: the state that the class belongs to.
    ///   - number: the number of an object, of 48 bits: the row, and what tells the object from others that had the row
    ///     before or will have it.
    ///   - object: the object of a number, or one that stands for an object that is gone.
    ///   - unknownMember: serves names that no member has; returns 0 results when it does not know them either.
    ///   - assignUnknown: takes assignments that no property takes: key and value are arguments 0 and 1.
    public convenience init(
        rows name: String, _ documentation: String, in state: LuaState, number: @escaping (T) -> UInt64,
        object: @escaping (UInt64) -> T, unknownMember: ((T, String, LuaCall) throws -> Int32)? = nil,
        assignUnknown: ((T, LuaCall) throws -> Void)? = nil
    ) {
        precondition(clua_hasrows(state.current) == 0, "a state has one class of rows")
        self.init(
            name, documentation, in: state, kind: CLUA_ROW,
            decode: { object($0.load(as: UInt64.self)) },
            encode: { object, _, L in clua_pushrow(L, number(object)) },
            find: { index, cls, L in
                var bits: UInt64 = 0
                return clua_toinline(L, index, cls, &bits) != 0 ? object(bits) : nil
            },
            unknownMember: unknownMember, unknownKey: nil, assignUnknown: assignUnknown)
    }

    /// A property of a class of rows, by the row's number: `get` gives one result, `set` finds the value as argument 0.
    public func field(
        _ name: String, _ type: LuaType, _ documentation: String, set: ((UInt64, LuaCall) throws -> Void)? = nil,
        get: @escaping (UInt64, LuaCall) throws -> Int32
    ) {
        precondition(!holdsObjects, "\(self.name) is no class of rows")
        add(
            LuaRowAccessor(name: "\(self.name).\(name)", type: type, getter: get, setter: set), name, type,
            isReadOnly: set == nil, documentation)
    }
}

extension LuaClass where T: AnyObject {
    /// Says how it is known of a row of this class whether it is there still: iterators leave out rows that have gone before
    /// their turn.
    ///
    /// - Parameters:
    ///   - epoch: a counter that changes whenever a row goes; its address is valid as long as `isGone` is held.
    ///   - isGone: whether a row has gone.
    public func declarePresence(epoch: UnsafePointer<UInt64>, isGone: @escaping (UInt64) -> Bool) {
        precondition(!holdsObjects, "\(name) is no class of rows")
        let accessor = LuaRowAccessor(
            name: name, type: .any, getter: { row, _ in isGone(row) ? 0 : 1 }, setter: nil)
        clua_setrowpresence(pointer, state.retain(accessor), epoch)
    }
}

extension LuaCall {
    /// Pushes an iterator, for `for`, over rows in their order, as a result: it gives their places from 1 and the rows,
    /// without those that have gone until then.
    ///
    /// - Parameters:
    ///   - count: how many rows there are.
    ///   - epoch: the value of the class's epoch from before the rows were found.
    ///   - cls: the class of rows.
    /// - Returns: where the rows are to be put.
    public func pushIterator<T: AnyObject>(
        over count: Int, since epoch: UInt64, _ cls: LuaClass<T>
    ) -> UnsafeMutablePointer<UInt64>? {
        cls.check(L)
        precondition(!cls.holdsObjects, "\(cls.name) is no class of rows")
        return clua_pushrowiterator(L, count, epoch)
    }

    /// Gives back a row; nil when there is none.
    @inline(__always)
    public func returns<T: AnyObject>(row: UInt64?, _ cls: LuaClass<T>) -> Int32 {
        cls.check(L)
        precondition(!cls.holdsObjects, "\(cls.name) is no class of rows")
        if let row { clua_pushrow(L, row) } else { clua_pushnil(L) }
        return 1
    }

    /// Gives back an array of rows.
    public func returns<T: AnyObject>(rows: UnsafeBufferPointer<UInt64>, _ cls: LuaClass<T>) throws -> Int32 {
        guard clua_checkstack(L, 8) != 0 else { throw LuaError(.memory, "stack overflow") }
        cls.check(L)
        precondition(!cls.holdsObjects, "\(cls.name) is no class of rows")
        clua_pushrows(L, rows.baseAddress, rows.count)
        return 1
    }
}

/// A property of a row, whose number is all that is known of it.
final class LuaRowAccessor: LuaAccessor {
    private let type: LuaType
    /// The type in the shim's bytes.
    private let takes: UInt64
    private let words: LuaChoices?
    private let getter: (UInt64, LuaCall) throws -> Int32
    private let setter: ((UInt64, LuaCall) throws -> Void)?

    init(
        name: String, type: LuaType, getter: @escaping (UInt64, LuaCall) throws -> Int32,
        setter: ((UInt64, LuaCall) throws -> Void)?
    ) {
        self.type = type
        takes = LuaType.takes([LuaParameter("value", type)])
        words = LuaChoices([LuaParameter("value", type)])
        self.getter = getter
        self.setter = setter
        super.init(name: name)
    }

    override func get(_ object: UnsafeMutableRawPointer, _ L: OpaquePointer) throws -> Int32 {
        try getter(object.load(as: UInt64.self), LuaCall(L: L, base: 3))
    }

    override func set(_ object: UnsafeMutableRawPointer, _ L: OpaquePointer) throws {
        guard let setter else { return try super.set(object, L) }
        guard clua_conforms(L, 3, takes, words?.text) != 0 || type.mismatch(at: 3, on: L) == nil else {
            throw refuse(type, L)
        }
        do {
            try setter(object.load(as: UInt64.self), LuaCall(L: L, base: 3))
        } catch let error as LuaArgumentError {
            throw LuaError(.argument, "\(name): \(error.message)")
        }
    }
}
