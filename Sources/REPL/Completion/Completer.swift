import Items
import LineEditor
import Lua
import Scripting
import Wording

/// Completes Lua text at a cursor. It runs no code of scripts and never fails: tables are read raw, and calls have
/// their declared result types.
struct Completer {
    let host: ScriptHost
    /// The session's locals.
    let locals: LuaTable?
    /// The source texts of functions, for their signatures.
    let functions: FunctionTexts
    static let candidateLimit = 500

    /// The candidates at a cursor, an offset in bytes; nil without any.
    func complete(_ text: String, _ cursor: Int) -> CompletionResult? {
        let bytes = Array(text.utf8)
        let cursor = min(max(cursor, 0), bytes.count)
        let before = Array(bytes[..<cursor])
        if let result = CommandCompletion(self).complete(before) { return result }
        let lua = LuaText(bytes: before)
        let after = cursor < bytes.count ? bytes[cursor] : nil
        if let last = lua.all.last {
            if case .comment(isClosed: false) = last.kind { return nil }
            if case .string(isClosed: false) = last.kind {
                return StringCompletion(self, lua, closing: last, after: after).result
            }
            if last.kind == .number, last.range.upperBound == cursor { return nil }
        }
        var start = cursor
        while start > 0, LuaName.isPart(before[start - 1]) { start -= 1 }
        if start < cursor, LuaLexer.isDigit(before[start]) { return nil }
        let word = String(decoding: before[start...], as: UTF8.self)
        let count = lua.tokens.prefix { $0.range.upperBound <= start }.count
        let resolver = ExpressionResolver(host, locals: locals, lua: lua, before: count)
        let candidates =
            lua.isToken(count - 1, ".") || lua.isToken(count - 1, ":")
            ? members(resolver, word, count - 1, after) : names(resolver, word, count, after)
        return result(candidates, start..<cursor)
    }

    func result(_ candidates: [Candidate], _ range: Range<Int>) -> CompletionResult? {
        candidates.isEmpty
            ? nil
            : CompletionResult(replacement: range, candidates: Array(candidates.prefix(Self.candidateLimit)))
    }

    // MARK: Members

    private func members(
        _ resolver: ExpressionResolver, _ word: String, _ separator: Int, _ after: UInt8?
    ) -> [Candidate] {
        let target = resolver.expression(endingAt: separator - 1)
        let isColon = resolver.lua.isToken(separator, ":")
        let all = MemberList(resolver: resolver).members(of: target, beginning: word)
        let fitting = all.filter { isColon ? $0.kind == .method || $0.kind == .function : $0.kind != .method }
        let found = Matching.filter(fitting, by: word) { $0.name }
        let shown = found.isEmpty && !isColon ? Matching.filter(all, by: word) { $0.name } : found
        return shown.sorted { Matching.isBefore($0.name, $1.name) }.map { candidate($0, after) }
    }

    func candidate(_ member: Member, _ after: UInt8?) -> Candidate {
        let call = after == UInt8(ascii: "(") ? "" : "("
        switch member.knowledge {
        case .function(let declaration, _):
            let signature = declaration.signature().dropFirst(declaration.name.count)
            let closed = declaration.parameters.isEmpty && !call.isEmpty ? "()" : call
            return Candidate(
                member.name, kind: member.kind == .method ? .method : .function, detail: String(signature),
                suffix: closed, documentation: member.documentation)
        case .value(let value):
            return candidate(member.name, value, call)
        case .type(let type):
            return Candidate(member.name, kind: .field, detail: type.name, documentation: member.documentation)
        default: return Candidate(member.name, kind: .field, documentation: member.documentation)
        }
    }

    /// A candidate for an existing value.
    func candidate(_ name: String, _ value: LuaValue, _ call: String) -> Candidate {
        switch value {
        case .function(let function):
            let described = functions.describe(function, named: name)
            return Candidate(
                name, kind: .function, detail: described.parameters, suffix: call,
                documentation: described.documentation)
        case .table(let table):
            let declaration = host.state.declarations[name, .module]
            if let declaration { return Candidate(name, kind: .module, documentation: declaration.documentation) }
            return Candidate(name, kind: .variable, detail: "table", documentation: table.count.counted("element"))
        case .userdata(let userdata):
            let documentation = host.state.declarations[userdata.className ?? "", .class]?.documentation ?? ""
            return Candidate(
                name, kind: .variable, detail: userdata.className ?? "userdata", documentation: documentation)
        case .string(let string):
            return Candidate(name, kind: .variable, detail: "string of \(string.bytes.count.counted("byte"))")
        case .boolean(let flag): return Candidate(name, kind: .variable, detail: flag ? "true" : "false")
        case .integer(let number): return Candidate(name, kind: .variable, detail: "\(number)")
        case .number(let number): return Candidate(name, kind: .variable, detail: LuaValueText.text(number))
        case .thread: return Candidate(name, kind: .variable, detail: "coroutine")
        case .nil: return Candidate(name, kind: .variable)
        }
    }

