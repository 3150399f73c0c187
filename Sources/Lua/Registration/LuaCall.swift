internal import CLuaShim

/// A call from Lua: its arguments, at positions counted from 0, and its results.
///
/// Valid during the call only. Accessors rely on the declaration's check and only repeat what it leaves open.
public struct LuaCall {
    let L: OpaquePointer
    let base: Int32
    /// The function that is called, if it is declared; it lives as long as its call.
    var function: Unmanaged<LuaNativeFunction>?

    /// The calling state.
    @usableFromInline package var state: LuaState {
        Unmanaged<LuaState>.fromOpaque(clua_owner(L)).takeUnretainedValue()
    }

    /// The number of arguments.
    @usableFromInline package var count: Int { max(0, Int(clua_gettop(L) - base) + 1) }

    func index(_ position: Int) -> Int32 { base + Int32(position) }

    // MARK: Arguments

    /// Whether the argument is nil or absent.
    @usableFromInline package func isNil(_ position: Int) -> Bool { clua_type(L, index(position)) <= 0 }

    /// Whether the argument is a number.
    package func isNumber(_ position: Int) -> Bool { clua_type(L, index(position)) == LuaBasicType.number.rawValue }

    /// The argument as a retained value; nil if it is absent.
    @usableFromInline package func value(_ position: Int) -> LuaValue {
        position < count ? state.value(at: index(position), on: L) : .nil
    }

    /// The receiver and all arguments, as values.
    package var allValues: [LuaValue] {
        let top = clua_gettop(L)
        guard top > 0, clua_checkstack(L, 4) != 0 else { return [] }
        return (1...top).map { state.value(at: $0, on: L) }
    }

    /// Whether the argument is true in a condition.
    package func boolean(_ position: Int) -> Bool { clua_toboolean(L, index(position)) != 0 }

    /// The argument as an integer: one, or a float with an integral value.
    @usableFromInline package func integer(_ position: Int) throws(LuaMismatch) -> Int64 {
        var isInteger: Int32 = 0
        let value = clua_tointeger(L, index(position), &isInteger)
        guard isInteger != 0 else { throw mismatch(position, .integer) }
        return value
    }

    /// The argument as a number; includes integers.
    package func number(_ position: Int) throws(LuaMismatch) -> Double {
        var isNumber: Int32 = 0
        let value = clua_tonumber(L, index(position), &isNumber)
        guard isNumber != 0 else { throw mismatch(position, .number) }
        if value.magnitude >= 0x1p53, clua_isinteger(L, index(position)) != 0 {
            do { return try Double(lua: self.value(position)) } catch { throw refuse(position, error.message) }
        }
        return value
    }

    /// The argument as text.
    package func text(_ position: Int) throws(LuaMismatch) -> String {
        var length = 0
        guard let start = clua_tostring(L, index(position), &length) else { throw mismatch(position, .text) }
        guard let text = makeText(UnsafeRawBufferPointer(start: start, count: length)) else {
            throw mismatch(position, .text)
        }
        return text
    }

    /// The bytes of a string argument.
    package func bytes(_ position: Int) throws(LuaMismatch) -> [UInt8] {
        guard let bytes = state.bytes(at: index(position), on: L) else { throw mismatch(position, .string) }
        return bytes
    }

    /// The bytes of a string argument without a copy, valid until the call ends.
    package func borrowedBytes(_ position: Int) throws(LuaMismatch) -> UnsafeRawBufferPointer {
        var length = 0
        guard let start = clua_tostring(L, index(position), &length) else { throw mismatch(position, .string) }
        return UnsafeRawBufferPointer(start: start, count: length)
    }

    /// Checks that the strings among the arguments from a position on fit into the limits of a conversion together: one
    /// long string may be every argument.
    @usableFromInline
    func admitArguments(from position: Int) throws(LuaMismatch) {
        let total = ConversionCount(state)
        for each in position..<count where clua_type(L, index(each)) == LuaBasicType.string.rawValue {
            let length = clua_rawlen(L, index(each))
            do { try total.count(bytes: length, allocates: length) } catch {
                throw refuse(each, (error as? LuaError)?.message ?? "\(error)")
            }
        }
    }

    /// The argument as a table.
    package func table(_ position: Int) throws(LuaMismatch) -> LuaTable {
        guard case .table(let table) = value(position) else { throw mismatch(position, .table) }
        return table
    }

    /// The argument as a function.
    package func function(_ position: Int) throws(LuaMismatch) -> LuaFunction {
        guard case .function(let function) = value(position) else { throw mismatch(position, .function) }
        return function
    }

