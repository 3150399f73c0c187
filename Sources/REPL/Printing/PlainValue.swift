import Items
import Lua
import PropertyList
import Scripting

/// A value that any format can represent: without Lua's identities, functions and cycles.
indirect enum PlainValue: Equatable {
    case null
    case boolean(Bool)
    /// Of up to 128 bits: a property list's may have more than Lua's.
    case integer(Int128)
    case number(Double)
    case string([UInt8])
    case date(PropertyListDate)
    case array([PlainValue])
    /// Entries in output order.
    case object([(key: String, value: PlainValue)])
    /// A value with a name only: a function, an image.
    case other(String)

    static func == (a: PlainValue, b: PlainValue) -> Bool { LuaLiteral.text(a) == LuaLiteral.text(b) }
}

/// Converts Lua values into plain ones.
struct PlainValues {
    let host: ScriptHost
    private static let depthLimit = 100

    func plain(_ value: LuaValue) -> PlainValue {
        var seen = Met()
        return plain(value, &seen)
    }

    /// The tables in progress, the tables seen, and the number of values.
    private struct Met {
        var open: Set<UnsafeRawPointer> = []
        private var all: Set<UnsafeRawPointer> = []
        private var own = 0
        private var visited = 0

        /// Enters a table of this many values; false when it must not be unfolded again.
        mutating func enter(_ identity: UnsafeRawPointer, _ count: Int) -> Bool {
            visited += count + 1
            if all.insert(identity).inserted { own += count + 1 }
            guard visited <= ConversionBudget.unfolded(from: own, atMost: ConversionBudget.valueLimit) else {
                return false
            }
            return !Interruption.isDue && open.insert(identity).inserted
        }
    }

    private func plain(_ value: LuaValue, _ seen: inout Met) -> PlainValue {
        switch value {
        case .nil: return .null
        case .boolean(let flag): return .boolean(flag)
        case .integer(let number): return .integer(Int128(number))
        case .number(let number): return .number(number)
        case .string(let string): return .string(string.bytes)
        default: break
        }
        switch host.inspect(value) {
        case .item(let item): return plain(item)
        case .items(let items): return .array(items.map(plain))
        case .query(let query):
            guard let items = try? query.all() else { return .other("query") }
            return .array(items.map(plain))
        case .date(let date): return .date(date)
        case .wideInteger(let number): return .integer(number)
        case .contents(let contents): return plain(contents, &seen)
        case .image, .other: break
        }
        if case .table(let table) = value { return plain(table, &seen) }
        return .other(host.state.describe(value).description)
    }

    private func plain(_ table: LuaTable, _ seen: inout Met) -> PlainValue {
        let count = table.count
        guard let identity = table.identity, seen.open.count < Self.depthLimit else {
            return .other("a table that contains itself")
        }
        guard seen.enter(identity, count) else {
            return .other(
                seen.open.contains(identity) ? "a table that contains itself" : "a table that is held many times")
        }
        defer { seen.open.remove(identity) }
        var entries: [(key: String, value: PlainValue)] = []
        try? table.forEach { key, value in
            if case .integer(let index) = key, count > 0, (1...Int64(count)).contains(index) { return true }
            let name =
                if case .number(let number) = key { LuaValueText.text(number) } else {
                    host.state.describe(key).description
                }
            entries.append((key.textValue ?? name, plain(value, &seen)))
            return true
        }
        var elements: [PlainValue] = []
        for index in 1..<(count + 1) { elements.append(plain(table[index], &seen)) }
        if entries.isEmpty { return .array(elements) }
        entries.sort { $0.key < $1.key }
        return .object(elements.enumerated().map { (String($0.offset + 1), $0.element) } + entries)
    }

    /// An item's fields, those of the domain first.
    private func plain(_ item: Item) -> PlainValue {
        let names = ["name", "serialNumber", "valueInDollars", "dateCreated", "itemKey"]
        let custom = ((try? item.customFieldNames) ?? []).sorted()
        return .object(
            (names + custom).compactMap { name in
                guard let value = (try? item.value(forField: name)) ?? nil else { return nil }
                return (name, plain(value))
            })
    }

    /// The value of a field.
    func plain(_ value: PropertyListValue) -> PlainValue {
        switch value {
        case .string(let text): .string(Array(text.utf8))
        case .utf16: .string(Array((value.text ?? "").utf8))
        case .integer(let number): .integer(Int128(number))
        case .wideInteger(let number): .integer(number)
        case .real(let number): .number(number)
        case .single(let number): .number(Double(number))
        case .boolean(let flag): .boolean(flag)
        case .date(let date): .date(date)
        case .data(let bytes): .string(Array(bytes))
        case .array(let elements), .set(let elements): .array(elements.map(plain))
        case .dictionary(let entries):
            .object(entries.sortedEntries.map { (key: $0.key.keyText, value: plain($0.value)) })
        case .uid(let number): .other("UID \(number)")
        case .null: .null
        }
    }
}
