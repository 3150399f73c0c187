import Items
import LineEditor
package import Lua
package import Scripting

/// Compiles entries, and has what they leave for later ones: expressions return their values, statements run.
package final class Evaluator {
    /// An entry, or the text of a file, from its compilation until ``end(_:with:)``.
    struct RunningEntry {
        let function: LuaFunction
        /// Whether it is SQL.
        let isSQL: Bool
        fileprivate let locals: [String]
        /// Its number; nil for a file.
        fileprivate let number: Int?
    }

    private let host: ScriptHost
    /// Runs the SQL of entries, whatever a script has made of the global `sql`.
    private lazy var sqlFunction = host.state.makeFunction(
        LuaFunctionDeclaration("sql", [LuaParameter("text", .text)])
    ) { [unowned host] call in call.returns(try host.runEntry(sql: call.text(0))) }
    /// The session's locals.
    let scope: SessionScope
    /// The number of entries so far, which is the number of the latest.
    package private(set) var count = 0
    /// Whether entries get numbers. One without a number is `_` all the same, and nothing else of it is kept.
    var isNumbering = true
    /// Maximum number of numbered results; older ones are released.
    private static let resultLimit = 1000

    /// An evaluator on a host.
    package init(_ host: ScriptHost) {
        self.host = host
        scope = SessionScope(host.state)
    }

    /// Runs an entry as an expression if it is one, else as a block.
    ///
    /// Its first result is then `_`, and `_` with the entry's number; an error is `_err`.
    package func evaluate(_ text: String) -> Result<[LuaValue], LuaError> {
        do throws(LuaError) {
            let entry = try begin(text)
            return end(entry, with: host.run(entry.function, isEntry: true))
        } catch { return .failure(error) }
    }

    /// Begins an entry: compiles it and declares its locals. Its function is then run.
    ///
    /// - Parameters:
    ///   - text: the entry.
    ///   - file: the name of the file whose text it is; nil for an entry, which gets the next number.
    ///   - isSQL: whether the user has said that it is SQL.
    /// - Returns: the entry, for ``end(_:with:)``.
    /// - Throws: the error of its syntax, which is `_err`.
    func begin(_ text: String, ofFile file: String? = nil, isSQL: Bool = false) throws(LuaError) -> RunningEntry {
        let isNumbered = file == nil && isNumbering
        if isNumbered { count += 1 }
        let name = file ?? (isNumbered ? "[\(count)]" : "[entry]")
        let number = isNumbered ? count : nil
        host.sources.remember(text, as: name)
        do throws(LuaError) {
            if file == nil, isSQL || self.isSQL(text) {
                let function = try sqlFunction(text, name: "=" + name)
                return RunningEntry(function: function, isSQL: true, locals: [], number: number)
            }
            let (function, locals) = try prepare(Self.withoutEquals(text), name: "=" + name)
            return RunningEntry(function: function, isSQL: false, locals: locals, number: number)
        } catch {
            keep(.failure(error), number: number)
            throw error
        }
    }

    /// Gives a number to what is no entry here and is one elsewhere: a command in the cell of a notebook.
    func passNumber() { count += 1 }

    /// Ends an entry.
    ///
    /// - Returns: its result.
    func end(
        _ entry: RunningEntry, with result: Result<[LuaValue], LuaError>
    ) -> Result<[LuaValue], LuaError> {
        scope.end(entry.locals)
        return keep(result, number: entry.number)
    }

    /// Runs an entry in a function at a break; it has no number.
    func evaluate(_ text: String, at stop: ScriptBreak, in call: Int) -> Result<[LuaValue], LuaError> {
        keep(stop.evaluate(Self.withoutEquals(text), in: call), number: nil)
    }

    /// Stores the first result, or the error, under the names for later entries.
    @discardableResult
    private func keep(
        _ result: Result<[LuaValue], LuaError>, number: Int?
    ) -> Result<[LuaValue], LuaError> {
        let globals = host.state.globals
        switch result {
        case .success(let values):
            guard let first = values.first, !first.isNil else { break }
            globals["_"] = first
            guard let number else { break }
            globals["_\(number)"] = first
            if number > Self.resultLimit { globals["_\(number - Self.resultLimit)"] = .nil }
        case .failure(let error):
            globals["_err"] = host.state.value(of: error) ?? .text(error.message)
        }
        return result
    }

    /// Whether an entry is SQL: it is no Lua, and begins as a statement.
    func isSQL(_ text: String) -> Bool { SQLEntry.isSQL(text, isDefined: isDefined, in: host.state) }

    /// Whether the session has a variable.
    func isDefined(_ name: String) -> Bool { !host.state.globals[name].isNil || !scope.locals[name].isNil }

    /// A function without parameters that runs SQL.
    private func sqlFunction(_ text: String, name: String) throws(LuaError) -> LuaFunction {
        let environment = host.state.makeTable(fields: 2)
        environment["run"] = .function(sqlFunction)
        environment["text"] = .text(text)
        return try host.state.load(Array("return run(text)".utf8), name: name, environment: environment)
    }

    /// Compiles an entry and declares its locals; `scope.end(_:)` must follow its end.
    private func prepare(
        _ entry: String, name: String
    ) throws(LuaError) -> (function: LuaFunction, locals: [String]) {
        let chunk = try host.state.loadEntry(entry, name: name, environment: scope.environment)
        guard let locals = TopLevelLocals(entry) else { return (chunk, []) }
        try scope.begin(locals.names)
        let withLocals = try? host.state.loadEntry(locals.text, name: name, environment: scope.environment)
        return (withLocals ?? chunk, locals.names)
    }

    /// Compiles a chunk like an entry: as an expression if it is one, else as a block.
    ///
    /// - Parameters:
    ///   - chunk: the text, in any encoding.
    ///   - name: the chunk's name.
    ///   - state: the state to load it in.
    /// - Returns: the function.
    /// - Throws: the error of its syntax.
    package static func function(
        of chunk: [UInt8], name: String, in state: LuaState
    ) throws(LuaError) -> LuaFunction {
        var chunk = chunk
        if let place = chunk.firstIndex(where: { $0 != 0x20 && $0 != 0x09 }), chunk[place] == UInt8(ascii: "="),
            !chunk[(place + 1)...].starts(with: "=".utf8)
        {
            chunk[place] = UInt8(ascii: " ")
        }
        // `return` is on the same line, to keep the line numbers.
        if let expression = try? state.load(Array("return ".utf8) + chunk, name: name) { return expression }
        return try state.load(chunk, name: name)
    }

    /// Whether an entry is complete, or continues in the next line.
    static func completeness(of text: String, in state: LuaState, _ sql: ItemSQL) -> InputCompleteness {
        if CommandLine.parse(text) != nil || HelpQuestion(text) != nil { return .complete }
        let entry = withoutEquals(text)
        do throws(LuaError) {
            _ = try state.loadEntry(entry, name: "=stdin", environment: nil)
            return .complete
        } catch {
            guard error.kind == .syntax(incomplete: true) else {
                return SQLEntry.beginsAsStatement(text) ? SQLEntry.completeness(of: text, sql) : .invalid
            }
            return .incomplete(indent: BlockDepth.indentation(after: text))
        }
    }

    /// `=expression`, the syntax of older Lua prompts.
    private static func withoutEquals(_ text: String) -> String {
        let trimmed = text.drop { $0.is(" ") || $0.is("\t") }
        guard trimmed.first == "=", !trimmed.hasPrefix("==") else { return text }
        // A blank keeps the columns.
        return " " + trimmed.dropFirst()
    }
}

