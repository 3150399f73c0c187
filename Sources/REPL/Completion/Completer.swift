import Items
package import LineEditor
import Lua
package import Scripting

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
        let after = cursor < bytes.count ? bytes[cursor] : nil
        if SQLEntry.isLikely(String(decoding: before, as: UTF8.self), isDefined: isDefined, in: host.state) {
            return SQLCompletion(host, before: before, after: after).result
        }
        let lua = LuaText(bytes: before)
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
            lua.isToken(count - 1, ".", ":")
            ? members(resolver, word, count - 1, after) : names(resolver, word, count, after)
        return Self.result(candidates, start..<cursor)
    }

    private func isDefined(_ name: String) -> Bool {
        !host.state.globals[name].isNil || locals.map { !$0[name].isNil } ?? false
    }

    static func result(_ candidates: [CompletionCandidate], _ range: Range<Int>) -> CompletionResult? {
        if candidates.isEmpty { return nil }
        return CompletionResult(replacement: range, candidates: Array(candidates.prefix(candidateLimit)))
    }

    // MARK: Members

    private func members(
        _ resolver: ExpressionResolver, _ word: String, _ separator: Int, _ after: UInt8?
    ) -> [CompletionCandidate] {
        let target = resolver.expression(endingAt: separator - 1)
        let isColon = resolver.lua.isToken(separator, ":")
        let all = MemberList(resolver: resolver).members(of: target, beginning: word)
        let fitting = all.filter { isColon ? $0.kind == .method || $0.kind == .function : $0.kind != .method }
        let found = Matching.filter(fitting, by: word) { $0.name }
        let shown = found.isEmpty && !isColon ? Matching.filter(all, by: word) { $0.name } : found
        return shown.sorted { Matching.isBefore($0.name, $1.name) }.map { candidate($0, after) }
    }

    func candidate(_ member: Member, _ after: UInt8?) -> CompletionCandidate {
        let call = after == UInt8(ascii: "(") ? "" : "("
        switch member.knowledge {
        case .function(let declaration, _):
            let closed = declaration.parameters.isEmpty && !call.isEmpty ? "()" : call
            return CompletionCandidate(
                member.name, kind: member.kind == .method ? .method : .function, detail: declaration.parametersText,
                suffix: closed, documentation: member.documentation)
        case .value(let value):
            return candidate(member.name, value, call)
        case .type(let type):
            return CompletionCandidate(
                member.name, kind: .field, detail: type.name, documentation: member.documentation)
        default: return CompletionCandidate(member.name, kind: .field, documentation: member.documentation)
        }
    }

    /// A candidate for an existing value.
    func candidate(_ name: String, _ value: LuaValue, _ call: String) -> CompletionCandidate {
        switch value {
        case .function(let function):
            let described = functions.describe(function, named: name)
            return CompletionCandidate(
                name, kind: .function, detail: described.parameters, suffix: call,
                documentation: described.documentation)
        case .table(let table):
            let declaration = host.state.declarations[name, .module]
            if let declaration {
                return CompletionCandidate(name, kind: .module, documentation: declaration.documentation)
            }
            return CompletionCandidate(
                name, kind: .variable, detail: "table", documentation: table.count.counted("element"))
        case .userdata(let userdata):
            let documentation = host.state.declarations[userdata.className ?? "", .class]?.documentation ?? ""
            return CompletionCandidate(
                name, kind: .variable, detail: userdata.className ?? "userdata", documentation: documentation)
        case .string(let string):
            return CompletionCandidate(name, kind: .variable, detail: "string of \(string.bytes.count.counted("byte"))")
        case .boolean(let flag): return CompletionCandidate(name, kind: .variable, detail: flag ? "true" : "false")
        case .integer(let number): return CompletionCandidate(name, kind: .variable, detail: "\(number)")
        case .number(let number): return CompletionCandidate(name, kind: .variable, detail: LuaValueText.text(number))
        case .thread: return CompletionCandidate(name, kind: .variable, detail: "coroutine")
        case .nil: return CompletionCandidate(name, kind: .variable)
        }
    }

    // MARK: Names

    private func names(
        _ resolver: ExpressionResolver, _ word: String, _ end: Int, _ after: UInt8?
    ) -> [CompletionCandidate] {
        let lua = resolver.lua
        // The position of a new name.
        if lua.isToken(end - 1, "local", "for", "goto", "::") {
            return lua.isToken(end - 1, "local") ? Matching.candidates(["function"], by: word, kind: .keyword) : []
        }
        if let options = options(resolver, word, end, after), !options.isEmpty { return options }
        var candidates: NameTable<CompletionCandidate> = [:]
        let call = after == UInt8(ascii: "(") ? "" : "("
        for (name, value) in RawAccess.fields(of: host.state.globals, limit: 20_000, depth: 1, beginning: word)
        where LuaName.isValid(name) {
            if let declared = host.state.declarations[name, .global], let function = declared.functions.first {
                candidates[name] = CompletionCandidate(
                    name, kind: .function, detail: function.parametersText,
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
            candidates[name] = CompletionCandidate(name, kind: .variable, detail: "local")
        }
        if !word.isEmpty {
            for keyword in LuaName.keywords where Matching.matches(keyword, word) {
                candidates[keyword] = CompletionCandidate(keyword, kind: .keyword)
            }
        }
        return Matching.filter(Array(candidates.values), by: word) { $0.text }
            .filter { !word.isEmpty || !$0.text.hasPrefix("_") }
            .sorted { Matching.isBefore($0.text, $1.text) }
    }

    /// The field names of a table constructor in an argument; nil elsewhere.
    private func options(
        _ resolver: ExpressionResolver, _ word: String, _ end: Int, _ after: UInt8?
    ) -> [CompletionCandidate]? {
        let lua = resolver.lua
        guard lua.isToken(end - 1, "{", ",", ";"),
            let context = CallContext(in: lua, before: end), let table = context.table,
            case .function(let declaration, let owner) = resolver.callee(context),
            context.argument < declaration.parameters.count
        else { return nil }
        let parameter = declaration.parameters[context.argument]
        var options = parameter.type.fields
        // An item's fields include custom ones.
        let takesFields = owner?.name == "items" || owner?.name == "Query" || owner?.name == "Item"
        if takesFields, parameter.name == "fields" {
            let declared = Set(options.map(\.name) + ["itemKey"])
            let texts = host.items.fieldDocumentation
            options += host.items.fieldNames.filter { !declared.contains($0) && LuaName.isValid($0) }.map {
                LuaParameter($0, .any, texts[$0] ?? "A field of an item.")
            }
        }
        let written = Set((table..<end).compactMap { lua.isToken($0 + 1, "=") ? lua.name($0) : nil })
        let left = options.filter { !written.contains($0.name) }
        return Matching.filter(left, by: word) { $0.name }.map {
            CompletionCandidate(
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

/// Completes the prompt's commands, their arguments, and questions with `?`.
struct CommandCompletion {
    private let completer: Completer

    init(_ completer: Completer) { self.completer = completer }

    /// Nil for Lua.
    func complete(_ bytes: [UInt8]) -> CompletionResult? {
        let text = String(decoding: bytes, as: UTF8.self)
        let marks = bytes.prefix { $0 == UInt8(ascii: "?") || $0 == 0x20 }.count
        if bytes.first == UInt8(ascii: "?") { return shifted(String(decoding: bytes[marks...], as: UTF8.self), marks) }
        guard let command = CommandLine.parse(text) else { return nil }
        guard bytes.count > command.nameRange.upperBound else {
            let word = command.name
            let found = Command.all.filter { $0.name.hasPrefix(word) }.map {
                CompletionCandidate(
                    $0.name, label: ":" + $0.name, kind: .command, detail: $0.arguments,
                    suffix: $0.arguments.isEmpty ? "" : " ", documentation: $0.documentation)
            }
            return Completer.result(found, command.nameRange.lowerBound + 1..<bytes.count)
        }
        let rest = String(decoding: bytes[command.restOffset...], as: UTF8.self)
        switch Command.named(command.name)?.completion {
        case .words(let words)?:
            let found = Matching.candidates(words, by: rest, kind: .string)
            return Completer.result(found, command.restOffset..<bytes.count)
        case .files?: return FileCompletion().result(text, cursor: bytes.count)
        case .fields?:
            let word = rest.split(separator: " ", omittingEmptySubsequences: false).last ?? ""
            let known = ChosenColumns.known(completer.host)
            let found = Matching.candidates(known, by: String(word), kind: .field, suffix: " ")
            return Completer.result(found, bytes.count - word.utf8.count..<bytes.count)
        case .lua?: return shifted(rest, command.restOffset)
        case .nothing?, nil: return CompletionResult(replacement: bytes.count..<bytes.count, candidates: [])
        }
    }

    private func shifted(_ text: String, _ offset: Int) -> CompletionResult? {
        guard let inner = completer.complete(text, text.utf8.count) else {
            return CompletionResult(replacement: offset..<offset, candidates: [])
        }
        return CompletionResult(
            replacement: inner.replacement.lowerBound + offset..<inner.replacement.upperBound + offset,
            candidates: inner.candidates)
    }
}

/// Completes Lua text in a function at a break: its variables come first.
package struct BreakCompletion {
    private let completer: Completer
    private let names: Set<String>

    /// - Parameters:
    ///   - host: the host of the script.
    ///   - stop: the break.
    ///   - call: the function's position among the calls.
    package init(_ host: ScriptHost, at stop: ScriptBreak, in call: Int) {
        self.init(host, at: stop, in: call, FunctionTexts(host))
    }

    /// The same with a prompt's texts of functions.
    init(_ host: ScriptHost, at stop: ScriptBreak, in call: Int, _ functions: FunctionTexts) {
        let variables = stop.stop.upvalues(of: call) + stop.stop.locals(of: call)
        let locals = host.state.makeTable()
        for variable in variables { locals[variable.name] = variable.value }
        names = Set(variables.map(\.name))
        completer = Completer(host: host, locals: locals, functions: functions)
    }

    /// The candidates at a cursor, an offset in bytes; nil without any.
    package func complete(_ text: String, _ cursor: Int) -> CompletionResult? {
        guard let found = completer.complete(text, cursor) else { return nil }
        let own = found.candidates.filter { names.contains($0.text) }
        let rest = found.candidates.filter { !names.contains($0.text) }
        return CompletionResult(replacement: found.replacement, candidates: own + rest)
    }
}

/// Matches names by prefix; case is ignored when there is no exact match.
enum Matching {
    static func matches(_ name: String, _ word: String) -> Bool {
        var ours = name.utf8.makeIterator()
        for byte in word.utf8 {
            guard let other = ours.next(), fold(other) == fold(byte) else { return false }
        }
        return true
    }

    /// The elements with the word as prefix; without any, those that match in another case.
    static func filter<Element>(_ elements: [Element], by word: String, name: (Element) -> String) -> [Element] {
        guard !word.isEmpty else { return elements }
        let exact = elements.filter { name($0).utf8.starts(with: word.utf8) }
        return exact.isEmpty ? elements.filter { matches(name($0), word) } : exact
    }

    /// The names that match a word, as candidates of one kind.
    static func candidates(
        _ names: [String], by word: String, kind: CompletionCandidate.Kind, detail: String = "", suffix: String = ""
    ) -> [CompletionCandidate] {
        filter(names, by: word) { $0 }.map { CompletionCandidate($0, kind: kind, detail: detail, suffix: suffix) }
    }

    /// Orders names alphabetically without case; names with a leading underscore come last.
    static func isBefore(_ a: String, _ b: String) -> Bool {
        let hidden = (a.hasPrefix("_"), b.hasPrefix("_"))
        if hidden.0 != hidden.1 { return hidden.1 }
        let folded = (a.lowercased(), b.lowercased())
        return folded.0 == folded.1 ? a < b : folded.0 < folded.1
    }

    private static func fold(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }
}
