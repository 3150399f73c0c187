import Lua
import PropertyList
import Wording

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
