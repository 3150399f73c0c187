import Lua

/// What a table of an archive holds, in a stable order: elements by position, then what it remembers the order of, then
/// names in byte order, then the rest.
struct TableChildren {
    let all: [(key: LuaValue, value: LuaValue)]

    init(_ table: LuaTable, _ bridge: ArchiveBridge) {
        let count = table.rawCount
        var found: [(key: LuaValue, value: LuaValue)] = []
        try? table.forEach { key, value in
            found.append((key, value))
            return true
        }
        var ranks: [ArchiveMemory.Place: Int] = [:]
        for place in bridge.memory(of: table)?.order ?? [] where ranks[place] == nil { ranks[place] = ranks.count }
        let keyed = found.enumerated().map { index, entry in
            (Rank(entry.key, count: count, ranks, index), entry)
        }
        all = keyed.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Where a key comes.
    private struct Rank: Comparable {
        let group: Int
        let number: Int64
        let text: [UInt8]

        init(_ key: LuaValue, count: Int, _ ranks: [ArchiveMemory.Place: Int], _ index: Int) {
            var text: [UInt8] = []
            (group, number) = {
                if case .integer(let position) = key, position >= 1, position <= Int64(count) { return (0, position) }
                if !ranks.isEmpty, let place = ArchiveMemory.Place(key), let rank = ranks[place] {
                    return (1, Int64(rank))
                }
                switch key {
                case .integer(let value): return (2, value)
                case .number(let value): return (3, Int64(value.rounded(.down).clamped))
                case .string(let string):
                    text = string.bytes
                    return (4, 0)
                case .boolean(let value): return (5, value ? 1 : 0)
                default: return (6, Int64(index))
                }
            }()
            self.text = text
        }

        static func < (a: Rank, b: Rank) -> Bool {
            if a.group != b.group { return a.group < b.group }
            if a.number != b.number { return a.number < b.number }
            return a.text.lexicographicallyPrecedes(b.text)
        }
    }
}

extension Double {
    /// The value within the integers of 64 bits.
    fileprivate var clamped: Double { isNaN ? 0 : min(max(self, -9e18), 9e18) }
}
