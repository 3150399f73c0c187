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

    /// The innermost call around the position before a token; nil when there is none, or a bracket of another kind is
    /// nearer.
    init?(in lua: LuaText, before end: Int) {
        var open: [(index: Int, commas: Int)] = []
        for index in 0..<min(end, lua.tokens.count) {
            if lua.isToken(index, "(") || lua.isToken(index, "{") || lua.isToken(index, "[") {
                open.append((index, 0))
            } else if lua.isToken(index, ")") || lua.isToken(index, "}") || lua.isToken(index, "]") {
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
                lua.isToken(last.index - 1, "(") || lua.isToken(last.index - 1, ","),
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

    private init(calleeEnd: Int, argument: Int, arguments: Range<Int>, table: Int?) {
        self.calleeEnd = calleeEnd
        self.argument = argument
        self.arguments = arguments
        self.table = table
    }

    private static func isCallee(_ index: Int, _ lua: LuaText) -> Bool {
        lua.isName(index) && !lua.isToken(index - 1, "function") || lua.isToken(index, ")") || lua.isToken(index, "]")
    }
}
