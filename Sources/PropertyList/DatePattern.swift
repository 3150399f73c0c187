/// A date format pattern of Unicode (`yyyy-MM-dd HH:mm`), as in Cocoa's date formatters, in English.
///
/// A run of one letter is a field, and its length selects the form. Text between apostrophes and all other characters
/// are literal; two apostrophes are one. For parsing there is the notation of `strptime`, too: `%Y-%m-%d %H:%M`.
package struct DatePattern: Sendable, Hashable {
    enum Piece: Sendable, Hashable {
        case text(String)
        case field(Character, Int)
    }

    /// The field letters: era, year, quarter, month, day, day of the year, weekday, half of the day, hours, minute,
    /// second, its fraction, and the zone.
    package static let letters = "GyuQqMLdDEcaHhKkmsSzZXxv"

    /// The longest pattern. Each field becomes text of its own, many times as long.
    package static let maximumBytes = 16_384

    static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

    private(set) var pieces: [Piece] = []

    init(_ pieces: [Piece]) { self.pieces = pieces }

    /// - Parameter text: the pattern.
    /// - Throws: ``DatePatternError`` for an unknown letter, an unclosed apostrophe, and a pattern of more than
    ///   ``maximumBytes``.
    package init(_ text: String) throws(DatePatternError) {
        try Self.checkLength(text)
        var rest = Substring(text)
        var plain = ""
        func isLetter(_ character: Character) -> Bool { character.isASCII && character.isLetter }
        while let first = rest.first {
            if first.is("'") {
                plain += try Self.quoted(&rest)
            } else if isLetter(first) {
                guard Self.letters.contains(first) else { throw DatePatternError(.unknownField(first)) }
                let run = rest.prefix { $0 == first }
                if !plain.isEmpty { pieces.append(.text(plain)) }
                plain = ""
                pieces.append(.field(first, min(run.count, 64)))
                rest = rest.dropFirst(run.count)
            } else {
                plain.append(rest.removeFirst())
            }
        }
        if !plain.isEmpty { pieces.append(.text(plain)) }
    }

    /// Refuses a pattern that is longer than `maximumBytes`.
    package static func checkLength(_ text: String) throws(DatePatternError) {
        if text.utf8.count > maximumBytes { throw DatePatternError(.tooLong) }
    }

    private static func quoted(_ rest: inout Substring) throws(DatePatternError) -> String {
        rest.removeFirst()
        if rest.first == "'" {
            rest.removeFirst()
            return "'"
        }
        var text = ""
        while let next = rest.popFirst() {
            guard next.is("'") else {
                text.append(next)
                continue
            }
            guard rest.first == "'" else { return text }
            text.append(rest.removeFirst())
        }
        throw DatePatternError(.openQuote)
    }
}
