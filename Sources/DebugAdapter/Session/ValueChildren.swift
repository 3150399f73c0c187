import Items
import Lua
import Scripting

/// A value's children: a table's entries, an item's fields, or an object's properties.
struct ValueChildren {
    /// An entry: its name, and its key in Lua.
    struct Entry {
        let name: String
        let key: LuaValue
    }

    /// Maximum number of a table's named entries that are listed.
    static let limit = 10_000

    let host: ScriptHost
    let stop: ScriptBreak
    private let value: LuaValue
    /// The number of elements, counted from 1.
    let count: Int
    /// The other entries, sorted by name.
    let named: [Entry]
    /// Whether named entries were left out.
    let isCut: Bool

    /// Reads a value's children at a break.
    init(_ value: LuaValue, in host: ScriptHost, at stop: ScriptBreak) {
        self.host = host
        self.stop = stop
        switch value {
        case .table(let given):
            let table = Self.contents(of: given, in: host)
            self.value = .table(table)
            count = table.count
            (named, isCut) = Self.entries(of: table, beyond: count)
        case .userdata(let userdata):
            // A query's children are its items, fetched when it is expanded.
            if case .query = host.inspect(value),
                case .success(.table(let items)) = stop.value(of: "(...):all()", value)
            {
                (self.value, count) = (.table(items), items.count)
                (named, isCut) = ([], false)
            } else {
                (self.value, count) = (value, 0)
                (named, isCut) = (Self.properties(of: userdata, value, in: host), false)
            }
        default:
            (self.value, count) = (value, 0)
            (named, isCut) = ([], false)
        }
    }

    /// Whether a value has children, as far as this is known without running code.
    static func has(_ value: LuaValue, in host: ScriptHost) -> Bool {
        switch value {
        case .table(let given):
            let table = contents(of: given, in: host)
            var isEmpty = true
            try? table.forEach { _, _ in
                isEmpty = false
                return false
            }
            return !isEmpty
        case .userdata(let userdata): return userdata.className != nil
        default: return false
        }
    }

    /// The value of an entry, or the error of reading it.
    func value(of key: LuaValue) -> Result<LuaValue, LuaError> {
        if case .table(let table) = value { return .success(table[key]) }
        return stop.value(of: "(...)[select(2, ...)]", value, key)
    }

    /// The table behind a read-only table of the host; otherwise the table itself.
    static func contents(of table: LuaTable, in host: ScriptHost) -> LuaTable {
        guard table.count == 0, table.metatable != nil, case .contents(let contents) = host.inspect(.table(table))
        else {
            return table
        }
        return contents
    }

    /// A key in the notation of a table constructor: `room`, `["shelf 3"]`, `[true]`.
    static func name(of key: LuaValue) -> String {
        if let name = key.textValue, LuaName.isValid(name) { return name }
        return "[\(literal(key) ?? key.typeName)]"
    }

    /// The expression of an entry: `lamp.room`, `rooms["shelf 3"]`; nil if the key cannot be written.
    static func expression(_ key: LuaValue, of expression: String?) -> String? {
        guard let expression else { return nil }
        if let name = key.textValue, LuaName.isValid(name) { return "\(expression).\(name)" }
        return literal(key).map { "\(expression)[\($0)]" }
    }

    private static func literal(_ key: LuaValue) -> String? {
        switch key {
        case .string(let string): return string.text == nil ? nil : string.quoted()
        case .boolean, .integer, .number:
            var text = LuaValueText()
            return text.describe(key)
        default: return nil
        }
    }

    private static func entries(of table: LuaTable, beyond count: Int) -> ([Entry], isCut: Bool) {
        var entries: [Entry] = []
        var isCut = false
        try? table.forEach { key, _ in
            if case .integer(let index) = key, index >= 1, index <= count { return true }
            isCut = entries.count == limit
            if !isCut { entries.append(Entry(name: name(of: key), key: key)) }
            return !isCut
        }
        return (entries.sorted { $0.name < $1.name }, isCut)
    }

    /// The properties of an object: an item's fields, or those that its class declares.
    private static func properties(of userdata: LuaUserdata, _ value: LuaValue, in host: ScriptHost) -> [Entry] {
        var names: [String]
        if case .item(let item) = host.inspect(value) {
            names = host.items.schema.names
            names += (try? item.customFieldNames) ?? []
        } else {
            let declared = userdata.className.flatMap { host.state.declarations[$0, .class] }
            names = declared?.properties.map(\.name) ?? []
        }
        return names.map { Entry(name: name(of: .text($0)), key: .text($0)) }
    }
}

/// A value in one short line, for a list of variables.
struct ValueText {
    let host: ScriptHost
    let stop: ScriptBreak
    /// Maximum number of elements and of other entries shown.
    private static let entries = 6
    /// Maximum length of the text in characters.
    private static let limit = 200
    /// Maximum length of a string in characters.
    private static let stringLimit = 1000

    /// The text of a value. Script code that it runs has a time limit.
    func describe(_ value: LuaValue) -> String {
        switch value {
        case .table(let table):
            guard let metatable = table.metatable, !metatable["__tostring"].isNil else { return summary(table) }
            switch stop.value(of: "tostring(...)", value) {
            case .success(let text): return cut(text.textValue ?? "table")
            case .failure(let error): return "table (tostring: \(VisibleText.line(error.message)))"
            }
        case .userdata(let userdata) where userdata.className == nil: return "userdata"
        case .userdata, .thread: return cut(host.state.describe(value).description)
        case .string(let string): return string.quoted(limit: Self.stringLimit)
        default: return plain(value)
        }
    }

    /// A value's whole text, for the clipboard.
    func whole(_ value: LuaValue) -> String {
        var limits = LuaValueText.Limits()
        (limits.elements, limits.string, limits.bytes) = (1000, .max, 1 << 20)
        var text = LuaValueText(limits)
        return text.describe(value)
    }

    private func plain(_ value: LuaValue) -> String {
        var text = LuaValueText()
        return text.describe(value)
    }

    private func cut(_ text: String) -> String {
        let text = VisibleText.line(text)
        return text.count > Self.limit ? text.prefix(Self.limit) + "…" : text
    }

    /// `{ 1, 2, … (40 elements), room = "Hall" }`: the first entries, with nested tables as `{…}`.
    private func summary(_ table: LuaTable) -> String {
        let table = ValueChildren.contents(of: table, in: host)
        let count = table.count
        var parts: [String] = []
        for index in 1..<(min(count, Self.entries) + 1) { parts.append(element(table[index])) }
        if count > parts.count { parts.append("… (\(count.counted("element")))") }
        var left = Self.entries
        try? table.forEach { key, value in
            if case .integer(let index) = key, index >= 1, index <= count { return true }
            guard left > 0 else {
                parts.append("…")
                return false
            }
            left -= 1
            parts.append("\(ValueChildren.name(of: key)) = \(element(value))")
            return true
        }
        return parts.isEmpty ? "{}" : cut("{ \(parts.joined(separator: ", ")) }")
    }

    private func element(_ value: LuaValue) -> String {
        switch value {
        case .table: "{…}"
        case .string(let string): string.quoted(limit: 40)
        case .function: "function"
        default: describe(value)
        }
    }
}
