import Items
import Lua
package import PropertyList
import SQLite
import Scripting

/// A value as formats write it: without Lua's identities, functions and cycles.
package indirect enum PlainValue {
    case null
    /// The object `null`, which is no nil.
    case nullObject
    case boolean(Bool)
    /// Of up to 128 bits: a property list's may have more than Lua's.
    case integer(Int128)
    case number(Double)
    case string([UInt8])
    /// A text of a property list that is not Unicode.
    case utf16([UInt16])
    case data([UInt8])
    case date(PropertyListDate)
    case uid(UInt32)
    case array([PlainValue])
    case set([PlainValue])
    /// Entries in output order.
    case object([(key: String, value: PlainValue)])
    /// A table with keys that are no texts: the elements from 1 on, and the other entries in output order.
    case table([PlainValue], [(key: PlainValue, value: PlainValue)])
    /// A value that has a description only: a function, an image.
    case other(String)

    /// Why a format for other programs cannot have the value, with the path of the part in question; nil if it can.
    func objection(to format: OutputFormat) -> String? {
        if format == .csv, case .array(let rows) = self, let other = rows.firstIndex(where: { !$0.isObject }),
            rows.contains(where: \.isObject)
        {
            return "[\(other + 1)]: CSV has a header for rows with fields, and this value has none"
        }
        guard let (path, reason) = firstObjection(to: format) else { return nil }
        return path.isEmpty ? reason : "\(path): \(reason)"
    }

    private func firstObjection(to format: OutputFormat) -> (path: String, reason: String)? {
        let title = format == .csv ? "CSV" : format == .json ? "JSON" : "Lua literal"
        switch self {
        case .other(let name): return ("", "\(name) has no \(title)")
        case .string(let bytes) where format != .lua && LuaString(bytes).text == nil:
            return ("", "the string is not UTF-8 text (data(…) holds other bytes)")
        case .uid where format != .lua: return ("", "a UID has no \(title)")
        case .utf16 where format == .csv: return ("", "the text is not Unicode, as texts of CSV are")
        case .number(let number) where format != .lua && !number.isFinite:
            return ("", "\(title) has no \(number.isNaN ? "nan" : "\(number)")")
        case .array(let elements), .set(let elements): return Self.firstObjection(in: elements, to: format)
        case .object(let entries):
            return entries.lazy.compactMap { name, value in
                value.firstObjection(to: format).map {
                    ((LuaName.isValid(name) ? ".\(name)" : "[\(LuaString(name).quoted())]") + $0.path, $0.reason)
                }
            }.first
        case .table(let elements, let entries):
            guard format == .lua else {
                let key = elements.isEmpty ? entries.first { !$0.key.isText }?.key : .integer(1)
                let name = key.map { LuaLiteral.text($0) } ?? "another one"
                return ("", "\(title) has only texts as keys, and the table has \(name)")
            }
            if let found = Self.firstObjection(in: elements, to: format) { return found }
            return entries.lazy.compactMap { key, value in
                if let (_, reason) = key.firstObjection(to: format) { return ("", "a key: \(reason)") }
                return value.firstObjection(to: format).map { ("[\(LuaLiteral.text(key))]\($0.path)", $0.reason) }
            }.first
        default: return nil
        }
    }

    private static func firstObjection(
        in elements: [PlainValue], to format: OutputFormat
    ) -> (path: String, reason: String)? {
        elements.enumerated().lazy.compactMap { place, value in
            value.firstObjection(to: format).map { ("[\(place + 1)]\($0.path)", $0.reason) }
        }.first
    }

    private var isObject: Bool { if case .object = self { true } else { false } }

    fileprivate var isText: Bool { if case .string(let bytes) = self { LuaString(bytes).text != nil } else { false } }
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
        case .contents(let contents):
            guard case .table(let table) = value else { break }
            return plain(contents, ReadOnlyTable.shape(of: table), &seen)
        case .image, .plot, .other: break
        }
        if case .table(let table) = value { return plain(table, ReadOnlyTable.shape(of: table), &seen) }
        if let store = host.state.luaClass(of: ItemStore.self)?.object(of: value) {
            return (try? store.query().all()).map { .array($0.map(plain)) } ?? .other("items")
        }
        if let data = host.values.datas.object(of: value) { return .data(data.bytes) }
        if host.values.nulls.object(of: value) != nil { return .nullObject }
        if let uid = host.state.luaClass(of: UIDValue.self)?.object(of: value) { return .uid(uid.uid) }
        return .other(host.values.className(of: value).withArticle)
    }

    private func plain(_ table: LuaTable, _ shape: ReadOnlyTable.Shape?, _ seen: inout Met) -> PlainValue {
        let count = table.count
        guard let identity = table.identity, seen.open.count < Self.depthLimit || seen.open.contains(identity) else {
            return .other("a table in more than \(Self.depthLimit) others")
        }
        guard seen.enter(identity, count) else {
            return .other(
                seen.open.contains(identity) ? "a table that contains itself" : "a table that is held many times")
        }
        defer { seen.open.remove(identity) }
        var entries: [(key: PlainValue, value: PlainValue)] = []
        try? table.forEach { key, value in
            if case .integer(let index) = key, count > 0, (1...Int64(count)).contains(index) { return true }
            entries.append((plain(key, &seen), plain(value, &seen)))
            return true
        }
        var elements: [PlainValue] = []
        for index in 1..<(count + 1) { elements.append(plain(table[index], &seen)) }
        if entries.isEmpty, shape != .dictionary || count > 0 {
            return shape == .set ? .set(elements) : .array(elements)
        }
        return Self.entries(elements, entries)
    }

    /// Entries, sorted: an object if all of their keys are texts.
    private static func entries(
        _ elements: [PlainValue], _ entries: [(key: PlainValue, value: PlainValue)]
    ) -> PlainValue {
        if elements.isEmpty, entries.allSatisfy(\.key.isText) {
            let named = entries.compactMap { key, value in
                if case .string(let bytes) = key { (key: LuaString(bytes).text ?? "", value: value) } else { nil }
            }
            return .object(named.sorted { $0.key < $1.key })
        }
        let named = entries.map { (name: LuaLiteral.text($0.key), entry: $0) }
        return .table(elements, named.sorted { $0.name < $1.name }.map(\.entry))
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
                            case .text(let bytes): (name, .string(Array(bytes)))
                            case .blob(let bytes): (name, .data(Array(bytes)))
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
        case .utf16(let units): .utf16(units)
        case .integer(let number): .integer(Int128(number))
        case .wideInteger(let number): .integer(number)
        case .real(let number): .number(number)
        case .single(let number): .number(Double(number))
        case .boolean(let flag): .boolean(flag)
        case .date(let date): .date(date)
        case .data(let bytes): .data(bytes)
        case .array(let elements): .array(elements.map(plain))
        case .set(let elements): .set(elements.map(plain))
        case .dictionary(let entries):
            Self.entries([], entries.sortedEntries.map { (key: plain($0.key), value: plain($0.value)) })
        case .uid(let number): .uid(number)
        case .null: .nullObject
        }
    }
}

