import Lua

/// Reads tables without running code of scripts.
enum RawAccess {
    /// A field of a table, or of its `__index` tables; `__index` functions are not called.
    static func field(_ key: LuaValue, of table: LuaTable, limit: Int) -> LuaValue {
        var table = table
        for _ in 0..<limit {
            let value = table[key]
            if !value.isNil { return value }
            guard case .table(let next)? = table.metatable?["__index"] else { return .nil }
            table = next
        }
        return .nil
    }

    /// The string keys of a table and of its `__index` tables, nearest first, with their values.
    ///
    /// Their number is limited, so that a table of a million names does not delay a key.
    static func fields(of table: LuaTable, limit: Int, depth: Int = 8) -> [(name: String, value: LuaValue)] {
        var fields: [(String, LuaValue)] = []
        var seen: Set<String> = []
        var table = table
        for _ in 0..<depth {
            try? table.forEach { key, value in
                if let name = key.textValue, seen.insert(name).inserted { fields.append((name, value)) }
                return fields.count < limit
            }
            guard case .table(let next)? = table.metatable?["__index"], fields.count < limit else { break }
            table = next
        }
        return fields
    }
}