/// The top-level locals of entries, kept for the session in a table in front of the globals.
///
/// Without any, entries run on the globals themselves at no cost.
final class SessionScope {
    private let state: LuaState
    /// The locals by name.
    let locals: LuaTable
    /// The declared names: assignments to them are stored in `locals`, nil included.
    private let declared: LuaTable
    /// The names that the running entry declares: until assigned, they keep their previous meaning.
    private let pending: LuaTable
    private(set) var isUsed = false

    init(_ state: LuaState) {
        self.state = state
        locals = state.makeTable()
        declared = state.makeTable()
        pending = state.makeTable()
    }

    /// The environment of an entry; nil for the state's globals.
    var environment: LuaTable? { isUsed ? locals : nil }

    /// Called before an entry that declares these names.
    func begin(_ names: [String]) throws(LuaError) {
        guard !names.isEmpty else { return }
        if !isUsed { try install() }
        for name in names where declared[name].isNil { pending[name] = true }
    }

    /// Called after the entry: names that it did not assign are declared, too.
    func end(_ names: [String]) {
        for name in names where !pending[name].isNil {
            pending[name] = .nil
            declared[name] = true
        }
    }

    /// In Lua, because each access to a global runs it: no call into Swift.
    private func install() throws(LuaError) {
        let source = """
            local locals, declared, pending, globals, setmetatable, rawset = ...
            return setmetatable(locals, {
              __index = function(_, name)
                if declared[name] then return nil end
                return globals[name]
              end,
              __newindex = function(_, name, value)
                if declared[name] then
                  rawset(locals, name, value)
                elseif pending[name] then
                  pending[name], declared[name] = nil, true
                  rawset(locals, name, value)
                else
                  globals[name] = value
                end
              end,
              __metatable = false,
            })
            """
        let chunk = try state.load(Array(source.utf8), name: "=(scope)")
        let globals = state.globals
        try chunk.call(
            .table(locals), .table(declared), .table(pending), .table(globals), globals["setmetatable"],
            globals["rawset"])
        isUsed = true
    }
}

