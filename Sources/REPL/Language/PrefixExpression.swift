/// An expression that can be indexed or called, `items:query("…").first`, as its base and its steps.
struct PrefixExpression {
    enum Base: Equatable {
        case name(String)
        case string
        /// The tokens between a pair of parentheses.
        case group(Range<Int>)
    }

    enum Step: Equatable {
        case field(String)
        case method(String)
        /// The tokens of the arguments, without their brackets.
        case call(Range<Int>)
        case index(Range<Int>)
    }

    var base: Base
    var steps: [Step] = []

    /// The expression that ends with a token; nil when there is none.
    static func ending(at end: Int, in lua: LuaText) -> PrefixExpression? { endingWithStart(at: end, in: lua)?.0 }

    /// The expression that ends with a token, and its first token.
    private static func endingWithStart(at end: Int, in lua: LuaText) -> (PrefixExpression, Int)? {
        var index = end
        var steps: [Step] = []
        while index >= 0 {
            if let name = lua.name(index) {
                guard lua.isToken(index - 1, ".", ":") else {
                    return (PrefixExpression(base: .name(name), steps: steps.reversed()), index)
                }
                steps.append(lua.isToken(index - 1, ".") ? .field(name) : .method(name))
                index -= 2
            } else if lua.tokens[index].isString {
                guard isOperand(index - 1, lua) else {
                    return (PrefixExpression(base: .string, steps: steps.reversed()), index)
                }
                steps.append(.call(index..<index + 1))
                index -= 1
            } else {
                guard let open = lua.opening(of: index) else { return nil }
                guard isOperand(open - 1, lua) else {
                    guard lua.isToken(index, ")") else { return nil }
                    return (PrefixExpression(base: .group(open + 1..<index), steps: steps.reversed()), open)
                }
                // A table constructor includes its brackets; arguments and indexes do not.
                let inner = lua.isToken(index, "}") ? open..<index + 1 : open + 1..<index
                steps.append(lua.isToken(index, "]") ? .index(inner) : .call(inner))
                index = open - 1
            }
        }
        return nil
    }

    /// The expression that fills a range of tokens; nil for sums and the like.
    static func filling(_ range: Range<Int>, in lua: LuaText) -> PrefixExpression? {
        guard let last = range.last, last < lua.tokens.count else { return nil }
        guard let (found, first) = endingWithStart(at: last, in: lua), first == range.lowerBound else { return nil }
        return found
    }

    /// The expression at the start of a range of tokens: in `items[1] or x` it is `items[1]`.
    static func beginning(_ range: Range<Int>, in lua: LuaText) -> PrefixExpression? {
        for end in range.reversed() where end < lua.tokens.count {
            if let (found, first) = endingWithStart(at: end, in: lua), first == range.lowerBound { return found }
        }
        return nil
    }

    /// Whether the expression ending with this token can be called or indexed.
    private static func isOperand(_ index: Int, _ lua: LuaText) -> Bool {
        guard lua.tokens.indices.contains(index) else { return false }
        let token = lua.tokens[index]
        if token.kind == .name || token.isString { return true }
        return lua.isToken(index, ")", "]")
    }
}

/// The call whose argument contains a position.
struct CallContext {
    /// The last token of the callee.
    let calleeEnd: Int
    /// The argument's index from 0.
    let argument: Int
    /// The tokens of the arguments so far.
    let arguments: Range<Int>
    /// The bracket of the table constructor around the position, when that is the argument itself.
    let table: Int?

}

extension CallContext {
    /// The innermost call around the position before a token; nil when there is none, or a bracket of another kind is
    /// nearer.
    init?(in lua: LuaText, before end: Int) {
        var open: [(index: Int, commas: Int)] = []
        for index in 0..<min(end, lua.tokens.count) {
            if lua.opens(index) {
                open.append((index, 0))
            } else if lua.closes(index) {
                _ = open.popLast()
            } else if lua.isToken(index, ","), !open.isEmpty {
                open[open.count - 1].commas += 1
            }
        }
        // `print "text` has no bracket.
        let last = open.last
        if end < lua.tokens.count, lua.tokens[end].isString, Self.isCallee(end - 1, lua),
            last.map({ $0.index < end - 1 }) ?? true
        {
            self.init(calleeEnd: end - 1, argument: 0, arguments: end..<end, table: nil)
            return
        }
        guard let last else { return nil }
        if lua.isToken(last.index, "{") {
            if Self.isCallee(last.index - 1, lua) {
                self.init(calleeEnd: last.index - 1, argument: 0, arguments: last.index..<end, table: last.index)
            } else if open.count > 1, lua.isToken(open[open.count - 2].index, "("),
                lua.isToken(last.index - 1, "(", ","),
                Self.isCallee(open[open.count - 2].index - 1, lua)
            {
                let call = open[open.count - 2]
                self.init(
                    calleeEnd: call.index - 1, argument: call.commas, arguments: call.index + 1..<end, table: last.index
                )
            } else {
                return nil
            }
            return
        }
        guard lua.isToken(last.index, "("), Self.isCallee(last.index - 1, lua) else { return nil }
        self.init(
            calleeEnd: last.index - 1, argument: last.commas, arguments: last.index + 1..<max(end, last.index + 1),
            table: nil)
    }

    private static func isCallee(_ index: Int, _ lua: LuaText) -> Bool {
        lua.isName(index) && !lua.isToken(index - 1, "function") || lua.isToken(index, ")", "]")
    }
}