    // MARK: Names

    private func names(
        _ resolver: ExpressionResolver, _ word: String, _ end: Int, _ after: UInt8?
    ) -> [Candidate] {
        let lua = resolver.lua
        // The position of a new name.
        if lua.isToken(end - 1, "local") || lua.isToken(end - 1, "for") || lua.isToken(end - 1, "goto")
            || lua.isToken(end - 1, "::")
        {
            return Matching.filter(lua.isToken(end - 1, "local") ? ["function"] : [], by: word) { $0 }
                .map { Candidate($0, kind: .keyword) }
        }
        if let options = options(resolver, word, end, after), !options.isEmpty { return options }
        var candidates: NameTable<Candidate> = [:]
        let call = after == UInt8(ascii: "(") ? "" : "("
        for (name, value) in RawAccess.fields(of: host.state.globals, limit: 20_000, depth: 1, beginning: word)
        where LuaName.isValid(name) {
            if let declared = host.state.declarations[name, .global], let function = declared.functions.first {
                candidates[name] = Candidate(
                    name, kind: .function, detail: String(function.signature().dropFirst(function.name.count)),
                    suffix: call, documentation: declared.documentation)
            } else {
                candidates[name] = candidate(name, value, call)
            }
        }
        if let locals {
            for (name, value) in RawAccess.fields(of: locals, limit: 5000, depth: 1, beginning: word) {
                candidates[name] = candidate(name, value, call)
            }
        }
        for name in resolver.names.origins.keys where Matching.matches(name, word) && name != word {
            candidates[name] = Candidate(name, kind: .variable, detail: "local")
        }
        if !word.isEmpty {
            for keyword in LuaName.keywords where Matching.matches(keyword, word) {
                candidates[keyword] = Candidate(keyword, kind: .keyword)
            }
        }
        return Matching.filter(Array(candidates.values), by: word) { $0.text }
            .filter { !word.isEmpty || !$0.text.hasPrefix("_") }
            .sorted { Matching.isBefore($0.text, $1.text) }
    }

    /// The field names of a table constructor in an argument; nil elsewhere.
    private func options(
        _ resolver: ExpressionResolver, _ word: String, _ end: Int, _ after: UInt8?
    ) -> [Candidate]? {
        let lua = resolver.lua
        guard lua.isToken(end - 1, "{") || lua.isToken(end - 1, ",") || lua.isToken(end - 1, ";"),
            let context = CallContext(in: lua, before: end), let table = context.table,
            case .function(let declaration, let owner) = resolver.callee(context),
            context.argument < declaration.parameters.count
        else { return nil }
        let parameter = declaration.parameters[context.argument]
        var options: [LuaParameter] = []
        for type in parameter.type.alternatives {
            switch type {
            case .options(let fields), .record(_, let fields): options += fields
            default: break
            }
        }
        // An item's fields include custom ones.
        let takesFields = owner?.name == "items" || owner?.name == "Query" || owner?.name == "Item"
        if takesFields, parameter.name == "fields" {
            let declared = Set(options.map(\.name) + ["itemKey"])
            options += host.items.fieldNames.filter { !declared.contains($0) && LuaName.isValid($0) }.map {
                LuaParameter($0, .any, "A field of an item.")
            }
        }
        let written = Set((table..<end).compactMap { lua.isToken($0 + 1, "=") ? lua.name($0) : nil })
        let left = options.filter { !written.contains($0.name) }
        return Matching.filter(left, by: word) { $0.name }.map {
            Candidate(
                $0.name, kind: .key, detail: $0.type.name, suffix: after == UInt8(ascii: "=") ? "" : " = ",
                documentation: $0.documentation)
        }
    }
}

extension ExpressionResolver {
    /// The callee of a call; a callable module is its own function.
    func callee(_ context: CallContext) -> Knowledge {
        let target = expression(endingAt: context.calleeEnd)
        if case .value(.table(let table)) = target, let declaration = declaration(of: table),
            let call = declaration.functions.first(where: { $0.name.isEmpty })
        {
            return .function(call, owner: declaration)
        }
        return target
    }
}