/// The local variables that an entry declares outside any block, and the entry rewritten to keep them.
///
/// `local x = 5` becomes `      x = 5`: the keyword is blanked and positions stay, so that errors refer to the text as
/// typed. A `<close>` variable stays local, because it closes at the entry's end.
struct TopLevelLocals: Equatable {
    let names: [String]
    let text: String

    /// Nil when there are none.
    init?(_ entry: String) {
        guard entry.utf8.count < 1 << 20, entry.contains("local") else { return nil }
        let lua = LuaText(entry)
        var names: [String] = []
        // Removed or blanked bytes, and inserted texts, by position.
        var blanks: [Range<Int>] = []
        var insertions: [(position: Int, text: String)] = []
        var depth = 0
        var index = 0
        while index < lua.tokens.count {
            defer { index += 1 }
            let token = lua.tokens[index]
            guard token.kind == .keyword || token.kind == .symbol else { continue }
            switch lua.text(token) {
            case "do", "then", "function", "repeat", "(", "{", "[": depth += 1
            case "end", "until", "elseif", ")", "}", "]": depth -= 1
            case "local" where depth == 0:
                guard let declared = Declaration(lua, index) else { continue }
                names += declared.names
                blanks.append(token.range)
                blanks += declared.attributes
                if let position = declared.valueless { insertions.append((position, "=nil;")) }
            default: break
            }
        }
        guard !names.isEmpty else { return nil }
        self.names = names
        var bytes = lua.bytes
        for range in blanks { for place in range { bytes[place] = 0x20 } }
        for insertion in insertions.reversed() { bytes.insert(contentsOf: insertion.text.utf8, at: insertion.position) }
        text = String(decoding: bytes, as: UTF8.self)
    }

    /// One `local` statement.
    private struct Declaration {
        var names: [String] = []
        var attributes: [Range<Int>] = []
        /// The position for an inserted value, in a statement without any.
        var valueless: Int?

        init?(_ lua: LuaText, _ start: Int) {
            if lua.isToken(start + 1, "function") {
                guard let name = lua.name(start + 2) else { return nil }
                names = [name]
                return
            }
            var index = start + 1
            while let name = lua.name(index) {
                names.append(name)
                index += 1
                if lua.isToken(index, "<"), let attribute = lua.name(index + 1), lua.isToken(index + 2, ">") {
                    if attribute == "close" { return nil }
                    attributes.append(lua.tokens[index].range.lowerBound..<lua.tokens[index + 2].range.upperBound)
                    index += 3
                }
                guard lua.isToken(index, ",") else { break }
                index += 1
            }
            guard !names.isEmpty else { return nil }
            if !lua.isToken(index, "=") { valueless = lua.tokens[index - 1].range.upperBound }
        }
    }
}

/// A habit of another prompt or language, in an entry that has failed: what to type here instead.
///
/// An entry that is Lua and runs is never looked at.
struct ForeignHabit: Equatable {
    /// The habit, which is mentioned once in a session.
    let name: String
    /// The end of the error's message.
    let hint: String

    /// The habit that an entry's failure shows; nil for others.
    static func found(in entry: String, _ error: LuaError) -> ForeignHabit? {
        switch error.kind {
        case .syntax: ofShell(entry.trimmed) ?? ofCocoa(LuaText(entry)) ?? ofOperators(LuaText(entry))
        case .runtime: ofFunctions(LuaText(entry), error.message)
        default: nil
        }
    }

    // MARK: Lines that are no Lua

    private static func ofShell(_ entry: String) -> ForeignHabit? {
        let word = String(entry.prefix { !$0.isWhitespace })
        let known: [String: String] = [
            "\\d": fields, "\\dt": fields, "\\d+": fields, ".tables": fields, ".schema": fields,
            "\\q": ":quit leaves", ".quit": ":quit leaves", ".exit": ":quit leaves", "\\?": ":help lists the commands",
            ".help": ":help lists the commands", "\\h": ":help lists the commands",
            "\\i": ":load FILE runs a file", "\\e": ":edit opens your editor",
            "\\timing": ":time shows every entry's time",
            ".timer": ":time shows every entry's time", "%timeit": ":bench ENTRY times it",
            "%time": ":time ENTRY times it",
            "%%timeit": ":bench ENTRY times it", "%run": ":load FILE runs a file", "%history": ":history lists entries",
            "%prun": ":profile ENTRY shows where its time goes", "%debug": ":break error breaks at errors",
            "%edit": ":edit opens your editor",
        ]
        if let hint = known[word] { return ForeignHabit(name: word, hint: hint) }
        if word == "show" || word == "describe" || word == "summarize" || word == "from", entry.contains(" ") {
            let hint = "\(fields), items:describe() their values, select * from items shows them"
            return ForeignHabit(name: word, hint: hint)
        }
        if entry.hasPrefix("!"), let next = entry.dropFirst().first, next.isLetter || next == "." || next == "/" {
            let hint = "fs.list(\".\") lists a folder, io.popen(\"…\") runs a program, not x is written with not"
            return ForeignHabit(name: "!", hint: hint)
        }
        return nil
    }

