import Lua
import Scripting

/// What can be said of a name or an expression without running it.
struct HelpText {
    private let host: ScriptHost
    private let functions: FunctionTexts

    init(_ host: ScriptHost, _ functions: FunctionTexts) {
        self.host = host
        self.functions = functions
    }

    /// A subject: a declared name, an event, an error's code, a command, or an expression.
    func text(_ subject: String, locals: LuaTable?) -> String? {
        if subject.hasPrefix(":"), let command = Command.named(String(subject.dropFirst())) {
            return ":\(command.name) \(command.arguments)\n  \(command.documentation)\n"
        }
        let bare = subject.split(separator: "\"").joined()
        if let found = LuaLibrary.functions[bare] { return describe(found, bare) }
        // A script's own value comes before a member of the same name somewhere else.
        let lua = LuaText(subject)
        let resolver = ExpressionResolver(host, locals: locals, lua: lua, before: lua.tokens.count)
        let known = resolver.expression(endingAt: lua.tokens.count - 1)
        if case .value(let value) = known, let own = ofFunction(value, name: subject) { return own }
        if let found = host.helpText(on: subject) { return found }
        if let found = ErrorCodes.text(bare) { return found }
        return describe(known, subject, resolver)
    }

    /// A function that a script defined: where, its parameters, and the comment above it.
    func ofFunction(_ value: LuaValue, name: String = "") -> String? {
        guard case .function(let function) = value else { return nil }
        let last = name.split(whereSeparator: { $0 == "." || $0 == ":" }).last.map(String.init) ?? ""
        let description = functions.describe(function, named: last)
        guard let place = description.place else { return nil }
        var text = "\(name.isEmpty ? "function" : name)\(description.parameters)\n"
        for line in description.documentation.split(separator: "\n") { text += "  \(line)\n" }
        return text + "  defined at \(place)\n"
    }

    /// The lines of a function's definition; nil when its source is not known.
    func source(_ value: LuaValue) -> String? {
        guard case .function(let function) = value else { return nil }
        let place = function.place
        guard !place.isNative, let first = host.sources.line(place.line, of: place.source) else { return nil }
        var text = "-- \(place.source):\(place.line)\n\(first)\n"
        var number = place.line
        // The definition ends where it can be compiled; its first line may hold more than itself.
        while depth(of: text) > 0, let next = host.sources.line(number + 1, of: place.source) {
            number += 1
            text += "\(next)\n"
            if number - place.line > 2000 { break }
        }
        return text
    }

    private func depth(of text: String) -> Int { BlockDepth.indentation(after: text) }

    private func describe(_ function: LuaFunctionDeclaration, _ path: String) -> String {
        let signature = function.signature().dropFirst(function.name.count)
        return "\(path)\(signature)\n  \(function.documentation)\n"
    }

    private func describe(_ known: Knowledge, _ subject: String, _ resolver: ExpressionResolver) -> String? {
        switch known {
        case .unknown: return nil
        case .function(let function, let owner):
            return owner.flatMap { host.helpText(on: "\($0.name).\(function.name)") } ?? describe(function, subject)
        case .event(let event): return host.helpText(on: event.name)
        case .type(let type):
            for case .object(let name) in type.alternatives { return host.helpText(on: name) }
            return "\(subject): \(type.name)\n"
        case .value(let value): return describe(value, subject, resolver)
        }
    }

    private func describe(_ value: LuaValue, _ subject: String, _ resolver: ExpressionResolver) -> String? {
        switch value {
        case .userdata(let userdata):
            return userdata.className.flatMap { host.helpText(on: $0) }
        case .table(let table):
            let members = MemberList(resolver: resolver).members(of: .value(value))
            let names = members.map(\.name).sorted { Matching.isBefore($0, $1) }
            let shown = names.prefix(40).joined(separator: ", ") + (names.count > 40 ? ", …" : "")
            return "\(subject): a table of \(table.rawCount) elements and \(names.count) fields\n"
                + (shown.isEmpty ? "" : "  \(shown)\n")
        case .nil: return nil
        default: return "\(subject): a \(value.typeName), \(ValuePrinter(host).describe(value))\n"
        }
    }
}
