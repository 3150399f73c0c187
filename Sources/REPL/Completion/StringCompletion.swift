import Application
import Items
import LineEditor
import Lua
import Scripting

/// Completes strings by their purpose: an event's name, a field, a predicate, a file.
struct StringCompletion {
    private let completer: Completer
    private let lua: LuaText
    private let token: LuaToken
    private let after: UInt8?
    private let index: Int
    private let resolver: ExpressionResolver

    init(_ completer: Completer, _ lua: LuaText, closing token: LuaToken, after: UInt8?) {
        self.completer = completer
        self.lua = lua
        self.token = token
        self.after = after
        index = lua.tokens.count - 1
        resolver = ExpressionResolver(
            completer.host, locals: completer.locals, lua: lua, before: lua.tokens.count - 1)
    }

    private var host: ScriptHost { completer.host }
    private var contents: String { lua.stringContents(token) }
    private var end: Int { lua.bytes.count }
    /// The string's terminator: a quote, or a long bracket.
    private var quote: String {
        let opening = lua.bytes[token.range.lowerBound]
        guard opening == UInt8(ascii: "[") else { return String(UnicodeScalar(opening)) }
        let level = lua.bytes[(token.range.lowerBound + 1)...].prefix { $0 == UInt8(ascii: "=") }.count
        return "]" + String(repeating: "=", count: level) + "]"
    }
    private var closing: String { after == quote.utf8.first ? "" : quote }
    private var contentStart: Int {
        let opening = lua.bytes[token.range.lowerBound]
        return token.range.lowerBound + (opening == UInt8(ascii: "[") ? quote.utf8.count : 1)
    }

    var result: CompletionResult? {
        if lua.isToken(index - 1, "["), PrefixExpression.ending(at: index - 2, in: lua) != nil {
            return words(keys(of: resolver.expression(endingAt: index - 2)))
        }
        guard let context = CallContext(in: lua, before: index) else { return nil }
        let callee = resolver.callee(context)
        guard case .function(let declaration, let owner) = callee else { return nil }
        if let table = context.table, lua.isToken(index - 1, "="), let option = lua.name(index - 2) {
            return optionValue(option, declaration, owner, context, table)
        }
        guard let parameter = parameter(declaration, context.argument) else { return nil }
        return argument(parameter, declaration, owner)
    }

    private func parameter(_ declaration: LuaFunctionDeclaration, _ number: Int) -> LuaParameter? {
        if number < declaration.parameters.count { return declaration.parameters[number] }
        guard let last = declaration.parameters.last, case .variadic = last.type else { return nil }
        return last
    }

    private func argument(
        _ parameter: LuaParameter, _ declaration: LuaFunctionDeclaration, _ owner: LuaDeclaration?
    ) -> CompletionResult? {
        for case .choice(let choices) in parameter.type.alternatives { return words(choices.map { ($0, .string, "") }) }
        switch parameter.name {
        case "event": return words(events(owner))
        case "field": return words(fields)
        case "key" where owner?.name == "Item" || owner?.name == "Query" || owner?.name == "Group": return words(fields)
        case "predicate", "format", "text":
            guard ["items", "Query", "predicate"].contains(owner?.name) else { return nil }
            let completion = PredicateCompletion(host)
            let found = completion.complete(contents)
            return completer.result(found.candidates, end - found.length..<end)
        case "itemKey", "key": return keys(owner)
        case "path", "file", "folder", "from", "to", "directory": return files
        case "module": return words(modules)
        case "subject": return words(subjects)
        default: return nil
        }
    }

    private func optionValue(
        _ option: String, _ declaration: LuaFunctionDeclaration, _ owner: LuaDeclaration?, _ context: CallContext,
        _ table: Int
    ) -> CompletionResult? {
        guard let parameter = parameter(declaration, context.argument) else { return nil }
        for type in parameter.type.alternatives {
            switch type {
            case .options(let fields), .record(_, let fields):
                guard let field = fields.first(where: { $0.name == option }) else { continue }
                return argument(field, declaration, owner)
            default: continue
            }
        }
        return nil
    }

    // MARK: Candidates

    private typealias Word = (text: String, kind: Candidate.Kind, documentation: String)

    private func words(_ all: [Word]) -> CompletionResult? {
        let contents = contents
        let found = Matching.filter(all, by: contents) { $0.text }
        let candidates = found.prefix(Completer.candidateLimit).map {
            Candidate($0.text, kind: $0.kind, suffix: closing, documentation: $0.documentation)
        }
        return completer.result(Array(candidates), contentStart..<end)
    }

    private func events(_ owner: LuaDeclaration?) -> [Word] {
        EventDeclaration.all.filter { owner == nil || $0.owner.rawValue == owner?.name }
            .map { ($0.name, .event, $0.documentation) }
    }

    private var fields: [Word] {
        host.items.fieldNames.map { ($0, .field, "") }
    }

    private var modules: [Word] {
        var names: [Word] = []
        if case .table(let package) = host.state.globals["package"],
            case .table(let loaded) = package["loaded"]
        {
            names += RawAccess.fields(of: loaded, limit: 1000, depth: 1).map { ($0.name, .module, "") }
        }
        let known = Set(names.map(\.text))
        names += FileCompletion.modules(host).filter { !known.contains($0) }.map { ($0, .module, "") }
        return names.sorted { $0.text < $1.text }
    }

    private var subjects: [Word] {
        let declarations = host.state.declarations.all
        var names: [Word] = declarations.map { ($0.name, .module, $0.documentation) }
        let separator = contents.contains(":") ? ":" : "."
        if contents.contains(separator) {
            for declaration in declarations {
                for function in declaration.functions where !function.name.isEmpty {
                    names.append(
                        (declaration.name + separator + function.name, .function, function.documentation))
                }
            }
        }
        names += EventDeclaration.all.map { ($0.name, .event, $0.documentation) }
        var seen: NameSet = []
        return names.filter { seen.insert($0.text).inserted }.sorted { $0.text < $1.text }
    }

    private func keys(of target: Knowledge) -> [Word] {
        switch target {
        case .value(.table(let table)):
            return RawAccess.fields(of: table, limit: 5000, beginning: contents).map { ($0.name, .key, "") }
                .sorted { $0.text < $1.text }
        default: return MemberList(resolver: resolver).members(of: target).map { ($0.name, .field, $0.documentation) }
        }
    }

    /// Keys of items in the store's order, with the items' names.
    private func keys(_ owner: LuaDeclaration?) -> CompletionResult? {
        guard owner?.name == "items" || owner?.name == "images" else { return nil }
        let prefix = contents
        var candidates: [Candidate] = []
        for position in 0..<host.items.count {
            guard let item = host.items[position], let key = try? item.itemKey, key.utf8.starts(with: prefix.utf8)
            else { continue }
            candidates.append(
                Candidate(key, kind: .key, detail: (try? item.name) ?? "", suffix: closing))
            // A longer list is useless: further typing queries again.
            if candidates.count >= 200 { break }
        }
        return completer.result(candidates, contentStart..<end)
    }

    private var files: CompletionResult? {
        let found = FileCompletion(host.fence.layer).candidates(contents, closing: closing)
        return completer.result(found.candidates, end - found.length..<end)
    }
}