/// Plain values as JSON, of what the format can have: dates as ISO 8601 text, data in Base64.
package struct PlainValueJSON {
    private var out: JSONText

    static func text(_ value: PlainValue) -> String { String(decoding: bytes(value), as: UTF8.self) }

    /// A value as JSON.
    package static func bytes(_ value: PlainValue, _ layout: JSONText.Layout = .lines) -> [UInt8] {
        var writer = PlainValueJSON(out: JSONText(layout))
        writer.write(value, 0)
        return writer.out.bytes
    }

    private mutating func write(_ value: PlainValue, _ level: Int) {
        switch value {
        case .null, .nullObject, .uid, .table, .other: out.append("null")
        case .boolean(let flag): out.append(flag ? "true" : "false")
        case .integer(let number): out.append(String(number))
        case .number(let number): number.isFinite ? out.append("\(number)") : out.string("\(number)")
        case .string(let bytes): out.string(String(decoding: bytes, as: UTF8.self))
        case .utf16(let units): out.string(units: units)
        case .data(let bytes): out.base64(bytes)
        case .date(let date): out.date(date)
        case .array(let elements), .set(let elements):
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
    private static func rows(of value: PlainValue) -> [PlainValue] {
        switch value {
        case .array(let elements), .set(let elements): elements
        default: [value]
        }
    }

    static func text(_ value: PlainValue) -> String {
        let rows = rows(of: value)
        var columns: [String] = []
        var known: NameSet = []
        for case .object(let entries) in rows {
            for entry in entries where known.insert(entry.key).inserted { columns.append(entry.key) }
        }
        var lines: [String] = columns.isEmpty ? [] : [columns.map(cell).joined(separator: ",")]
        for row in rows {
            switch row {
            case .object(let entries):
                let values: NameTable<PlainValue> = entries.reversed().reduce(into: [:]) { $0[$1.key] = $1.value }
                lines.append(columns.map { values[$0].map { cell($0) } ?? "" }.joined(separator: ","))
            case .array(let elements), .set(let elements):
                lines.append(elements.map { cell($0) }.joined(separator: ","))
            default: lines.append(cell(row))
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func cell(_ value: PlainValue) -> String {
        switch value {
        case .null, .nullObject, .utf16, .uid, .table, .other: ""
        case .boolean(let flag): flag ? "true" : "false"
        case .integer(let number): String(number)
        case .number(let number): "\(number)"
        case .string(let bytes): cell(String(decoding: bytes, as: UTF8.self))
        case .data(let bytes): Base64.text(bytes)
        case .date(let date): date.exchangeText
        case .array, .set, .object:
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

/// Plain values as expressions of Lua, of what the format can have.
enum LuaLiteral {
    static func text(_ value: PlainValue, indent: String = "") -> String {
        let inner = indent + "  "
        switch value {
        case .null, .other: return "nil"
        case .nullObject: return "null"
        case .boolean(let flag): return flag ? "true" : "false"
        case .integer(let number):
            if number == Int128(Int64.min) { return "math.mininteger" }
            return Int64(exactly: number) == nil ? "plist.integer(\"\(number)\")" : String(number)
        case .number(let number): return self.number(number)
        case .string(let bytes): return LuaString(bytes).quoted()
        case .date(let date): return "date(\"\(date.text)\")"
        // As scripts see it.
        case .utf16(let units): return String(decoding: units, as: UTF16.self).quoted()
        case .data(let bytes): return "data(\(LuaString(bytes).quoted()))"
        case .uid(let number): return "plist.uid(\(number))"
        case .array(let elements):
            if elements.isEmpty { return "{}" }
            return wrapped(elements.map { text($0, indent: inner) }, indent)
        case .set(let elements): return "plist.set\(text(.array(elements), indent: indent))"
        case .table(let elements, let entries):
            return wrapped(
                elements.map { text($0, indent: inner) }
                    + entries.map { key, value in
                        if case .string(let bytes) = key, let name = LuaString(bytes).text, LuaName.isValid(name) {
                            return "\(name) = \(text(value, indent: inner))"
                        }
                        return "[\(text(key))] = \(text(value, indent: inner))"
                    }, indent)
        case .object(let entries):
            if entries.isEmpty { return "plist.dictionary{}" }
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