    private static let fields = ":fields lists the items' fields, :columns those of tables"

    // MARK: Calls in Objective-C and Swift

    /// `[coder encodeObject:name forKey:@"name"]`, `coder.encode(name, forKey: "name")`, `let name = …`.
    private static func ofCocoa(_ lua: LuaText) -> ForeignHabit? {
        let tokens = lua.tokens
        if lua.isToken(0, "["), lua.isName(1) || lua.isToken(1, "["),
            tokens.indices.contains(where: { lua.isToken($0, ":") })
        {
            let object = lua.name(1) ?? "object"
            let method = tokens.indices.dropFirst(2).lazy.compactMap { lua.isToken($0 + 1, ":") ? lua.name($0) : nil }
                .first
            return ForeignHabit(
                name: "[",
                hint: "a message of Objective-C is a call with a colon: \(object):\(method ?? "method")(value, key)")
        }
        for index in tokens.indices.dropLast(2) {
            guard lua.isToken(index, "(", ","), let label = lua.name(index + 1),
                lua.isToken(index + 2, ":"), !lua.isToken(index + 4, "(")
            else { continue }
            return ForeignHabit(
                name: "label:", hint: "arguments have no labels: leave out \(label):, and call methods with a colon")
        }
        if lua.name(0) == "let" || lua.name(0) == "var", lua.isName(1) {
            return ForeignHabit(name: "let", hint: "a variable is declared by local, or just assigned")
        }
        return nil
    }

    // MARK: Operators

    private static func ofOperators(_ lua: LuaText) -> ForeignHabit? {
        for (index, token) in lua.tokens.enumerated().dropLast() {
            let next = lua.tokens[index + 1]
            guard token.range.upperBound == next.range.lowerBound else { continue }
            let pair = lua.text(token) + lua.text(next)
            switch pair {
            case "!=", "!==": return ForeignHabit(name: "!=", hint: "unequal is ~=")
            case "&&": return ForeignHabit(name: "&&", hint: "both is written with and")
            case "||": return ForeignHabit(name: "||", hint: "either is written with or")
            case "+=", "-=", "*=", "/=", "%=", "..=":
                guard token.kind == .symbol, next.kind == .symbol else { continue }
                let name = lua.isToken(index - 2, ".") ? nil : lua.name(index - 1)
                return assignment(name ?? "x", String(pair.dropLast()), "…", pair)
            case "++" where index + 2 >= lua.tokens.count || lua.tokens[index + 2].kind == .keyword:
                return assignment(lua.name(index - 1) ?? "x", "+", "1", pair)
            default: continue
            }
        }
        return nil
    }

    private static func assignment(
        _ name: String, _ operation: String, _ operand: String, _ pair: String
    ) -> ForeignHabit {
        ForeignHabit(name: "+=", hint: "there is no \(pair): \(name) = \(name) \(operation) \(operand)")
    }

    // MARK: Functions

    private static func ofFunctions(_ lua: LuaText, _ message: String) -> ForeignHabit? {
        let known = [
            "len": "#", "length": "#", "count": "#", "str": "tostring", "int": "tonumber", "float": "tonumber",
        ]
        if message.contains("global 'from'"), lua.name(0) == "select" {
            let hint = "a file is a table by csv, jsonl, json or xlsx: select * from csv('PATH')"
            return ForeignHabit(name: "from", hint: hint)
        }
        for (name, instead) in known.sorted(by: { $0.key < $1.key }) where message.contains("global '\(name)'") {
            let place = lua.tokens.indices.first { lua.name($0) == name && lua.isToken($0 + 1, "(") }
            // A simple argument is repeated.
            let argument = place.flatMap { lua.isToken($0 + 3, ")") ? lua.name($0 + 2) : nil } ?? "x"
            let text = instead == "#" ? "#\(argument)" : "\(instead)(\(argument))"
            return ForeignHabit(name: name, hint: "\(name)(\(argument)) is \(text)")
        }
        return nil
    }
}
