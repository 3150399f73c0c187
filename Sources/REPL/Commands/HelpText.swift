import Items
import Lua
import Scripting

/// Help on a name or an expression, without running it.
struct HelpText {
    private let host: ScriptHost
    private let functions: FunctionTexts

    init(_ host: ScriptHost, _ functions: FunctionTexts) {
        self.host = host
        self.functions = functions
    }

    /// Help on a subject: a declared name, an event, an error's code, a command, or an expression.
    func text(_ subject: String, locals: LuaTable?) -> String? {
        if subject.hasPrefix(":"), let command = Command.named(String(subject.dropFirst())) {
            return ":\(command.name) \(command.arguments)\n  \(command.documentation)\n"
        }
        let bare = subject.split(separator: "\"").joined()
        if let found = LuaLibrary.functions[bare] { return describe(found, bare) }
        // A script's own value precedes a member of the same name elsewhere.
        let lua = LuaText(subject)
        let resolver = ExpressionResolver(host, locals: locals, lua: lua, before: lua.tokens.count)
        let known = resolver.expression(endingAt: lua.tokens.count - 1)
        if case .value(let value) = known, let own = ofFunction(value, name: subject) { return own }
        if let found = host.helpText(on: subject) { return found }
        if let found = ErrorCodes.text(bare) { return found }
        return describe(known, subject, resolver)
    }

    /// Help on a name without a declaration: a library function, a command, an error's code, a function of the user.
    func ofName(_ name: String, locals: LuaTable?) -> String? {
        guard host.helpText(on: name) == nil else { return nil }
        return text(name, locals: locals) ?? search(name)
    }

    /// Help on a value, or on the name in a text value, without a declaration.
    func ofUndeclared(_ value: LuaValue, locals: LuaTable?) -> String? {
        value.textValue.map { ofName($0, locals: locals) } ?? ofFunction(value)
    }

    /// All names and descriptions that contain every word of a text; nil when there are none.
    func search(_ subject: String) -> String? {
        let words = subject.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
        guard !words.isEmpty else { return nil }
        let rest =
            Command.all.map { (name: ":\($0.name)", text: $0.documentation) }
            + LuaLibrary.functions.map { (name: $0.key, text: $0.value.documentation) }
            + ErrorCodes.meanings.map { (name: $0.key, text: $0.value) }
        let found = (host.helpIndex + rest).filter { entry in
            let text = "\(entry.name) \(entry.text)".lowercased()
            return words.allSatisfy { text.contains($0) }
        }
        guard !found.isEmpty else { return nil }
        // Matching names precede matching descriptions, and prefixes precede both.
        func rank(_ name: String) -> Int {
            guard words.allSatisfy(name.contains) else { return 2 }
            let member = name.prefix { !$0.is("(") }.split { $0.is(".") || $0.is(":") }.last ?? ""
            return words.contains(where: member.hasPrefix) ? 0 : 1
        }
        let sorted = found.sorted { first, second in
            let (one, other) = (first.name.lowercased(), second.name.lowercased())
            return (rank(one), one) < (rank(other), other)
        }
        let width = min(sorted.map(\.name.count).max() ?? 0, 36)
        return sorted.map { "  \($0.name.padded(to: width))  \($0.text)\n" }.joined()
    }

    /// Help on a function of Lua's library or of a script: its place, its parameters, and the comment above it.
    func ofFunction(_ value: LuaValue, name: String = "") -> String? {
        guard case .function(let function) = value else { return nil }
        if function.place.isNative {
            let found = LuaLibrary.functions.first { isValue(value, at: $0.key) }
            return found.map { describe($0.value, $0.key) }
        }
        let last = name.split(whereSeparator: { $0.is(".") || $0.is(":") }).last.map(String.init) ?? ""
        let description = functions.describe(function, named: last)
        guard let place = description.place else { return nil }
        var text = "\(name.isEmpty ? "function" : name)\(description.parameters)\n"
        for line in description.documentation.split(separator: "\n") { text += "  \(line)\n" }
        return text + "  defined at \(place)\n"
    }

    /// Whether a value is the current value of a library's name.
    private func isValue(_ value: LuaValue, at path: String) -> Bool {
        let names = path.split(separator: ".").map(String.init)
        var found = host.state.globals[names[0]]
        for name in names.dropFirst() {
            guard case .table(let table) = found else { return false }
            found = table[name]
        }
        return host.state.areEqual(found, value)
    }

    /// The lines of a function's definition; nil when its source is unknown.
    func source(_ value: LuaValue) -> String? {
        guard case .function(let function) = value else { return nil }
        let place = function.place
        guard !place.isNative, let first = host.sources.line(place.line, of: place.source) else { return nil }
        var text = "-- \(place.source):\(place.line)\n\(first)\n"
        var number = place.line
        // The definition ends where it compiles; its first line may contain other code as well.
        while BlockDepth.indentation(after: text) > 0, let next = host.sources.line(number + 1, of: place.source) {
            number += 1
            text += "\(next)\n"
            if number - place.line > 2000 { break }
        }
        return text
    }

