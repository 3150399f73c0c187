import Application
import Files
import Items
import LineEditor
import Lua
import PropertyList
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
        if context.table != nil, lua.isToken(index - 1, "="), let option = lua.name(index - 2) {
            return optionValue(option, declaration, owner, context)
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
            return Completer.result(found.candidates, end - found.length..<end)
        case "itemKey", "key": return keys(owner)
        case "path", "file", "folder", "from", "to", "directory": return files
        case "module": return words(modules)
        case "subject": return words(subjects)
        default: return nil
        }
    }

    private func optionValue(
        _ option: String, _ declaration: LuaFunctionDeclaration, _ owner: LuaDeclaration?, _ context: CallContext
    ) -> CompletionResult? {
        let fields = parameter(declaration, context.argument)?.type.fields
        return fields?.first { $0.name == option }.flatMap { argument($0, declaration, owner) }
    }

    // MARK: Candidates

    private typealias Word = (text: String, kind: CompletionCandidate.Kind, documentation: String)

    private func words(_ all: [Word]) -> CompletionResult? {
        let contents = contents
        let found = Matching.filter(all, by: contents) { $0.text }
        let candidates = found.prefix(Completer.candidateLimit).map {
            CompletionCandidate($0.text, kind: $0.kind, suffix: closing, documentation: $0.documentation)
        }
        return Completer.result(Array(candidates), contentStart..<end)
    }

    private func events(_ owner: LuaDeclaration?) -> [Word] {
        EventDeclaration.all.filter { owner == nil || $0.owner.rawValue == owner?.name }
            .map { ($0.name, .event, $0.documentation) }
    }

    private var fields: [Word] {
        let texts = host.items.fieldDocumentation
        return host.items.fieldNames.map { ($0, .field, texts[$0] ?? "") }
    }

    private var modules: [Word] {
        var names: [Word] = []
        if case .table(let package) = host.state.globals["package"],
            case .table(let loaded) = package["loaded"]
        {
            names += RawAccess.fields(of: loaded, limit: 1000, depth: 1).map { ($0.name, .module, "") }
        }
        let known = NameSet(names.map(\.text))
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
        var candidates: [CompletionCandidate] = []
        for position in 0..<host.items.count {
            guard let item = host.items[position], let key = try? item.itemKey, key.utf8.starts(with: prefix.utf8)
            else { continue }
            candidates.append(
                CompletionCandidate(key, kind: .key, detail: item.title ?? "", suffix: closing))
            // A longer list is useless: further typing queries again.
            if candidates.count >= 200 { break }
        }
        return Completer.result(candidates, contentStart..<end)
    }

    private var files: CompletionResult? {
        let found = FileCompletion(host.fence.layer).candidates(contents, closing: closing)
        return Completer.result(found.candidates, end - found.length..<end)
    }
}

/// Completes predicates: fields, operators, and the values of a field.
struct PredicateCompletion {
    private let host: ScriptHost

    private static let operators: [(String, String)] = [
        ("AND", "both"), ("OR", "one of two"), ("NOT", "the opposite"), ("BEGINSWITH", "the text begins so"),
        ("CONTAINS", "the text, or the array, holds it"), ("ENDSWITH", "the text ends so"),
        ("LIKE", "the text matches, * and ? standing for others"),
        ("MATCHES", "the text matches a regular expression"),
        ("IN", "is one of those"), ("BETWEEN", "lies between two, both included"),
        ("ANY", "one element does"), ("ALL", "each element does"), ("TRUEPREDICATE", "everything"),
        ("FALSEPREDICATE", "nothing"), ("nil", "no value"), ("TRUE", "yes"), ("FALSE", "no"),
    ]

    init(_ host: ScriptHost) { self.host = host }

    /// The candidates at the end of a predicate's text, and the number of bytes that they replace.
    func complete(_ text: String) -> (candidates: [CompletionCandidate], length: Int) {
        let bytes = Array(text.utf8)
        if let quoted = openQuote(bytes) { return values(bytes, quoted) }
        var start = bytes.count
        while start > 0, LuaName.isPart(bytes[start - 1]) { start -= 1 }
        let word = String(decoding: bytes[start...], as: UTF8.self)
        // `$name` is a variable; a number is complete.
        if start > 0, bytes[start - 1] == UInt8(ascii: "$") { return ([], 0) }
        if let first = word.utf8.first, LuaLexer.isDigit(first) { return ([], 0) }
        let texts = host.items.fieldDocumentation
        let fields = Matching.filter(host.items.fieldNames, by: word) { $0 }.map {
            CompletionCandidate($0, kind: .field, suffix: " ", documentation: texts[$0] ?? "")
        }
        let operators = Self.operators.filter { !word.isEmpty && Matching.matches($0.0, word) }.map {
            CompletionCandidate($0.0, kind: .keyword, suffix: " ", documentation: $0.1)
        }
        let all = wantsOperator(bytes[..<start]) && !operators.isEmpty ? operators : fields + operators
        return (all, word.utf8.count)
    }

