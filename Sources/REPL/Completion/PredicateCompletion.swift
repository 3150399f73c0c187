import Items
import LineEditor
import Lua
import PropertyList
import Scripting

/// Completes predicates: fields, operators, and the values of a field.
struct PredicateCompletion {
    private let host: ScriptHost

    private static let operators: [(String, String)] = [
        ("AND", "both"), ("OR", "one of two"), ("NOT", "the opposite"), ("BEGINSWITH", "the text begins so"),
        ("CONTAINS", "the text, or the array, holds it"), ("ENDSWITH", "the text ends so"),
        ("LIKE", "the text matches, * and ? standing for others"),
        ("MATCHES", "the text matches a regular expression"),
        ("IN", "is one of those"), ("BETWEEN", "lies between two, both included"),
        ("ANY", "one element does"), ("ALL", "each element does"), ("TRUEPREDICATE", "everything"),
        ("FALSEPREDICATE", "nothing"), ("nil", "no value"), ("TRUE", "yes"), ("FALSE", "no"),
    ]

    init(_ host: ScriptHost) { self.host = host }

    /// The candidates at the end of a predicate's text, and the number of bytes that they replace.
    func complete(_ text: String) -> (candidates: [Candidate], length: Int) {
        let bytes = Array(text.utf8)
        if let quoted = openQuote(bytes) { return values(bytes, quoted) }
        var start = bytes.count
        while start > 0, LuaName.isPart(bytes[start - 1]) { start -= 1 }
        let word = String(decoding: bytes[start...], as: UTF8.self)
        // `$name` is a variable; a number is complete.
        if start > 0, bytes[start - 1] == UInt8(ascii: "$") { return ([], 0) }
        if let first = word.utf8.first, LuaLexer.isDigit(first) { return ([], 0) }
        let fields = Matching.filter(host.items.fieldNames, by: word) { $0 }.map {
            Candidate($0, kind: .field, suffix: " ")
        }
        let operators = Self.operators.filter { !word.isEmpty && Matching.matches($0.0, word) }.map {
            Candidate($0.0, kind: .keyword, suffix: " ", documentation: $0.1)
        }
        let all = wantsOperator(bytes[..<start]) && !operators.isEmpty ? operators : fields + operators
        return (all, word.utf8.count)
    }

    /// The start of the unclosed string; nil outside strings.
    private func openQuote(_ bytes: [UInt8]) -> Int? {
        var open: Int?
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if let start = open {
                if byte == UInt8(ascii: "\\") { index += 1 } else if byte == bytes[start] { open = nil }
            } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                open = index
            }
            index += 1
        }
        return open
    }

    /// Whether an operator is expected: the last word is a field or a value.
    private func wantsOperator(_ before: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: before, as: UTF8.self)
        guard let last = text.split(whereSeparator: \.isWhitespace).last.map(String.init) else { return false }
        return host.items.fieldNames.contains(last) || last.hasSuffix("'") || last.hasSuffix(")")
            || Double(last) != nil
    }

    /// The values of the field before a quote: `department == 'Ph`.
    private func values(_ bytes: [UInt8], _ quote: Int) -> (candidates: [Candidate], length: Int) {
        let typed = String(decoding: bytes[(quote + 1)...], as: UTF8.self)
        let before = String(decoding: bytes[..<quote], as: UTF8.self)
        let words = before.split { !($0.isLetter || $0.isNumber || $0.is("_")) }.map(String.init)
        guard let field = words.last(where: { host.items.fieldNames.contains($0) }) else { return ([], 0) }
        var seen: NameSet = []
        let end = String(UnicodeScalar(bytes[quote]))
        let budget = min(host.items.count, 3000)
        for position in 0..<budget {
            guard let item = host.items[position], case .string(let text)? = (try? item.value(forField: field)) ?? nil,
                text.utf8.count <= 60, text.utf8.starts(with: typed.utf8),
                !text.utf8.contains(where: { $0 == bytes[quote] || $0 < 0x20 || $0 == UInt8(ascii: "\\") })
            else { continue }
            seen.insert(text)
            if seen.count >= 100 { break }
        }
        return (
            seen.sorted().map { Candidate($0, kind: .string, suffix: end) }, typed.utf8.count
        )
    }
}