    /// The argument as an object of a class.
    package func object<T>(_ position: Int, _ cls: LuaClass<T>) throws(LuaMismatch) -> T {
        guard let object = cls.object(at: index(position), on: L) else { throw mismatch(position, .object(cls.name)) }
        return object
    }

    /// The argument as an object of a class; nil for another value.
    package func optionalObject<T>(_ position: Int, _ cls: LuaClass<T>) -> T? { cls.object(at: index(position), on: L) }

    /// Reads an argument with another accessor; nil if it is nil or absent: `call.optional(1, call.integer)`.
    package func optional<R, Failure>(_ position: Int, _ access: (Int) throws(Failure) -> R) throws(Failure) -> R? {
        isNil(position) ? nil : try access(position)
    }

    /// An option of an options table; nil if absent.
    package func option(_ name: String, of position: Int) throws -> LuaValue {
        guard case .table(let table) = value(position) else { return .nil }
        return table[name]
    }

    /// The error for an unusable argument. The caller adds the names of the function and the parameter to `message`.
    @usableFromInline package func refuse(_ position: Int, _ message: String) -> LuaMismatch {
        LuaMismatch(message, at: position)
    }

    func mismatch(_ position: Int, _ type: LuaType) -> LuaMismatch {
        if let message = clua_revocation(L, index(position)) {
            return LuaMismatch(String(cString: message), at: position)
        }
        let got =
            clua_classof(L, index(position)).map { String(cString: clua_classname($0)) }
            ?? (position < count ? String(cString: clua_typename(clua_type(L, index(position)))) : "no value")
        let message = type.mismatch(at: index(position), on: L) ?? "\(type.name) expected, got \(got)"
        return LuaMismatch(message, at: position)
    }

    /// The name of the chunk of an active function, with its mark (`@file.lua`, `=[3]`). Level 0 is this function, 1
    /// its caller. Nil beyond the outermost one.
    package func chunkName(ofLevel level: Int) -> String? {
        clua_getsource(L, Int32(clamping: level)).map { String(cString: $0) }
    }

    /// The current position of an active function, `chunk:line`; levels as in `chunkName(ofLevel:)`.
    package func place(ofLevel level: Int) -> String? {
        var frame = clua_frame()
        guard let chunk = chunkName(ofLevel: level), clua_getframe(L, Int32(clamping: level), &frame) != 0 else {
            return nil
        }
        return "\(chunk):\(frame.line)"
    }

    // MARK: Results

    /// Returns no results.
    @usableFromInline package func returnsNothing() -> LuaResults { .none }

    /// Returns a value of a Swift type with a counterpart in Lua.
    package func returns(_ value: some LuaRepresentable) -> LuaResults { returns(value.luaValue(in: state)) }

    /// Returns an integer.
    @usableFromInline package func returns(_ value: Int64) -> LuaResults {
        clua_pushinteger(L, value)
        return .one
    }

    /// Returns an integer.
    @usableFromInline package func returns(_ value: Int) -> LuaResults { returns(Int64(value)) }

    /// Returns a float.
    @usableFromInline package func returns(_ value: Double) -> LuaResults {
        clua_pushnumber(L, value)
        return .one
    }

    /// Returns a boolean.
    @usableFromInline package func returns(_ value: Bool) -> LuaResults {
        clua_pushboolean(L, value ? 1 : 0)
        return .one
    }

    /// Returns a string with the text's UTF-8.
    @usableFromInline package func returns(_ text: String) -> LuaResults {
        pushText(text, on: L)
        return .one
    }

    /// Returns a string.
    @usableFromInline package func returns(_ string: LuaString) -> LuaResults {
        state.push(bytes: string.bytes, on: L)
        return .one
    }

