import Lua

/// The types of a callback's signature: `(item: Item) → boolean`.
struct CallbackSignature {
    let parameters: [LuaType]
    let results: [LuaType]

    init(_ text: String) {
        let characters = Array(text)
        let open = characters.firstIndex(of: "(") ?? 0
        let close = characters.lastIndex(of: ")") ?? 0
        let inner = open < close ? String(characters[open + 1..<close]) : ""
        parameters = Self.list(inner).map { part in
            let pieces = part.split(separator: ":", maxSplits: 1)
            return Self.type(pieces.count > 1 ? String(pieces[1]) : "any")
        }
        let arrow = characters.firstIndex(of: "→")
        results = arrow.map { Self.list(String(characters[($0 + 1)...])).map(Self.type) } ?? []
    }

    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { String($0.drop(while: \.isWhitespace)) }.filter { !$0.isEmpty }
    }

    private static func type(_ text: String) -> LuaType {
        let name = text.split(separator: " ").first.map(String.init) ?? ""
        switch name {
        case "any", "": return .any
        case "boolean": return .boolean
        case "integer": return .integer
        case "number": return .number
        case "string": return .text
        case "table": return .table
        case "function": return .function
        default: return .object(name)
        }
    }
}
