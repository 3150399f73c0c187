extension Int {
    /// The number with its noun: `1 item`, `28,143 items`.
    ///
    /// - Parameters:
    ///   - one: the noun in the singular.
    ///   - many: the noun in the plural; by English rules if not given.
    /// - Returns: the number, grouped by thousands, and the noun.
    package func counted(_ one: String, _ many: String? = nil) -> String { "\(grouped) \(word(one, many))" }

    /// The noun alone, in the form for the number.
    package func word(_ one: String, _ many: String? = nil) -> String {
        self == 1 || self == -1 ? one : many ?? Self.plural(of: one)
    }

    private static func plural(of word: String) -> String {
        if word.hasSuffix("y"), let before = word.dropLast().last, !"aeiou".contains(before) {
            return word.dropLast() + "ies"
        }
        return ["s", "x", "ch", "sh"].contains(where: word.hasSuffix) ? word + "es" : word + "s"
    }
}

extension String {
    /// The word after its indefinite article: `an Item`, `a query`, `a UUID`.
    package var withArticle: String { (startsWithVowelSound ? "an " : "a ") + self }

    private var startsWithVowelSound: Bool {
        let lowered = lowercased()
        // Pronounced "you" or spelled out: `a URL`, `a UUID`, `an XML file`.
        if ["uni", "use", "usa", "uu", "url", "utf", "ui", "one"].contains(where: lowered.hasPrefix) { return false }
        if ["XML", "HTML", "NS", "SVG", "LRU", "hour", "honest"].contains(where: hasPrefix) { return true }
        return lowered.first.map { "aeiou".contains($0) } ?? false
    }
}

extension Int {
    /// The number with commas between its thousands.
    package var grouped: String {
        var text = String(self)
        let digits = self < 0 ? text.utf8.count - 1 : text.utf8.count
        for place in stride(from: 3, to: digits, by: 3) {
            text.insert(",", at: text.index(text.endIndex, offsetBy: -place - (place / 3 - 1)))
        }
        return text
    }
}

extension Collection<String> {
    /// The texts in a message, at most some of them: `a, b, …`.
    package func listed(_ limit: Int = 12) -> String {
        prefix(limit).joined(separator: ", ") + (count > limit ? ", …" : "")
    }
}

extension String {
    /// The text, or its beginning and how much is left out: what a message or a line of the log quotes may be megabytes.
    ///
    /// - Parameter bytes: the most bytes of the text that are shown.
    /// - Returns: the text itself, if it is no longer.
    package func shortened(to bytes: Int) -> String {
        guard utf8.count > bytes else { return self }
        let start = String(self[..<utf8.index(startIndex, offsetBy: bytes)])
        return "\(start)… (\((utf8.count - start.utf8.count).counted("more byte")))"
    }
}

extension String {
    /// The text of bytes of any kind: those that are not UTF-8 are written as escapes, `\xff`.
    package init(escaping bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        if let text = String(validating: bytes, as: UTF8.self) {
            self = text
            return
        }
        self = ""
        var (parser, iterator, rest) = (Unicode.UTF8.ForwardParser(), bytes.makeIterator(), bytes[...])
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let scalar):
                unicodeScalars.append(Unicode.UTF8.decode(scalar))
                rest = rest.dropFirst(scalar.count)
            case .error(let length):
                for byte in rest.prefix(length) { self += (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16) }
                rest = rest.dropFirst(length)
            case .emptyInput: return
            }
        }
    }

    /// The same of at most so many bytes, and how many more there are. No character is cut in two.
    package init(escaping bytes: some BidirectionalCollection<UInt8>, upTo limit: Int) {
        guard bytes.count > limit else {
            self.init(escaping: bytes)
            return
        }
        let text = bytes.prefix(limit).dropLast(bytes.prefix(limit).openEnd)
        self = "\(String(escaping: text))\n[\((bytes.count - text.count).counted("byte")) more]"
    }
}