    /// The start of the unclosed string; nil outside strings.
    private func openQuote(_ bytes: [UInt8]) -> Int? {
        var open: Int?
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if let start = open {
                if byte == UInt8(ascii: "\\") { index += 1 } else if byte == bytes[start] { open = nil }
            } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                open = index
            }
            index += 1
        }
        return open
    }

    /// Whether an operator is expected: the last word is a field or a value.
    private func wantsOperator(_ before: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: before, as: UTF8.self)
        guard let last = text.split(whereSeparator: \.isWhitespace).last.map(String.init) else { return false }
        return host.items.fieldNames.contains(last) || last.hasSuffix("'") || last.hasSuffix(")")
            || Double(last) != nil
    }

    /// The values of the field before a quote: `department == 'Ph`.
    private func values(_ bytes: [UInt8], _ quote: Int) -> (candidates: [CompletionCandidate], length: Int) {
        let typed = String(decoding: bytes[(quote + 1)...], as: UTF8.self)
        let before = String(decoding: bytes[..<quote], as: UTF8.self)
        let words = before.split { !($0.isLetter || $0.isNumber || $0.is("_")) }.map(String.init)
        guard let field = words.last(where: { host.items.fieldNames.contains($0) }) else { return ([], 0) }
        var seen: NameSet = []
        let end = String(UnicodeScalar(bytes[quote]))
        let budget = min(host.items.count, 3000)
        for position in 0..<budget {
            guard let item = host.items[position], case .string(let text)? = (try? item.value(forField: field)) ?? nil,
                text.utf8.count <= 60, text.utf8.starts(with: typed.utf8),
                !text.utf8.contains(where: { $0 == bytes[quote] || $0 < 0x20 || $0 == UInt8(ascii: "\\") })
            else { continue }
            seen.insert(text)
            if seen.count >= 100 { break }
        }
        return (
            seen.sorted().map { CompletionCandidate($0, kind: .string, suffix: end) }, typed.utf8.count
        )
    }
}

/// Completes paths of files and folders.
struct FileCompletion {
    private let layer: any FileLayer
    private static let limit = 500

    /// - Parameter layer: all files of the user, or those readable by scripts.
    init(_ layer: any FileLayer = PosixFileLayer()) { self.layer = layer }

    /// The entries that complete a path, and the number of bytes that they replace.
    ///
    /// - Parameters:
    ///   - path: the typed path.
    ///   - closing: the text after a file's name.
    /// - Returns: both; the entries in the folder's order.
    func candidates(_ path: String, closing: String = "") -> (candidates: [CompletionCandidate], length: Int) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path[..<path.utf8.index(after: $0)]) } ?? ""
        let name = slash.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        var target = folder.isEmpty ? "." : folder
        if target.hasPrefix("~/"), let home = ProcessEnvironment.value("HOME") { target = home + target.dropFirst() }
        var shown: [CompletionCandidate] = []
        for entry in ((try? layer.list(target)) ?? []).sorted() where entry.utf8.starts(with: name.utf8) {
            // Hidden entries are shown for a name that begins with a dot.
            if entry.hasPrefix("."), !name.hasPrefix(".") { continue }
            let status = try? layer.status(PathText.join(target, entry))
            let isFolder = status?.kind == .directory
            shown.append(
                CompletionCandidate(
                    entry + (isFolder ? "/" : ""), kind: isFolder ? .folder : .file, suffix: isFolder ? "" : closing))
            if shown.count == Self.limit { break }
        }
        return (shown, name.utf8.count)
    }

    /// The candidates of a command whose argument is a file; nil for any other text.
    func result(_ text: String, cursor: Int) -> CompletionResult? {
        guard let command = CommandLine.parse(text), cursor == text.utf8.count, cursor > command.nameRange.upperBound,
            case .files? = Command.named(command.name)?.completion
        else { return nil }
        let found = candidates(String(decoding: Array(text.utf8)[command.restOffset...], as: UTF8.self))
        return CompletionResult(replacement: cursor - found.length..<cursor, candidates: found.candidates)
    }

    /// The modules that `require` finds in its first folders.
    static func modules(_ host: ScriptHost) -> [String] {
        var names: [String] = []
        let real = PosixFileLayer()
        for folder in host.options.modulePaths + [host.container.scripts] {
            for entry in ((try? real.list(folder)) ?? []).prefix(limit) where entry.hasSuffix(".lua") {
                names.append(String(entry.dropLast(4)))
            }
        }
        return names.filter { $0 != "init" }
    }
}
