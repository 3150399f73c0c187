/// The indentation of the next line of an unfinished chunk: two columns for each line that leaves blocks or brackets
/// open.
enum BlockDepth {
    private static let openers: Set<String> = ["do", "then", "function", "repeat", "else"]
    private static let closers: Set<String> = ["end", "until", "elseif", "else"]

    /// The columns of a line after a text.
    static func indentation(after text: String) -> Int {
        let lua = LuaText(text)
        // A long string or comment keeps the user's indentation.
        switch lua.all.last?.kind {
        case .string(isClosed: false)?: return 0
        case .comment(isClosed: false)? where lua.bytes[lua.all[lua.all.count - 1].range].contains(0x0A): return 0
        default: break
        }
        // The indentation of each open block's line; blocks opened on one line count once, as in f(function().
        var open: [(line: Int, columns: Int)] = []
        var line = 0
        var scanned = 0
        for token in lua.tokens {
            while scanned < token.range.lowerBound {
                if lua.bytes[scanned] == 0x0A { line += 1 }
                scanned += 1
            }
            guard token.kind == .keyword || token.kind == .symbol else { continue }
            let word = lua.text(token)
            if closers.contains(word) || [")", "}", "]"].contains(word) { _ = open.popLast() }
            if openers.contains(word) || ["(", "{", "["].contains(word) {
                let base = open.last
                let columns = base.map { $0.line == line ? $0.columns : $0.columns + 2 } ?? 0
                open.append((line, columns))
            }
        }
        return open.last.map { $0.columns + 2 } ?? 0
    }

    /// The indentation of a line that ends a block; nil for other lines.
    static func indentation(ofClosing line: String, after before: String) -> Int? {
        let lua = LuaText(line)
        guard let first = lua.tokens.first, first.kind == .keyword || first.kind == .symbol else { return nil }
        let word = lua.text(first)
        guard closers.contains(word) || [")", "}", "]"].contains(word) else { return nil }
        return max(0, indentation(after: before) - 2)
    }
}
