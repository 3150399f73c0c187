internal import CLuaShim
internal import CPlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
// Untried.
internal import Foundation
#endif

/// Counts the values of one conversion between Lua and Swift against its limits, and stops it with the running code.
///
/// The first error stays: types that decode with `try?` get it again, and the conversion ends with it.
final class ConversionCount {
    private let limits: LuaConversionLimits
    /// The number of bytes that the conversion may allocate in Swift.
    private let capacity: Int
    /// Values and bytes so far, shared ones counted each time.
    private(set) var values = 0
    private(set) var bytes = 0
    private var allocated = 0
    private var ticks: UInt8 = 0
    private(set) var failure: (any Error)?

    /// - Parameter state: the state whose limits are in force; nil for the usual ones.
    init(_ state: LuaState?) {
        limits = state?.limits.conversion ?? LuaConversionLimits()
        capacity = state?.leastMemoryLimit ?? .max
    }

    var depth: Int { limits.depth }

    /// Counts values.
    ///
    /// - Parameters:
    ///   - more: the number of values.
    ///   - length: their bytes in strings.
    ///   - size: the bytes that Swift allocates for them.
    /// - Throws: the error that ends the conversion.
    @inline(__always)
    func count(_ more: Int = 1, bytes length: Int = 0, allocates size: Int = 0) throws {
        values += more
        bytes += length
        allocated += size
        ticks &+= 1
        if values > limits.values || bytes > limits.bytes || allocated > capacity || failure != nil || ticks == 0
            || length > 1 << 16
        {
            try look()
        }
    }

    /// Checks the limits, and whether the running code must stop.
    func look() throws {
        if failure == nil { failure = problem() }
        if let failure { throw failure }
    }

    /// Ends the conversion.
    func fail(_ error: any Error) { if failure == nil { failure = error } }

    private func problem() -> LuaError? {
        if cubby_work_is_stopped() != 0 { return LuaError(.cancelled, "stopped before its end") }
        if values > limits.values {
            return LuaError(
                .memory, "more than \(limits.values) values for one conversion (shared ones count each time)")
        }
        if bytes > limits.bytes {
            return LuaError(
                .memory, "more than \(limits.bytes) bytes of text for one conversion (shared text counts each time)")
        }
        if allocated > capacity {
            return LuaError(
                .memory, "not enough memory: the values for the host take more than the limit (\(capacity) bytes)")
        }
        return nil
    }
}

/// One conversion from Lua: its count, and what was decoded so far, for values that occur several times.
final class DecodingSession {
    private struct Place: Hashable {
        let table: UnsafeRawPointer
        let type: ObjectIdentifier
    }

    private struct Decoded {
        let value: Any
        /// Keeps the table: another one could get its address.
        let table: LuaTable
        let values: Int
        let bytes: Int
        let height: Int
    }

    let count: ConversionCount
    /// Long strings by their identity in Lua.
    private var strings: [UnsafeRawPointer: (string: LuaString, reference: LuaReference)] = [:]
    /// Their texts and data by the addresses of their bytes.
    private var texts: [UnsafeRawPointer: String] = [:]
    private var datas: [UnsafeRawPointer: Data] = [:]
    private var decoded: [Place: Decoded] = [:]
    /// The number of instances of classes so far: each place of a table gets its own.
    private var instances = 0
    /// The least depth left so far.
    private var deepest = Int.max

    /// Strings up to this length are copied each time.
    private static let shortLength = 64

    /// - Parameter state: the state whose limits are in force; nil for the usual ones.
    init(_ state: LuaState?) { count = ConversionCount(state) }

    // MARK: Reading

    /// A field of a table, without metamethods.
    func value(of table: LuaTable, at key: LuaValue) throws -> LuaValue {
        let state = table.state
        let L = try reserveSlots(in: state)
        let base = clua_gettop(L)
        defer { clua_settop(L, base) }
        state.push(table.reference, on: L)
        state.push(key, on: L)
        _ = clua_rawget(L, -2)
        guard !state.isRefusing else { throw state.notEnoughMemory }
        guard LuaBasicType(rawValue: clua_type(L, -1)) == .string else {
            try count.count(allocates: 16)
            return state.value(at: -1, on: L)
        }
        return .string(try string(on: L, state))
    }

    /// Whether a table has a field.
    func has(_ key: LuaValue, in table: LuaTable) -> Bool {
        guard let L = try? reserveSlots(in: table.state) else { return false }
        let base = clua_gettop(L)
        defer { clua_settop(L, base) }
        table.state.push(table.reference, on: L)
        table.state.push(key, on: L)
        _ = clua_rawget(L, -2)
        return clua_type(L, -1) > LuaBasicType.nil.rawValue
    }

    private func reserveSlots(in state: LuaState) throws(LuaError) -> OpaquePointer {
        let L = state.current
        guard clua_checkstack(L, 4) != 0 else { throw LuaError(.memory, "stack overflow") }
        return L
    }

