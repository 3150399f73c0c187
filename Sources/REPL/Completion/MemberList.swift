import Items
import Lua
import Scripting

/// The members that can follow the dot or the colon after an expression.
struct MemberList {
    let resolver: ExpressionResolver
    private static let limit = 4000

    /// The members of a resolved expression: all, or of a table those that begin with a word.
    func members(of target: Knowledge, beginning word: String = "") -> [Member] {
        switch target {
        case .unknown, .function: return []
        case .event(let event):
            return event.payload.map { property($0.name, $0.type, $0.documentation) }
                + (resolver.declaration(ofClass: "Event").map(members) ?? [])
        case .value(.table(let table)): return members(of: table, beginning: word)
        case .value(.userdata(let userdata)): return userdata.className.map(members(ofClass:)) ?? []
        case .value(.string): return strings
        case .value: return []
        case .type(let type):
            return type.alternatives.lazy.map { members(ofType: $0) }.first { !$0.isEmpty } ?? []
        }
    }

    private func property(_ name: String, _ type: LuaType, _ documentation: String) -> Member {
        Member(name: name, kind: .property, knowledge: .type(type), documentation: documentation)
    }

    private func members(ofType type: LuaType) -> [Member] {
        switch type {
        case .text, .string, .choice: return strings
        case .object(let name): return members(ofClass: name)
        case .record(_, let fields), .options(let fields):
            return fields.map { property($0.name, $0.type, $0.documentation) }
        default: return []
        }
    }

    private func members(ofClass name: String) -> [Member] {
        guard let declaration = resolver.declaration(ofClass: name) else { return [] }
        let members = members(declaration)
        guard name == "Item" else { return members }
        var fields: NameTable<FieldDeclaration> = [:]
        for field in resolver.host.items.declaredFields { fields[field.name] = field }
        let declared = NameSet(members.map(\.name))
        // What is declared of a property, beside what it is.
        let known = members.map { member in
            guard let field = fields[member.name] else { return member }
            return Member(
                name: member.name, kind: member.kind, knowledge: member.knowledge,
                documentation: "\(member.documentation) \(field.documentation)")
        }
        return known
            + resolver.host.items.fieldNames.filter { !declared.contains($0) && LuaName.isValid($0) }.map { name in
                property(name, fields[name]?.kind.luaType ?? .any, fields[name]?.documentation ?? "A custom field.")
            }
    }

    private func members(_ declaration: LuaDeclaration) -> [Member] {
        let kind: Member.Kind = declaration.kind == .class ? .method : .function
        return declaration.properties.map { property($0.name, $0.type, $0.documentation) }
            + declaration.functions.filter { !$0.name.isEmpty }.map {
                Member(
                    name: $0.name, kind: kind, knowledge: .function($0, owner: declaration),
                    documentation: $0.documentation)
            }
    }

    private func members(of table: LuaTable, beginning word: String = "") -> [Member] {
        let declared = resolver.declaration(of: table).map(members) ?? []
        let names = Set(declared.map(\.name))
        let live = RawAccess.fields(of: table, limit: Self.limit, beginning: word).filter {
            !names.contains($0.name) && LuaName.isValid($0.name)
        }
        let library = resolver.libraryName(of: table)
        return declared
            + live.map { name, value in
                if let library, let known = LuaLibrary.functions["\(library).\(name)"] {
                    return Member(
                        name: name, kind: .function, knowledge: .function(known, owner: nil),
                        documentation: known.documentation)
                }
                let isFunction = if case .function = value { true } else { false }
                return Member(
                    name: name, kind: isFunction ? .function : .value, knowledge: .value(value), documentation: "")
            }
    }

    /// The methods of strings.
    private var strings: [Member] {
        guard case .table(let library) = resolver.host.state.globals["string"] else { return [] }
        return members(of: library).map {
            Member(name: $0.name, kind: .method, knowledge: $0.knowledge, documentation: $0.documentation)
        }
    }
}

extension FieldDeclaration.Kind {
    /// The type of the values in scripts.
    fileprivate var luaType: LuaType {
        switch self {
        case .string: .optional(.text)
        case .integer: .optional(.integer)
        case .real, .number: .optional(.number)
        case .boolean: .optional(.boolean)
        case .date: .optional(.object("date"))
        case .data: .optional(.object("data"))
        case .array, .dictionary, .any: .any
        }
    }
}

/// The static knowledge of an expression.
enum Knowledge {
    case unknown
    /// An existing value.
    case value(LuaValue)
    /// A value of a declared type.
    case type(LuaType)
    /// A declared function and its owner; nil for a global one.
    case function(LuaFunctionDeclaration, owner: LuaDeclaration?)
    /// The argument of this event's handlers.
    case event(EventDeclaration)

    var isUnknown: Bool { if case .unknown = self { true } else { false } }
}

/// A member, after a dot or a colon.
struct Member {
    enum Kind { case property, method, function, value }

    let name: String
    let kind: Kind
    /// Its static knowledge.
    let knowledge: Knowledge
    /// Its declared documentation.
    let documentation: String
}

/// Reads tables without running code of scripts.
enum RawAccess {
    /// A field of a table, or of its `__index` tables; `__index` functions are not called.
    static func field(_ key: LuaValue, of table: LuaTable, limit: Int) -> LuaValue {
        var table = table
        for _ in 0..<limit {
            let value = table[key]
            if !value.isNil { return value }
            guard case .table(let next)? = table.metatable?["__index"] else { return .nil }
            table = next
        }
        return .nil
    }

    /// The number of entries that are looked at, so that a table of many millions does not delay a key.
    private static let visited = 1_000_000

    /// The string keys of a table and of its `__index` tables that begin with a word, nearest first, with their values.
    ///
    /// Their number is limited; a table of more names has those that are asked for by their beginning.
    static func fields(
        of table: LuaTable, limit: Int, depth: Int = 8, beginning word: String = ""
    ) -> [(name: String, value: LuaValue)] {
        var fields: [(String, LuaValue)] = []
        var seen: NameSet = []
        var table = table
        var left = visited
        for _ in 0..<depth {
            try? table.forEach { key, value in
                left -= 1
                if let name = key.textValue, Matching.matches(name, word), seen.insert(name).inserted {
                    fields.append((name, value))
                }
                return fields.count < limit && left > 0
            }
            guard case .table(let next)? = table.metatable?["__index"], fields.count < limit else { break }
            table = next
        }
        return fields
    }
}