extension StringProtocol {
    /// The text in double quotes, with escapes for quotes, backslashes, line breaks and tabs: a literal of Lua, of the
    /// predicate language and of an archive's drawing.
    ///
    /// - Parameter escape: the escape for another character; nil for none.
    /// - Returns: the quoted text.
    /// - Complexity: O(length).
    package func quoted(escaping escape: (Unicode.Scalar) -> String? = { _ in nil }) -> String {
        var quoted = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            default:
                if let escaped = escape(scalar) { quoted += escaped } else { quoted.unicodeScalars.append(scalar) }
            }
        }
        return quoted + "\""
    }
}

/// Finds the names most similar to a misspelt name.
///
/// The distance is Damerau–Levenshtein in its optimal-alignment form: an insertion, a deletion, a substitution or a
/// transposition of neighbours each count one. Letters of different case are equal, so that `NAME` is nearest to
/// `name`.
package enum NearestNames {
    /// The bytes of the longest name that is compared: a character of it may have any number of marks.
    private static let longest = 512

    /// The candidates within a few edits of a name, nearest first, then in alphabetical order.
    ///
    /// The permitted distance grows with the length: one up to 4 characters, two up to 8, three beyond. A candidate
    /// is a prefix of the name, or that has the name as its prefix, is near if at least three characters match.
    ///
    /// - Parameters:
    ///   - name: The misspelt name. A name of more than 64 characters has no near ones.
    ///   - candidates: The valid names; the name itself is excluded.
    ///   - limit: Maximum number of names to return.
    ///   - countsBeginnings: Whether prefixes are near.
    /// - Returns: At most `limit` names.
    /// - Complexity: O(candidates × name²).
    package static func nearest(
        to name: String, among candidates: some Sequence<String>, limit: Int = 3, countsBeginnings: Bool = true
    ) -> [String] {
        guard name.utf8.count <= longest else { return [] }
        let wanted = Array(name.lowercased())
        guard !wanted.isEmpty, wanted.count <= 64 else { return [] }
        let forgiven = wanted.count <= 4 ? 1 : wanted.count <= 8 ? 2 : 3
        var found: [(name: String, slips: Int)] = []
        for candidate in candidates where candidate.utf8.count <= longest && candidate != name {
            let letters = Array(candidate.lowercased())
            if abs(letters.count - wanted.count) <= forgiven {
                let slips = distance(wanted, letters)
                if slips <= forgiven && slips < max(wanted.count, letters.count) {
                    found.append((candidate, slips))
                    continue
                }
            }
            if countsBeginnings, min(letters.count, wanted.count) >= 3, letters.count <= 64,
                letters.starts(with: wanted) || wanted.starts(with: letters)
            {
                found.append((candidate, forgiven + 1))
            }
        }
        found.sort { ($0.slips, $0.name) < ($1.slips, $1.name) }
        return found.prefix(max(limit, 0)).map(\.name)
    }

    /// The distance of two names.
    ///
    /// - Returns: 0 for names that differ at most in case.
    /// - Complexity: O(first × second) in time, three rows of the second's length in memory.
    package static func distance(_ first: String, _ second: String) -> Int {
        distance(Array(first.lowercased()), Array(second.lowercased()))
    }

    /// Whether two names differ by one edit; case is significant here.
    package static func isOneSlip(_ first: String, _ second: String) -> Bool {
        distance(Array(first), Array(second)) == 1
    }

    /// The end of an error message about a member or a word: `; did you mean 'name' or 'names'?`, or nothing. Prefixes
    /// do not count as near, but for the first words of a longer name, as in `decodeObjectForKey`.
    package static func hint(for name: String, among candidates: some Sequence<String>) -> String {
        let near = nearest(to: name, among: candidates, countsBeginnings: false)
        let names = (near.isEmpty ? beginning(of: name, among: candidates).map { [$0] } ?? [] : near).map { "'\($0)'" }
        return names.isEmpty ? "" : "; did you mean \(names.joined(separator: " or "))?"
    }

    /// The longest candidate that is the first words of a name: a capital, a colon or `_` follows in it.
    private static func beginning(of name: String, among candidates: some Sequence<String>) -> String? {
        let bytes = Array(name.utf8)
        guard bytes.count <= longest else { return nil }
        func isBeginning(_ candidate: String) -> Bool {
            let count = candidate.utf8.count
            guard count >= 3, count < bytes.count, bytes.starts(with: candidate.utf8) else { return false }
            return (0x41...0x5A).contains(bytes[count]) || bytes[count] == 0x3A || bytes[count] == 0x5F
        }
        return candidates.filter(isBeginning).max { $0.utf8.count < $1.utf8.count }
    }

    /// The end of an error message with given names, or nothing: `; did you mean name or names?`.
    package static func suggestion(_ names: [String]) -> String {
        guard let last = names.last else { return "" }
        let rest = names.dropLast().joined(separator: ", ")
        return rest.isEmpty ? "; did you mean \(last)?" : "; did you mean \(rest) or \(last)?"
    }

    private static func distance(_ first: [Character], _ second: [Character]) -> Int {
        if first.isEmpty || second.isEmpty { return max(first.count, second.count) }
        var beforePrevious = [Int](repeating: 0, count: second.count + 1)
        var previous = Array(0...second.count)
        var current = previous
        for row in 1...first.count {
            current[0] = row
            for column in 1...second.count {
                let same = first[row - 1] == second[column - 1]
                var best = min(previous[column] + 1, current[column - 1] + 1, previous[column - 1] + (same ? 0 : 1))
                if row > 1, column > 1, first[row - 1] == second[column - 2], first[row - 2] == second[column - 1] {
                    best = min(best, beforePrevious[column - 2] + 1)
                }
                current[column] = best
            }
            (beforePrevious, previous, current) = (previous, current, beforePrevious)
        }
        return previous[second.count]
    }
}