    /// The string on top of the stack.
    private func string(on L: OpaquePointer, _ state: LuaState) throws -> LuaString {
        let length = clua_rawlen(L, -1)
        guard length > Self.shortLength, let identity = clua_topointer(L, -1) else {
            try count.count(bytes: length, allocates: 16 + length)
            return LuaString(state.bytes(at: -1, on: L) ?? [])
        }
        if let known = strings[identity] {
            try count.count(bytes: length, allocates: 16)
            return known.string
        }
        try count.count(bytes: length, allocates: 64 + length)
        let string = LuaString(state.bytes(at: -1, on: L) ?? [])
        strings[identity] = (string, state.reference(at: -1, on: L))
        return string
    }

    /// The number of elements of a table that is an array: the greatest key, or the field `n`.
    ///
    /// - Throws: `LuaMismatch` for another key, and for an array of mostly holes.
    func elementCount(of table: LuaTable) throws -> Int {
        var last: Int64 = 0
        var filled: Int64 = 0
        let state = table.state
        try forEachEntry(of: table) { L in
            if clua_isinteger(L, -2) != 0, case let position = clua_tointeger(L, -2, nil), position > 0 {
                last = max(last, position)
                filled += 1
                return
            }
            switch state.value(at: -2, on: L) {
            case .string("n"):
                guard let n = state.value(at: -1, on: L).integerValue else {
                    throw LuaMismatch("the field 'n' of an array is not a count")
                }
                last = max(last, n)
            case let key: throw LuaMismatch("an array has keys from 1, got \(key.typeName.withArticle) as a key")
            }
        }
        // Refuses, for example, a table with a single element at 2^60.
        guard last <= 2 * filled + 1024 else {
            throw LuaMismatch("an array with \(filled) elements up to \(last)")
        }
        return Int(last)
    }

    /// Calls a body with each key of a table. The body must not run Lua code.
    func forEachKey(of table: LuaTable, _ body: (LuaValue) throws -> Void) throws {
        let state = table.state
        try forEachEntry(of: table) { L in try body(state.value(at: -2, on: L)) }
    }

    /// Calls a body for each entry of a table: its key and its value are on top of the stack.
    private func forEachEntry(of table: LuaTable, _ body: (OpaquePointer) throws -> Void) throws {
        let state = table.state
        let L = try state.enter(capacity: 8)
        let base = clua_gettop(L)
        defer { clua_settop(L, base) }
        state.push(table.reference, on: L)
        clua_pushnil(L)
        var visited = 0
        while clua_nextentry(L, base + 1) != 0 {
            try body(L)
            clua_settop(L, -2)
            visited += 1
            if visited & 1023 == 0 { try count.look() }
        }
    }

    // MARK: Sharing

    /// The text of a string; nil unless it is UTF-8.
    func text(of string: LuaString) -> String? {
        guard string.bytes.count > Self.shortLength, let place = string.bytes.withUnsafeBytes(\.baseAddress) else {
            return string.text
        }
        if let known = texts[place] { return known }
        let text = string.text
        texts[place] = text
        return text
    }

    func data(of string: LuaString) -> Data {
        guard string.bytes.count > Self.shortLength, let place = string.bytes.withUnsafeBytes(\.baseAddress) else {
            return Data(string.bytes)
        }
        if let known = datas[place] { return known }
        let data = Data(string.bytes)
        datas[place] = data
        return data
    }

    /// Records that a value is decoded at a depth.
    func enter(_ depthLeft: Int) { deepest = min(deepest, depthLeft) }

    /// Decodes a table as a type, unless it was decoded as this type before.
    func decode<T: Decodable>(
        _ table: LuaTable, as type: T.Type, _ depthLeft: Int, _ decode: () throws -> T
    ) throws -> T {
        guard !(type is AnyClass), let identity = table.identity else {
            instances += 1
            return try decode()
        }
        let place = Place(table: identity, type: ObjectIdentifier(type))
        if let known = decoded[place], known.height <= depthLeft, let value = known.value as? T {
            try count.count(known.values, bytes: known.bytes)
            enter(depthLeft - known.height)
            return value
        }
        let (values, bytes, made, outer) = (count.values, count.bytes, instances, deepest)
        deepest = depthLeft
        defer { deepest = min(deepest, outer) }
        let value = try decode()
        if instances == made {
            decoded[place] = Decoded(
                value: value, table: table, values: count.values - values, bytes: count.bytes - bytes,
                height: depthLeft - deepest)
        }
        return value
    }
}

extension LuaValue {
    /// The state of a reference; nil for other values.
    var state: LuaState? {
        switch self {
        case .table(let table): table.state
        case .function(let function): function.state
        case .thread(let thread): thread.state
        case .userdata(let userdata): userdata.state
        default: nil
        }
    }
}
