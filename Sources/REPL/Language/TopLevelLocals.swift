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
