import Items
import Lua
import PropertyList
import SQLite
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
        case .rows(let rows): return plain(rows)
        case .date(let date): return .date(date)
        case .wideInteger(let number): return .integer(number)
        case .contents(let contents): return plain(contents, &seen)
        case .image, .plot, .other: break
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

    /// The rows of a statement, with all columns in its order.
    private func plain(_ rows: SQLRows) -> PlainValue {
        .array(
            (0..<rows.count).map { row in
                .object(
                    rows.columns.enumerated().map { column, name in
                        rows.withCell(row, column) { cell in
                            switch cell {
                            case .null: (name, .null)
                            case .integer(let number): (name, .integer(Int128(number)))
                            case .real(let number): (name, .number(number))
                            case .text(let bytes), .blob(let bytes): (name, .string(Array(bytes)))
                            }
                        }
                    })
            })
    }

    /// An item's fields, those of the domain first.
    private func plain(_ item: Item) -> PlainValue {
        let names = item.store.schema.names
        let custom = item.store.ordered((try? item.customFieldNames) ?? [])
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

/// Plain values as JSON: dates as ISO 8601 text, invalid UTF-8 as U+FFFD, NaN and infinities as texts, functions and other
/// values without a JSON form as null.
struct PlainValueJSON {
    private var out = JSONText()

    static func text(_ value: PlainValue) -> String {
        var writer = PlainValueJSON()
        writer.write(value, 0)
        return String(decoding: writer.out.bytes, as: UTF8.self)
    }

    private mutating func write(_ value: PlainValue, _ level: Int) {
        switch value {
        case .null, .other: out.append("null")
        case .boolean(let flag): out.append(flag ? "true" : "false")
        case .integer(let number): out.append(String(number))
        case .number(let number): number.isFinite ? out.append("\(number)") : out.string("\(number)")
        case .string(let bytes): out.string(String(decoding: bytes, as: UTF8.self))
        case .date(let date): out.date(date)
        case .array(let elements):
            out.append("[")
            for (index, element) in elements.enumerated() {
                out.next(level + 1, isFirst: index == 0)
                write(element, level + 1)
            }
            out.end("]", level, isEmpty: elements.isEmpty)
        case .object(let entries):
            out.append("{")
            for (index, entry) in entries.enumerated() {
                out.next(level + 1, isFirst: index == 0)
                out.key(entry.key)
                write(entry.value, level + 1)
            }
            out.end("}", level, isEmpty: entries.isEmpty)
        }
    }
}

/// Plain values as CSV: records with a header, other values one for each line.
enum CSVText {
    static func text(_ value: PlainValue) -> String {
        let rows: [PlainValue] = if case .array(let elements) = value { elements } else { [value] }
        var columns: [String] = []
        var known: NameSet = []
        for case .object(let entries) in rows {
            for entry in entries where known.insert(entry.key).inserted { columns.append(entry.key) }
        }
        var lines: [String] = columns.isEmpty ? [] : [columns.map(cell).joined(separator: ",")]
        for row in rows {
            switch row {
            case .object(let entries):
                let values = Dictionary(entries.map { ($0.key, $0.value) }) { first, _ in first }
                lines.append(columns.map { values[$0].map { cell($0) } ?? "" }.joined(separator: ","))
            case .array(let elements): lines.append(elements.map { cell($0) }.joined(separator: ","))
            default: lines.append(cell(row))
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func cell(_ value: PlainValue) -> String {
        switch value {
        case .null, .other: ""
        case .boolean(let flag): flag ? "true" : "false"
        case .integer(let number): String(number)
        case .number(let number): "\(number)"
        case .string(let bytes): cell(String(decoding: bytes, as: UTF8.self))
        case .date(let date): date.exchangeText
        case .array, .object:
            cell(PlainValueJSON.text(value).split(separator: "\n").map(\.trimmed).joined(separator: " "))
        }
    }

    private static func cell(_ text: String) -> String {
        guard text.utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}

extension StringProtocol {
    /// The text without leading and trailing blanks and line breaks.
    var trimmed: String {
        var rest = self[startIndex..<endIndex]
        while rest.first?.isWhitespace == true { rest = rest.dropFirst() }
        while rest.last?.isWhitespace == true { rest = rest.dropLast() }
        return String(rest)
    }
}

/// Plain values as Lua literals.
enum LuaLiteral {
    static func text(_ value: PlainValue, indent: String = "") -> String {
        let inner = indent + "  "
        switch value {
        case .null: return "nil"
        case .boolean(let flag): return flag ? "true" : "false"
        case .integer(let number):
            if number == Int128(Int64.min) { return "math.mininteger" }
            return Int64(exactly: number) == nil ? "plist.integer(\"\(number)\")" : String(number)
        case .number(let number): return self.number(number)
        case .string(let bytes): return LuaString(bytes).quoted()
        case .date(let date): return "date(\"\(date.text)\")"
        case .other(let name): return "nil --[[ \(VisibleText.line(name).split(separator: "]]").joined()) ]]"
        case .array(let elements):
            if elements.isEmpty { return "{}" }
            return wrapped(elements.map { text($0, indent: inner) }, indent)
        case .object(let entries):
            if entries.isEmpty { return "{}" }
            return wrapped(
                entries.map { key, value in
                    let name = LuaName.isValid(key) ? key : "[\(LuaString(key).quoted())]"
                    return "\(name) = \(text(value, indent: inner))"
                }, indent)
        }
    }

    private static func wrapped(_ parts: [String], _ indent: String) -> String {
        let line = "{ \(parts.joined(separator: ", ")) }"
        if line.utf8.count + indent.utf8.count <= 78, !line.contains("\n") { return line }
        return "{\n" + parts.map { "\(indent)  \($0),\n" }.joined() + indent + "}"
    }

    private static func number(_ number: Double) -> String {
        if number.isNaN { return "0/0" }
        if number.isInfinite { return number < 0 ? "-math.huge" : "math.huge" }
        return "\(number)"
    }
}
