import Lua
import PropertyList
import Scripting
import Wording

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