/// The names of options in messages: those of scripts, of the command line, or of a file that a statement of SQL reads.
///
/// A task local: what reads a file does not know who has named its options.
package enum OptionWords {
    /// Whether the running work was started by a command, whose options its messages name.
    @TaskLocal package static var areOfCommand = false

    /// The table of a file that a statement of SQL reads.
    package struct FileTable: Sendable {
        /// The function that reads files of its format.
        private let function: String
        private let path: String
        /// The functions for all formats.
        private let functions: [String]

        package init(_ function: String, path: String, functions: [String]) {
            (self.function, self.path, self.functions) = (function, path, functions)
        }

        private static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }

        /// The table with an option of JSON.
        fileprivate func text(_ option: String) -> String {
            "\(function)(\(Self.literal(path)), \(Self.literal("{\(option)}")))"
        }

        /// The way to a file of another format.
        fileprivate func text(format: String) -> String {
            if functions.contains(format) { return "\(format)(\(Self.literal(path)))" }
            return format == "sqlite" ? "sql.attach(\"name\", \(path.quoted()))" : "items:import(\(path.quoted()))"
        }
    }

    /// The table that the running work reads; nil outside of statements.
    @TaskLocal package static var table: FileTable?

    /// The words of whoever has started the work.
    ///
    /// - Parameters:
    ///   - script: as scripts have it: `encoding = "utf-16"`.
    ///   - command: as the command line has it: `--encoding utf-16`.
    ///   - json: as the options of a table have it: `"encoding": "utf-16"`; nil for words that are not an option.
    /// - Returns: one of them.
    package static func choose(_ script: String, _ command: String, json: String?) -> String {
        if let table { return json.map { table.text($0) } ?? script }
        return areOfCommand ? command : script
    }

    /// An option with a text: `table = "a"`, `--table a`, `csv('PATH', '{"null": "a"}')`.
    package static func option(_ name: String, _ value: String) -> String {
        if let table, name == "format" { return table.text(format: value) }
        return choose(
            "\(name) = \(value.quoted())", "--\(commandName(name)) \(argument(value))",
            json: "\(name.quoted()): \(value.quoted())")
    }

    /// The command line's name of an option: `--on-error` for `onError`.
    package static func commandName(_ name: String) -> String {
        name.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : "\($1)" }
    }

    /// A text as an argument of a shell.
    package static func argument(_ text: String) -> String {
        if text == "\t" { return "$'\\t'" }
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte >= 0x80 || "-_/.,=+:%@".utf8.contains(byte)
            }
        return isPlain ? text : "'\(text.replacing("'", with: "'\\''"))'"
    }
}
