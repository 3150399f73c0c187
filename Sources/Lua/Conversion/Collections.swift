import Wording

/// A sequence from 1, copied: later changes in Lua do not appear in Swift, nor the reverse.
extension Array: LuaRepresentable where Element: LuaRepresentable {
    public static var luaType: LuaType { .array(Element.luaType) }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .table(let table) = value else { throw LuaMismatch(Self.luaType, value) }
        self = []
        let count = table.count
        reserveCapacity(Swift.min(count, 1 << 16))
        for position in stride(from: 1, through: count, by: 1) {
            do throws(LuaMismatch) {
                append(try Element(lua: table[position]))
            } catch { throw error.at("element \(position)") }
        }
    }

    public func luaValue(in state: LuaState) -> LuaValue {
        let table = state.makeTable(array: count)
        for (position, element) in enumerated() {
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
        self = [:]
        var mismatch: LuaMismatch?
        do {
            try table.forEach { key, value in
                do throws(LuaMismatch) { self[try Self.key(key)] = try Self.field(key, value) } catch {
                    mismatch = error
                    return false
                }
                return true
            }
        } catch { mismatch = LuaMismatch("\(error)") }
        if let mismatch { throw mismatch }
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
        for (key, value) in self { table[key.luaValue(in: state)] = value.luaValue(in: state) }
        return .table(table)
    }
}
