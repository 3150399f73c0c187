import Wording

/// The text of a table that was raised as an error: its fields in constructor notation.
///
/// Fields are read without metamethods. Depth, fields and bytes are limited.
struct ErrorTableText {
    private static let depthLimit = 3
    private static let fieldLimit = 20
    private static let byteLimit = 1000
    /// The most entries visited to find the fields.
    private static let visitLimit = 1000

    private let state: LuaState
    /// Whether `__tostring` of tables is called.
    private let callsMetamethods: Bool
    private var text = ""

    private init(_ state: LuaState, callsMetamethods: Bool) {
        (self.state, self.callsMetamethods) = (state, callsMetamethods)
    }

    static func describe(_ table: LuaTable, in state: LuaState) -> String {
        var writer = ErrorTableText(state, callsMetamethods: true)
        writer.write(table, depth: 0)
        return writer.text
    }

    /// Any value, without code of scripts.
    static func describe(_ value: LuaValue, in state: LuaState) -> String {
        var writer = ErrorTableText(state, callsMetamethods: false)
        writer.write(value, depth: 0)
        return writer.text
    }

    private var isFull: Bool { text.utf8.count >= Self.byteLimit }

    private mutating func write(_ table: LuaTable, depth: Int) {
        guard depth < Self.depthLimit, !isFull else {
            text += "{ … }"
            return
        }
        var named: [(name: String, value: LuaValue)] = []
        var elements: [LuaValue] = []
        let count = Int64(table.rawCount)
        for index in 0..<min(count, Int64(Self.fieldLimit)) { elements.append(table.rawGet(.integer(index + 1))) }
        var hasMore = count > Int64(elements.count)
        var visits = 0
        try? table.forEach { key, value in
            visits += 1
            if case .integer(let index) = key, index >= 1, index <= count, visits < Self.visitLimit { return true }
            guard named.count < Self.fieldLimit, visits < Self.visitLimit else {
                hasMore = true
                return false
            }
            named.append((label(key), value))
            return true
        }
        named.sort { $0.name < $1.name }
        var separator = " "
        text += "{"
        for (name, value) in elements.map({ ("", $0) }) + named {
            if isFull {
                hasMore = true
                break
            }
            text += separator + (name.isEmpty ? "" : name + " = ")
            write(value, depth: depth + 1)
            separator = ", "
        }
        if hasMore { text += separator + "…" }
        text += elements.isEmpty && named.isEmpty ? "}" : " }"
    }

    private mutating func write(_ value: LuaValue, depth: Int) {
        switch value {
        case .table(let table):
            if callsMetamethods, let metatable = table.metatable, !metatable.rawGet("__tostring").isNil {
                text += state.describe(value).description
            } else {
                write(table, depth: depth)
            }
        case .string(let string): text += Self.quoted(string.description)
        default: text += callsMetamethods ? state.describe(value).description : plain(value)
        }
    }

    /// A value that is no table, without a call: while a script is being stopped, none is possible.
    private func plain(_ value: LuaValue) -> String {
        switch value {
        case .boolean(let value): String(value)
        case .integer(let value): String(value)
        case .number(let value): String(value)
        default: value.typeName
        }
    }

    private func label(_ key: LuaValue) -> String {
        guard let name = key.textValue else {
            return "[\(callsMetamethods ? state.describe(key).description : plain(key))]"
        }
        let isName =
            !name.isEmpty && !(name.utf8.first.map { (0x30...0x39).contains($0) } ?? true)
            && name.utf8.allSatisfy { $0 == 0x5F || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) }
        return isName ? name : "[\(Self.quoted(name))]"
    }

    private static func quoted(_ text: String) -> String { VisibleText.escaped(text.prefix(200).quoted()) }
}
