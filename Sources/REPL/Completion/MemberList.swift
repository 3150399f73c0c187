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
            return event.payload.map {
                Member(name: $0.name, kind: .property, knowledge: .type($0.type), documentation: $0.documentation)
            } + (resolver.declaration(ofClass: "Event").map(members) ?? [])
        case .value(.table(let table)): return members(of: table, beginning: word)
        case .value(.userdata(let userdata)): return userdata.className.map(members(ofClass:)) ?? []
        case .value(.string): return strings
        case .value: return []
        case .type(let type):
            for each in type.alternatives {
                let found = members(ofType: each)
                if !found.isEmpty { return found }
            }
            return []
        }
    }

    private func members(ofType type: LuaType) -> [Member] {
        switch type {
        case .text, .string, .choice: return strings
        case .object(let name): return members(ofClass: name)
        case .record(_, let fields), .options(let fields):
            return fields.map {
                Member(name: $0.name, kind: .property, knowledge: .type($0.type), documentation: $0.documentation)
            }
        default: return []
        }
    }

    private func members(ofClass name: String) -> [Member] {
        guard let declaration = resolver.declaration(ofClass: name) else { return [] }
        var members = members(declaration)
        guard name == "Item" else { return members }
        let declared = Set(members.map(\.name))
        for field in resolver.host.items.fieldNames where !declared.contains(field) && LuaName.isValid(field) {
            members.append(
                Member(name: field, kind: .property, knowledge: .type(.any), documentation: "A custom field."))
        }
        return members
    }

    private func members(_ declaration: LuaDeclaration) -> [Member] {
        let kind: Member.Kind = declaration.kind == .class ? .method : .function
        return declaration.properties.map {
            Member(name: $0.name, kind: .property, knowledge: .type($0.type), documentation: $0.documentation)
        }
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