    /// The source of the function that an expression denotes.
    func source(of subject: String, locals: LuaTable?) -> String? {
        let lua = LuaText(subject)
        let resolver = ExpressionResolver(host, locals: locals, lua: lua, before: lua.tokens.count)
        guard case .value(let value) = resolver.expression(endingAt: lua.tokens.count - 1) else { return nil }
        return source(value)
    }

    private func describe(_ function: LuaFunctionDeclaration, _ path: String) -> String {
        "\(path)\(function.parametersText)\n  \(function.documentation)\n"
    }

    private func describe(_ known: Knowledge, _ subject: String, _ resolver: ExpressionResolver) -> String? {
        switch known {
        case .unknown: return nil
        case .function(let function, let owner):
            return owner.flatMap { host.helpText(on: "\($0.name).\(function.name)") } ?? describe(function, subject)
        case .event(let event): return host.helpText(on: event.name)
        case .type(let type):
            // `lamp.price`: what is declared of the field, rather than what its values can.
            if let last = subject.split(whereSeparator: { $0.is(".") }).last, last.count < subject.count,
                let field = host.items.fieldDocumentation[String(last)]
            {
                return "\(subject): \(type.name)\n  \(field)\n"
            }
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
            return "\(subject): a table of \(table.count.counted("element")) and \(names.count.counted("field"))\n"
                + (shown.isEmpty ? "" : "  \(shown)\n")
        case .nil: return nil
        default: return "\(subject): \(value.typeName.withArticle), \(ValuePrinter(host).describe(value))\n"
        }
    }
}

/// `?items`, `items?` and `??total`: a question about a name, or with two marks about its source.
struct HelpQuestion: Equatable {
    /// The subject of the question.
    let subject: String
    /// Whether it is about the source.
    let wantsSource: Bool

    /// Nil for other entries: Lua has no question marks outside strings.
    init?(_ text: String) {
        var rest = text.trimmed[...]
        guard !rest.contains(where: \.isNewline) else { return nil }
        let leading = rest.prefix { $0.is("?") }.count
        let trailing = leading > 0 ? 0 : rest.reversed().prefix { $0.is("?") }.count
        guard leading + trailing > 0, leading + trailing <= 2 else { return nil }
        rest = rest.dropFirst(leading).dropLast(trailing).drop(while: \.isWhitespace)
        // `x = "what?` is an unfinished string, not a question.
        if trailing > 0, let last = LuaLexer.tokens(String(rest)).last {
            if case .string(isClosed: false) = last.kind { return nil }
            if last.isComment { return nil }
        }
        subject = String(rest)
        wantsSource = leading + trailing == 2
    }
}

/// The meanings of error codes: `err.code`.
enum ErrorCodes {
    /// The help on a code; nil for an unknown one.
    static func text(_ code: String) -> String? {
        if let meaning = meanings[code] { return "\(code): an error's code\n  \(meaning)\n" }
        guard let number = Int(code), let meaning = numbers[number] else { return nil }
        return "\(code): an error's code of Cocoa's\n  \(meaning)\n"
    }

    static var all: [String] { meanings.keys.sorted() }

    /// The meanings by code.

    static let meanings: [String: String] = [
        "itemRemoved": "The item was removed from its store; its object has no fields any more.",
        "invalidValue": "A field does not take such a value; the message names the field and what it takes.",
        "readOnlyField": "The field is the store's own: itemKey.",
        "unknownField": "No item has a field of this name.",
        "duplicateKey": "Another item has this itemKey already.",
        "foreignItem": "The item belongs to another store.",
        "positionOutOfRange": "The store has no such position; positions run from 1 to #items.",
        "vetoed": "A will… handler refused the change; the message has its reason.",
        "transactionInProgress": "Not possible inside of a transaction: its changes are not committed yet.",
        "noTransaction": "There is no transaction to end.",
        "corruptArchive": "Documents/items.archive can't be read as a keyed archive of items.",
        "corruptJournal": "Documents/items.journal is damaged before its end.",
        "newerFormat": "A newer Cubby wrote the container; that one opens it, and --read-only shows its last save.",
        "inputOutput": "The system could not read or write a file; err.path names it.",
        "readOnly": "The host was opened with --read-only.", "full": "The store holds as many items as it can.",
        "invalidCSV": "The file is not CSV; the message has the line.",
    ]

    private static let numbers: [Int: String] = [
        2: "POSIX: no such file or directory.", 13: "POSIX: permission denied, by the system or by the sandbox.",
        28: "POSIX: no space left on the device.", 4: "NSFileNoSuchFileError: there is no such file.",
        257: "NSFileReadNoPermissionError: the file may not be read.",
        260: "NSFileReadNoSuchFileError: there is no such file to read.",
        513: "NSFileWriteNoPermissionError: the file may not be written.",
        640: "NSFileWriteOutOfSpaceError: there is no space left.", 4864: "NSCoderReadCorruptError: damaged archive.",
        4865: "NSCoderValueNotFoundError: the archive does not have the value.",
    ]
}
