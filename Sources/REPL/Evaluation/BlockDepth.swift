/// How deep the next line of an unfinished chunk stands: two columns for each block and bracket that is open.
enum BlockDepth {
    private static let openers: Set<Substring> = ["do", "then", "function", "repeat", "else"]
    private static let closers: Set<Substring> = ["end", "until", "elseif", "else"]

    static func indentation(after text: String) -> Int {
        var depth = 0
        for line in text.split(separator: "\n") {
            var rest = line[...]
            while let character = rest.first {
                if character == "-", rest.hasPrefix("--") { break }
                if character == "\"" || character == "'" {
                    rest = skipString(rest, character)
                } else if character.isLetter || character == "_" {
                    let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                    // `else` closes one block and opens another.
                    if closers.contains(word) { depth -= 1 }
                    if openers.contains(word) { depth += 1 }
                    rest = rest.dropFirst(word.count)
                } else {
                    if "({[".contains(character) { depth += 1 }
                    if ")}]".contains(character) { depth -= 1 }
                    rest = rest.dropFirst()
                }
            }
        }
        return max(0, depth) * 2
    }

    /// How deep a line stands that ends a block; nil for one that does not.
    static func indentation(ofClosing line: String, after before: String) -> Int? {
        let word = line.drop(while: \.isWhitespace)
        guard closers.contains(word) || [")", "}", "]"].contains(word) else { return nil }
        return max(0, indentation(after: before) - 2)
    }

    private static func skipString(_ text: Substring, _ quote: Character) -> Substring {
        var rest = text.dropFirst()
        while let character = rest.first {
            rest = rest.dropFirst(character == "\\" ? 2 : 1)
            if character == quote { break }
        }
        return rest
    }
}
