/// `?items`, `items?` and `??total`: questions about a name, or with two marks for its source.
struct HelpQuestion: Equatable {
    /// What is asked about.
    let subject: String
    /// Whether the source is asked for.
    let wantsSource: Bool

    /// Nil for anything else: Lua has no question marks outside of strings.
    init?(_ text: String) {
        var rest = text[...]
        while rest.first?.isWhitespace ?? false { rest = rest.dropFirst() }
        while rest.last?.isWhitespace ?? false { rest = rest.dropLast() }
        guard !rest.contains(where: \.isNewline) else { return nil }
        let leading = rest.prefix { $0 == "?" }.count
        let trailing = leading > 0 ? 0 : rest.reversed().prefix { $0 == "?" }.count
        guard leading + trailing > 0, leading + trailing <= 2 else { return nil }
        rest = rest.dropFirst(leading).dropLast(trailing)
        while rest.first?.isWhitespace ?? false { rest = rest.dropFirst() }
        // `x = "what?` is an unfinished string, and no question.
        if trailing > 0, let last = LuaLexer.tokens(String(rest)).last {
            if case .string(isClosed: false) = last.kind { return nil }
            if last.isComment { return nil }
        }
        subject = String(rest)
        wantsSource = leading + trailing == 2
    }
}
