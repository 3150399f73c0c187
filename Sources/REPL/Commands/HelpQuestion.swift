/// `?items`, `items?` and `??total`: a question about a name, or with two marks about its source.
struct HelpQuestion: Equatable {
    /// The subject of the question.
    let subject: String
    /// Whether it is about the source.
    let wantsSource: Bool

    /// Nil for other entries: Lua has no question marks outside strings.
    init?(_ text: String) {
        var rest = text[...]
        while rest.first?.isWhitespace ?? false { rest = rest.dropFirst() }
        while rest.last?.isWhitespace ?? false { rest = rest.dropLast() }
        guard !rest.contains(where: \.isNewline) else { return nil }
        let leading = rest.prefix { $0.is("?") }.count
        let trailing = leading > 0 ? 0 : rest.reversed().prefix { $0.is("?") }.count
        guard leading + trailing > 0, leading + trailing <= 2 else { return nil }
        rest = rest.dropFirst(leading).dropLast(trailing)
        while rest.first?.isWhitespace ?? false { rest = rest.dropFirst() }
        // `x = "what?` is an unfinished string, not a question.
        if trailing > 0, let last = LuaLexer.tokens(String(rest)).last {
            if case .string(isClosed: false) = last.kind { return nil }
            if last.isComment { return nil }
        }
        subject = String(rest)
        wantsSource = leading + trailing == 2
    }
}
