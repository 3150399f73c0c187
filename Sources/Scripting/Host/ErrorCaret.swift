/// The position of an error in its source line, derived from the message: Lua's messages have the line only.
package enum ErrorCaret {
    /// The characters that a message refers to; nil if they are not in the line.
    package static func range(of message: String, in line: some StringProtocol) -> Range<Int>? {
        let characters = Array(line)
        // Further lines of the message are an excerpt.
        let message = String(message.prefix { $0 != "\n" })
        if message.hasSuffix("near <eof>") { return characters.count..<characters.count + 1 }
        // Suggested names are quoted as well.
        let statement = message.split(separator: "; did you mean", maxSplits: 1).first.map(String.init) ?? message
        for word in candidates(in: statement) {
            if let found = occurrence(of: Array(word), in: characters) { return found }
        }
        return nil
    }

    /// The quoted words of the message, the last first, and the function at its start.
    private static func candidates(in message: String) -> [String] {
        var quoted = message.split(separator: "'", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        // `near 'end'` of a syntax error, `(global 'x')` of a runtime error: both come last.
        quoted.reverse()
        var words = quoted.filter { !$0.isEmpty && $0.count < 60 }
        // "chunk:1: items:createItem: …" names a method.
        let parts = message.split(separator: ":").map { $0.drop { $0 == " " } }
        for part in parts.dropFirst(2).prefix(2).reversed() {
            let name = part.split(separator: ".").last.map(String.init) ?? ""
            if !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) { words.append(name) }
        }
        return words
    }

    /// The last whole-word occurrence that is a call, else the first occurrence.
    private static func occurrence(of word: [Character], in line: [Character]) -> Range<Int>? {
        var found: Range<Int>?
        var start = 0
        while start + word.count <= line.count {
            defer { start += 1 }
            guard line[start..<start + word.count].elementsEqual(word) else { continue }
            let before = start > 0 ? line[start - 1] : " "
            let after = start + word.count < line.count ? line[start + word.count] : " "
            let isName = word.first.map(isPart) ?? false
            if isName, isPart(before) || isPart(after) { continue }
            found = start..<start + word.count
            break
        }
        return found
    }

    private static func isPart(_ character: Character) -> Bool {
        character == "_" || character.isLetter || character.isNumber
    }
}
