import KeyedArchive
import Lua

/// An archived object in one line: `Foo { age = 40, name = "James" }`.
struct ObjectText {
    private let bridge: ArchiveBridge
    private var seen: Set<UnsafeRawPointer> = []

    private static let fieldLimit = 20
    private static let innerLimit = 6
    private static let depthLimit = 2
    private static let textLimit = 60

    init(_ bridge: ArchiveBridge) { self.bridge = bridge }

    /// The text of a table.
    mutating func describe(_ table: LuaTable) -> String { describe(table, depth: 0) }

    private mutating func describe(_ table: LuaTable, depth: Int) -> String {
        let kind = bridge.kind(of: table)
        let name = kind.map { "\($0.archivedClass.name) " } ?? ""
        guard let identity = table.identity, !seen.contains(identity), depth < Self.depthLimit else {
            return name + "{ … }"
        }
        seen.insert(identity)
        defer { seen.remove(identity) }
        let children = TableChildren(table, bridge).all
        var parts: [String] = []
        let limit = depth == 0 ? Self.fieldLimit : Self.innerLimit
        for child in children.prefix(limit) {
            let text = describe(child.value, depth: depth + 1)
            switch child.key {
            case .integer: parts.append(text)
            case .string(let key): parts.append("\(key) = \(text)")
            default: parts.append("[\(bridge.state.describe(child.key))] = \(text)")
            }
        }
        if children.count > limit { parts.append("…") }
        return parts.isEmpty ? name + "{}" : "\(name){ \(parts.joined(separator: ", ")) }"
    }

    private mutating func describe(_ value: LuaValue, depth: Int) -> String {
        switch value {
        case .table(let table):
            if let metatable = table.metatable, bridge.kind(ofMetatable: metatable) == nil,
                !metatable["__tostring"].isNil
            {
                return bridge.state.describe(value).description
            }
            return describe(table, depth: depth)
        case .string(let text):
            let shown = text.description
            return shown.count > Self.textLimit ? "\"\(shown.prefix(Self.textLimit))…\"" : "\"\(shown)\""
        case .number(let number): return LuaValueText.text(number)
        default: return bridge.state.describe(value).description
        }
    }
}
