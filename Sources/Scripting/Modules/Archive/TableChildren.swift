import Lua

/// The contents of an archived table in a stable order: remembered keys first, then elements by position, names in byte
/// order, and the rest.
struct TableChildren {
    /// A key, its value, and its place in the table's memory.
    struct Child {
        let key: LuaValue
        let value: LuaValue
        let place: ArchiveMemory.Place?
    }

    private(set) var all: [Child] = []

    init(_ table: LuaTable, _ bridge: ArchiveBridge) {
        let order = bridge.memory(of: table)?.order ?? []
        let keys = bridge.referenceKeys(of: table)
        var seen: Set<ArchiveMemory.Place> = []
        let seenReferences = bridge.state.makeTable()
        for place in order where seen.insert(place).inserted {
            var key = place.lua
            if case .reference(let position) = place, let keys {
                key = keys[.integer(position)]
                seenReferences[key] = true
            }
            let value = key.isNil ? .nil : table[key]
            if !value.isNil { all.append(Child(key: key, value: value, place: place)) }
        }
        let count = table.count
        var rest: [(Rank, Child)] = []
        try? table.forEach { key, value in
            let place = ArchiveMemory.Place(key)
            let isKnown = place.map(seen.contains) ?? (keys != nil && !seenReferences[key].isNil)
            if !isKnown {
                rest.append((Rank(key, count: count, rest.count), Child(key: key, value: value, place: place)))
            }
            return true
        }
        all += rest.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// The sort position of a key.
    private struct Rank: Comparable {
        let group: Int
        let number: Double
        let text: [UInt8]

        init(_ key: LuaValue, count: Int, _ index: Int) {
            var bytes: [UInt8] = []
            switch key {
            case .integer(let position) where position >= 1 && position <= Int64(count):
                (group, number) = (0, Double(position))
            case .integer(let value): (group, number) = (1, Double(value))
            case .number(let value): (group, number) = (1, value)
            case .string(let string):
                (group, number) = (2, 0)
                bytes = string.bytes
            case .boolean(let value): (group, number) = (3, value ? 1 : 0)
            default: (group, number) = (4, Double(index))
            }
            text = bytes
        }

        static func < (a: Rank, b: Rank) -> Bool {
            if a.group != b.group { return a.group < b.group }
            if a.number != b.number { return a.number < b.number }
            return a.text.lexicographicallyPrecedes(b.text)
        }
    }
}
