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

    /// The number of entries that are looked at, so that a table of many millions does not delay a key.
    private static let visited = 1_000_000

    /// The string keys of a table and of its `__index` tables that begin with a word, nearest first, with their values.
    ///
    /// Their number is limited; a table of more names has those that are asked for by their beginning.
    static func fields(
        of table: LuaTable, limit: Int, depth: Int = 8, beginning word: String = ""
    ) -> [(name: String, value: LuaValue)] {
        var fields: [(String, LuaValue)] = []
        var seen: NameSet = []
        var table = table
        var left = visited
        for _ in 0..<depth {
            try? table.forEach { key, value in
                left -= 1
                if let name = key.textValue, Matching.matches(name, word), seen.insert(name).inserted {
                    fields.append((name, value))
                }
                return fields.count < limit && left > 0
            }
            guard case .table(let next)? = table.metatable?["__index"], fields.count < limit else { break }
            table = next
        }
        return fields
    }
}
