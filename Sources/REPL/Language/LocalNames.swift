/// The names that a text declares, and their origins.
struct LocalNames {
    enum Origin {
        /// One of the names of a `local` statement or an assignment, with the tokens of the expression list.
        case assigned(position: Int, expressions: Range<Int>)
        /// One of the names of a `for … in`, with the tokens of the iterated expressions.
        case iterated(position: Int, expressions: Range<Int>)
        /// A parameter of the function whose keyword is at this token.
        case parameter(position: Int, function: Int)
        case counter, function
    }

    /// The latest declaration of each name.
    private(set) var origins: [String: Origin] = [:]
    /// Names assigned without `local`: globals of an entry that has not run yet.
    private(set) var assigned: Set<String> = []

    /// Collects the declarations before a token. Ended scopes are not distinguished from open ones.
    init(in lua: LuaText, before end: Int) {
        var index = 0
        let end = min(end, lua.tokens.count)
        while index < end {
            if lua.isToken(index, "local"), lua.isToken(index + 1, "function"), let name = lua.name(index + 2) {
                origins[name] = .function
                index += 2
            } else if lua.isToken(index, "local") {
                index = readLocal(lua, index + 1, end)
                continue
            } else if lua.isToken(index, "for") {
                index = readFor(lua, index + 1, end)
                continue
            } else if lua.isToken(index, "function") {
                readParameters(lua, index, end)
            } else if let name = lua.name(index), lua.isToken(index + 1, "="), isStatement(lua, index),
                index + 2 < end
            {
                origins[name] = .assigned(position: 0, expressions: expressions(lua, index + 2, end))
                assigned.insert(name)
            }
            index += 1
        }
    }

    private func isStatement(_ lua: LuaText, _ index: Int) -> Bool {
        index == 0 || !lua.isToken(index - 1, ",", "{", ".", ":", ";")
    }

    /// Reads the names of a declaration without their attributes, and advances the index past them.
    private func names(_ lua: LuaText, _ index: inout Int, _ end: Int) -> [String] {
        var names: [String] = []
        while index < end, let name = lua.name(index) {
            names.append(name)
            index += 1
            if lua.isToken(index, "<") { index += 3 }
            guard lua.isToken(index, ",") else { break }
            index += 1
        }
        return names
    }

    private mutating func readLocal(_ lua: LuaText, _ start: Int, _ end: Int) -> Int {
        var index = start
        let names = names(lua, &index, end)
        let values = lua.isToken(index, "=") ? expressions(lua, index + 1, end) : index..<index
        for (position, name) in names.enumerated() {
            origins[name] = .assigned(position: position, expressions: values)
        }
        // The expressions may contain functions with parameters.
        return max(index, start)
    }

    private mutating func readFor(_ lua: LuaText, _ start: Int, _ end: Int) -> Int {
        var index = start
        let names = names(lua, &index, end)
        if lua.isToken(index, "in") {
            var last = index + 1
            while last < end, !lua.isToken(last, "do") { last += 1 }
            for (position, name) in names.enumerated() {
                origins[name] = .iterated(position: position, expressions: index + 1..<last)
            }
        } else {
            for name in names { origins[name] = .counter }
        }
        return max(index, start)
    }

    private mutating func readParameters(_ lua: LuaText, _ function: Int, _ end: Int) {
        var index = function + 1
        while index < end, !lua.isToken(index, "(") {
            guard lua.isName(index) || lua.isToken(index, ".", ":") else { return }
            index += 1
        }
        var position = 0
        index += 1
        while index < end, let name = lua.name(index) {
            origins[name] = .parameter(position: position, function: function)
            position += 1
            guard lua.isToken(index + 1, ",") else { return }
            index += 2
        }
    }

    /// The tokens of an expression list, up to the start of the next statement, heuristically.
    private func expressions(_ lua: LuaText, _ start: Int, _ end: Int) -> Range<Int> {
        var depth = 0
        var index = start
        while index < end {
            if lua.opens(index) || lua.isToken(index, "function") {
                depth += 1
            } else if lua.closes(index) || lua.isToken(index, "end") {
                if depth == 0 { break }
                depth -= 1
            } else if depth == 0, index > start, lua.tokens[index].kind == .keyword || lua.isToken(index, ";"),
                !lua.isToken(index, "and", "or", "not")
            {
                break
            } else if depth == 0, index > start, lua.isName(index), lua.endsOperand(index - 1) {
                // Two operands without an operator between them: the start of the next statement.
                break
            }
            index += 1
        }
        return start..<index
    }
}
