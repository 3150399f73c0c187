package import Lua

/// The position of an error in its source line, derived from the message: Lua's messages have the line only.
package enum ErrorCaret {
    /// The characters that a message refers to; nil if they are not in the line, or if several places may be meant.
    package static func range(of message: String, in line: some StringProtocol) -> Range<Int>? {
        let characters = Array(line)
        // Further lines of the message are an excerpt.
        let message = String(message.prefix { !$0.is("\n") })
        let (isCode, open) = code(characters)
        if message.contains("unfinished string"), let open { return open..<characters.count }
        if message.hasSuffix("near <eof>") { return characters.count..<characters.count + 1 }
        // Suggested names are quoted as well.
        let statement = message.split(separator: "; did you mean", maxSplits: 1).first.map(String.init) ?? message
        for word in candidates(in: statement) {
            let found = occurrences(of: Array(word), in: characters)
            let named = found.filter { isCode[$0.lowerBound] && Kind(of: statement).fits($0.lowerBound, characters) }
            if named.isEmpty, let first = found.first { return first }
            // Each occurrence of a variable has the same value; two fields of one name are of two tables.
            if let first = named.first { return named.count == 1 || Kind(of: statement) == .other ? first : nil }
        }
        return nil
    }

    /// The characters at a syntax error: the first occurrence of the token that it names by which no text can go on.
    package static func range(of error: LuaError, in text: String, line number: Int) -> Range<Int>? {
        guard case .syntax = error.kind, let state = try? LuaState() else { return nil }
        let named = error.message.split(separator: " near '", maxSplits: 1)
        guard named.count == 2, let end = named[1].lastIndex(of: "'") else { return nil }
        let token = Array(named[1][..<end])
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.indices.contains(number - 1), !token.isEmpty else { return nil }
        let before = lines[..<(number - 1)].map { $0 + "\n" }.joined()
        let line = Array(lines[number - 1])
        return occurrences(of: token, in: line).first { place in
            let prefix = before + String(line[..<place.upperBound])
            return !canGoOn(prefix, state) && !canGoOn("return " + prefix, state)
        }
    }

    private static func canGoOn(_ text: String, _ state: LuaState) -> Bool {
        do throws(LuaError) {
            _ = try state.load(Array(text.utf8), name: "=place")
            return true
        } catch {
            return error.kind == .syntax(incomplete: true)
        }
    }

    // MARK: What a message names

    /// What stands before a name that a message quotes.
    private enum Kind {
        case field, method, other

        init(of message: String) {
            self = message.contains("(field '") ? .field : message.contains("(method '") ? .method : .other
        }

        func fits(_ start: Int, _ line: [Character]) -> Bool {
            let before = line[..<start].last { !$0.is(" ") }
            switch self {
            case .field:
                let isAfterTwo = line[..<start].reversed().drop { $0.is(" ") }.starts(with: "..", by: { $0.is($1) })
                return before?.is(".") == true && !isAfterTwo
            case .method: return before?.is(":") == true
            case .other: return true
            }
        }
    }

    /// The quoted words of the message, the last first, and the function at its start.
    private static func candidates(in message: String) -> [String] {
        var quoted = message.split(separator: "'", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        // `near 'end'` of a syntax error, `(global 'x')` of a runtime error: both come last.
        quoted.reverse()
        var words = quoted.filter { !$0.isEmpty && $0.utf8.count < 240 && $0.count < 60 }
        // "chunk:1: items:createItem: …" names a method.
        let parts = message.split(separator: ":").map { $0.drop { $0.is(" ") } }
        for part in parts.dropFirst(2).prefix(2).reversed() {
            let name = part.split(separator: ".").last.map(String.init) ?? ""
            if !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0.is("_") }) { words.append(name) }
        }
        return words
    }

    // MARK: The line

    /// The occurrences of a word, those of a name as a whole word.
    private static func occurrences(of word: [Character], in line: [Character]) -> [Range<Int>] {
        guard let first = word.first, word.count <= line.count else { return [] }
        let isName = isPart(first)
        return (0...line.count - word.count).compactMap { start in
            guard line[start..<start + word.count].elementsEqual(word, by: { $0.is($1) }) else { return nil }
            let before = start > 0 ? line[start - 1] : " "
            let after = start + word.count < line.count ? line[start + word.count] : " "
            return isName && (isPart(before) || isPart(after)) ? nil : start..<start + word.count
        }
    }

    /// Which characters are neither in a short string nor in a comment, as far as one line tells, and where a string
    /// without an end begins.
    private static func code(_ line: [Character]) -> (isCode: [Bool], open: Int?) {
        var isCode = Array(repeating: true, count: line.count)
        var quote: Character?
        var start = 0
        var index = 0
        while index < line.count {
            let character = line[index]
            if let open = quote {
                isCode[index] = false
                if character.is("\\"), index + 1 < line.count {
                    index += 1
                    isCode[index] = false
                } else if character == open {
                    quote = nil
                }
            } else if character.is("\"") || character.is("'") {
                (quote, isCode[index], start) = (character, false, index)
            } else if character.is("-"), index + 1 < line.count, line[index + 1].is("-") {
                for rest in index..<line.count { isCode[rest] = false }
                return (isCode, nil)
            }
            index += 1
        }
        return (isCode, quote == nil ? nil : start)
    }

    private static func isPart(_ character: Character) -> Bool {
        character.is("_") || character.isLetter || character.isNumber
    }
}
