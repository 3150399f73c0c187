/// A sequence from 1, copied: later changes in Lua do not appear in Swift, nor the reverse. Another key than a position,
/// or the field `n` of `table.pack`, is refused.
extension Array: LuaRepresentable where Element: LuaRepresentable {
    public static var luaType: LuaType { .array(Element.luaType) }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .table(let table) = value else { throw LuaMismatch(Self.luaType, value) }
        self = try table.converting { session throws(LuaMismatch) in
            let count = try session.countElements(of: table)
            var elements: [Element] = []
            elements.reserveCapacity(Swift.min(count, 1 << 16))
            for position in stride(from: 1, through: count, by: 1) {
                let element = try session.read(table, .integer(Int64(position)))
                do throws(LuaMismatch) {
                    elements.append(try Element(lua: element))
                } catch { throw error.at("element \(position)") }
            }
            return elements
        }
    }

    public func luaValue(in state: LuaState) -> LuaValue {
        let table = state.makeTable(array: count)
        for (position, element) in enumerated() {
            // What does not fit into the memory limit is refused as a whole.
            guard !state.isRefusing else { break }
            table[position + 1] = element.luaValue(in: state)
        }
        return .table(table)
    }
}

/// A table with keys of one type, copied like an array; other keys are refused.
extension Dictionary: LuaRepresentable where Key: LuaRepresentable, Value: LuaRepresentable {
    public static var luaType: LuaType { .table }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .table(let table) = value else { throw LuaMismatch(Self.luaType, value) }
        self = try table.converting { session throws(LuaMismatch) in
            var fields: [Key: Value] = [:]
            for key in try session.keys(of: table) {
                fields[try Self.key(key)] = try Self.field(key, try session.read(table, key))
            }
            return fields
        }
    }

    private static func key(_ key: LuaValue) throws(LuaMismatch) -> Key {
        do { return try Key(lua: key) } catch {
            let kind = Key.self == String.self ? "name" : Key.luaType.name
            throw LuaMismatch("\(kind)s as keys expected, got \(key.typeName.withArticle)")
        }
    }

    private static func field(_ key: LuaValue, _ value: LuaValue) throws(LuaMismatch) -> Value {
        do { return try Value(lua: value) } catch {
            throw error.at(key.textValue.map { "field '\($0)'" } ?? "field [\(key)]")
        }
    }

    public func luaValue(in state: LuaState) -> LuaValue {
        let table = state.makeTable(fields: count)
        for (key, value) in self where !state.isRefusing {
            table[key.luaValue(in: state)] = value.luaValue(in: state)
        }
        return .table(table)
    }
}

extension LuaTable {
    /// Converts the table within the limits of one conversion: that of the collection around it, or a new one.
    fileprivate func converting<Result>(
        _ body: (DecodingSession) throws(LuaMismatch) -> Result
    ) throws(LuaMismatch) -> Result {
        try state.converting({ DecodingSession(.table(self)) }, body)
    }
}

extension DecodingSession {
    fileprivate func countElements(of table: LuaTable) throws(LuaMismatch) -> Int {
        try mismatching { try elementCount(of: table) }
    }

    fileprivate func read(_ table: LuaTable, _ key: LuaValue) throws(LuaMismatch) -> LuaValue {
        try mismatching {
            let value = try value(of: table, at: key)
            // Unlike the decoder, each element copies its text.
            if case .string(let string) = value { try count.count(0, allocates: string.bytes.count) }
            return value
        }
    }

    fileprivate func keys(of table: LuaTable) throws(LuaMismatch) -> [LuaValue] {
        try mismatching {
            var keys: [LuaValue] = []
            try forEachKey(of: table) { key in
                if case .string(let name) = key { try count.count(0, bytes: name.bytes.count) }
                keys.append(key)
            }
            return keys
        }
    }

    /// A limit, or a stop, as the refusal of the argument. The stop itself follows when the function returns.
    private func mismatching<Result>(_ body: () throws -> Result) throws(LuaMismatch) -> Result {
        do { return try body() } catch {
            throw (error as? LuaMismatch) ?? LuaMismatch((error as? LuaError)?.message ?? "\(error)")
        }
    }
}

/// The result of a function that may fail for external reasons: the value, or nil and the error.
///
/// ```swift
/// module.function("read", ["path"], doc: "A file's text.") { (path: String) in
///     Result { () throws(FileError) in try files.text(of: path) }
/// }
/// ```
///
/// An error thrown by the function is raised instead.
extension Result: LuaRepresentable where Success: LuaRepresentable {
    public static var luaType: LuaType { luaResults[0] }

    public static var luaResults: [LuaType] { LuaType.orError(Success.luaType.wrapped) }

    /// Creates a success.
    public init(lua value: LuaValue) throws(LuaMismatch) { self = .success(try Success(lua: value)) }

    /// The value; nil for a failure.
    public func luaValue(in state: LuaState) -> LuaValue { (try? get())?.luaValue(in: state) ?? .nil }

    @inlinable
    public func push(as call: LuaCall) throws(LuaError) -> LuaResults {
        switch self {
        case .success(let value): try value.push(as: call)
        case .failure(let error): call.returns(failure: error)
        }
    }
}
