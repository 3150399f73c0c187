import Lua

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
            guard lua.isToken(index, "(") || lua.isToken(index, ","), let label = lua.name(index + 1),
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