    /// Returns a string of bytes.
    package func returns(bytes: UnsafeRawBufferPointer) -> LuaResults {
        clua_pushlstring(L, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        return .one
    }

    /// Returns a value of the call's state.
    @usableFromInline package func returns(_ value: LuaValue) -> LuaResults {
        state.push(value, on: L)
        return .one
    }

    /// Returns an array.
    package func returns(array elements: [some LuaRepresentable]) -> LuaResults {
        returns(elements.luaValue(in: state))
    }

    /// Returns values in order.
    package func returns(values: [LuaValue]) throws(LuaError) -> LuaResults {
        guard clua_checkstack(L, Int32(clamping: values.count + 2)) != 0 else {
            throw LuaError(.memory, "too many results (\(values.count))")
        }
        for value in values { state.push(value, on: L) }
        return LuaResults(Int32(values.count))
    }

    @inlinable
    package func returns<T: LuaInline>(_ value: T, _ cls: LuaClass<T>) -> LuaResults {
        returns(bits: value.luaBits, cls.handle)
    }

    /// Returns an inline value.
    @usableFromInline
    package func returns(bits: UInt64, _ handle: LuaClassHandle) -> LuaResults {
        precondition(clua_host_of(L) == handle.host, "the class was declared to another LuaState")
        clua_pushinline(L, handle.pointer, bits)
        return .one
    }

    /// Returns an object of a class.
    package func returns<T: AnyObject>(_ object: T, _ cls: LuaClass<T>) -> LuaResults {
        guard cls.holdsObjects else {
            cls.push(object, on: L)
            return .one
        }
        cls.check(L)
        pushReference(object, cls.pointer, on: L)
        return .one
    }

    /// Returns a function that is released when Lua collects it.
    package func returns(ownedFunction body: @escaping (LuaCall) throws -> LuaResults) -> LuaResults {
        let function = LuaNativeFunction(body: body)
        clua_pushownedfunction(L, Unmanaged.passRetained(function).toOpaque())
        return .one
    }

    /// Returns a failure: nil, the error and, as Lua's own functions do, its number if it has one.
    @usableFromInline package func returns(failure error: any Error) -> LuaResults {
        clua_pushnil(L)
        state.pushErrorObject(error, on: L)
        guard case .number(let number) = (error as? any LuaErrorDetails)?.luaCode else { return LuaResults(2) }
        clua_pushinteger(L, Int64(number))
        return LuaResults(3)
    }

    /// Whether this call can yield.
    package var isYieldable: Bool { clua_isyieldable(L) != 0 }
}

extension LuaState {
    /// The current position of an active function; levels as in ``LuaCall/place(ofLevel:)``.
    package func place(ofLevel level: Int) -> String? { LuaCall(L: current, base: 1).place(ofLevel: level) }
}

/// Pushes an object's handle; a new handle retains the object.
@inline(__always)
func pushReference(_ object: AnyObject, _ cls: OpaquePointer, on L: OpaquePointer) {
    let reference = Unmanaged.passUnretained(object)
    if clua_pushobject(L, cls, reference.toOpaque()) != 0 { _ = reference.retain() }
}

/// Decodes UTF-8; nil for other bytes.
func makeText(_ raw: UnsafeRawBufferPointer) -> String? {
    guard isUTF8(raw) else { return nil }
    return raw.withMemoryRebound(to: UInt8.self) { String(decoding: $0, as: UTF8.self) }
}

/// Pushes text without a Swift copy.
@inline(__always)
func pushText(_ text: String, on L: OpaquePointer) {
    var copy = text
    copy.withUTF8 { buffer in
        let raw = UnsafeRawBufferPointer(buffer)
        clua_pushlstring(L, raw.baseAddress?.assumingMemoryBound(to: CChar.self), raw.count)
    }
}

/// Pushes the text of a property through Lua's string cache, which is keyed by address, so that a cached text is not
/// hashed again.
@inline(__always)
func pushProperty(_ text: String, on L: OpaquePointer) {
    text.withCString { clua_pushcstring(L, $0, text.utf8.count) }
}

/// Calls with deferred results.
extension LuaCall {
    /// Whether the call can wait: each coroutine between it and the host's run must be able to yield.
    var canWait: Bool { clua_canwait(L) != 0 }

    /// Makes the script wait for a task.
    package func waits(for operation: @escaping LuaOperation) throws -> LuaResults {
        guard let waiter = state.waiter else {
            throw LuaError(.runtime, "an async function can be called by scripts of a LuaEngine or a ScriptHost only")
        }
        return try waiter(self, operation)
    }

    /// Yields the coroutine to the host. When the host resumes it, `completion` returns the call's results, or throws
    /// the error that the call raises, with the names of this function.
    package func waits(for completion: @escaping (LuaCall) throws -> LuaResults) -> LuaResults {
        let declared = function?.takeUnretainedValue()
        let function = LuaNativeFunction { call in
            do { return try completion(call) } catch { throw declared?.explain(error) ?? error }
        }
        clua_pushcontinuation(L, Unmanaged.passRetained(function).toOpaque())
        return LuaResults(CLUA_WAIT)
    }
}

/// The results of a host function, on Lua's stack. Made by the `returns` methods of ``LuaCall``, and returned by the
/// function's body.
@frozen
public struct LuaResults {
    let count: Int32

    init(_ count: Int32) { self.count = count }

    /// Concatenates results, in the order in which they were made.
    @usableFromInline package static func + (first: LuaResults, second: LuaResults) -> LuaResults {
        LuaResults(first.count + second.count)
    }

    static var none: LuaResults { LuaResults(0) }
    static var one: LuaResults { LuaResults(1) }
}
