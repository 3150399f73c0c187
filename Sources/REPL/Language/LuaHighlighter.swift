import LineEditor

/// Syntax highlighting of Lua text. Linear in the text.
enum LuaHighlighter {
    private static let constants: Set<String> = ["nil", "true", "false"]

    /// - Parameters:
    ///   - text: the entry: Lua, or a command of the prompt.
    ///   - isKnown: whether a name is a global, which then has its own style.
    /// - Returns: the spans in the order of the text; nested ones follow.
    static func spans(_ text: String, isKnown: (String) -> Bool = { _ in false }) -> [Span] {
        if let command = CommandLine.parse(text) {
            var spans = [Span(command.nameRange, .keyword)]
            if !command.rest.isEmpty {
                let offset = command.restOffset
                spans += self.spans(command.rest, isKnown: isKnown).map {
                    Span($0.range.lowerBound + offset..<$0.range.upperBound + offset, $0.style)
                }
            }
            return spans
        }
        let lua = LuaText(text)
        var spans: [Span] = []
        spans.reserveCapacity(lua.all.count)
        var previous: LuaToken?
        for (index, token) in lua.all.enumerated() {
            defer { if !token.isComment { previous = token } }
            switch token.kind {
            case .comment: spans.append(Span(token.range, .comment))
            case .string(let isClosed):
                spans.append(Span(token.range, .string))
                spans += escapes(lua.bytes, token.range)
                if !isClosed { spans.append(Span(token.range.lowerBound..<token.range.lowerBound + 1, .error)) }
            case .number: spans.append(Span(token.range, .number))
            case .keyword:
                spans.append(Span(token.range, constants.contains(lua.text(token)) ? .constant : .keyword))
            case .name: spans.append(Span(token.range, style(of: token, index, previous, lua, isKnown)))
            case .symbol: spans.append(Span(token.range, .operator))
            case .unknown: spans.append(Span(token.range, .error))
            }
        }
        return spans
    }

    private static func style(
        of token: LuaToken, _ index: Int, _ previous: LuaToken?, _ lua: LuaText, _ isKnown: (String) -> Bool
    ) -> Style {
        let next = index + 1 < lua.all.count ? lua.all[index + 1] : nil
        let isCalled =
            next.map { next in
                next.isString || (next.kind == .symbol && [0x28, 0x7B].contains(lua.bytes[next.range.lowerBound]))
            } ?? false
        if isCalled { return .function }
        if let previous, previous.kind == .symbol, previous.range.count == 1 {
            let byte = lua.bytes[previous.range.lowerBound]
            if byte == UInt8(ascii: ".") || byte == UInt8(ascii: ":") { return .field }
        }
        return isKnown(lua.text(token)) ? .type : .variable
    }

    private static func escapes(_ bytes: [UInt8], _ range: Range<Int>) -> [Span] {
        guard bytes[range.lowerBound] != UInt8(ascii: "["), bytes[range].contains(UInt8(ascii: "\\")) else { return [] }
        var spans: [Span] = []
        var index = range.lowerBound
        while index < range.upperBound {
            guard bytes[index] == UInt8(ascii: "\\"), index + 1 < range.upperBound else {
                index += 1
                continue
            }
            spans.append(Span(index..<index + 2, .escape))
            index += 2
        }
        return spans
    }
}
