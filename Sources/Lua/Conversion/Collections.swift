import Wording

/// A sequence from 1. It is a copy: a change in Lua does not appear in Swift, nor a change in Swift in Lua.
extension Array: LuaRepresentable where Element: LuaRepresentable {
    public static var luaType: LuaType { .array(Element.luaType) }

    public static func fromLua(_ value: LuaValue) throws(LuaMismatch) -> [Element] {
        guard case .table(let table) = value else { throw LuaMismatch(luaType, value) }
        var elements: [Element] = []
        let count = table.rawCount
        elements.reserveCapacity(Swift.min(count, 1 << 16))
        for position in stride(from: 1, through: count, by: 1) {
            do throws(LuaMismatch) {
                elements.append(try Element.fromLua(table.rawGet(.integer(Int64(position)))))
            } catch { throw error.at("element \(position)") }
        }
        return elements
    }

    public func luaValue(in state: LuaState) -> LuaValue {
        let table = state.makeTable(array: count)
        for (position, element) in enumerated() {
            table.rawSet(.integer(Int64(position + 1)), element.luaValue(in: state))
        }
        return .table(table)
    }
}

/// A table of named fields; other keys are refused. It is a copy, as for arrays.
extension Dictionary: LuaRepresentable where Key == String, Value: LuaRepresentable {
    public static var luaType: LuaType { .table }

    public static func fromLua(_ value: LuaValue) throws(LuaMismatch) -> [String: Value] {
        guard case .table(let table) = value else { throw LuaMismatch(luaType, value) }
        var fields: [String: Value] = [:]
        var mismatch: LuaMismatch?
        do {
            try table.forEach { key, value in
                guard let name = key.textValue else {
                    mismatch = LuaMismatch("names as keys expected, got \(key.typeName.withArticle)")
                    return false
                }
                do throws(LuaMismatch) { fields[name] = try Value.fromLua(value) } catch {
                    mismatch = error.at("field '\(name)'")
                    return false
                }
                return true
            }
        } catch { mismatch = LuaMismatch("\(error)") }
        if let mismatch { throw mismatch }
        return fields
    }

    public func luaValue(in state: LuaState) -> LuaValue {
        let table = state.makeTable(fields: count)
        for (name, value) in self { table.rawSet(.text(name), value.luaValue(in: state)) }
        return .table(table)
    }
}
