/// An error in a predicate's format text, with its position.
///
/// These errors occur when a predicate is compiled or checked, never during evaluation.
public struct FormatPredicateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The text does not follow the grammar.
        case syntax
        /// A word or sign in an operator's place is not an operator.
        case unknownOperator
        /// A function or a collection operator such as `@count` does not exist.
        case unknownFunction
        /// No object has the field.
        case unknownField
        /// A `$variable` has no value.
        case unknownVariable
        /// The kinds of the operands can never satisfy the operator.
        case typeMismatch
        /// The text behind `MATCHES` is not a regular expression.
        case invalidPattern
        /// The text is too long or nested too deeply.
        case limitExceeded
    }

    /// The kind of error.
    public let code: Code

    /// The problem and its remedy in one sentence, without the position.
    public let message: String

    /// The position in the format text, in UTF-8 bytes from 1; one past the end when something is missing at the end.
    public let column: Int

    /// The whole format text.
    public let source: String

    /// Known names similar to the misspelt one, nearest first.
    public let suggestions: [String]

    /// An error at a position in a format text.
    public init(_ code: Code, _ message: String, column: Int, source: String, suggestions: [String] = []) {
        self.code = code
        self.message = message
        self.column = column
        self.source = source
        self.suggestions = suggestions
    }

    /// The message, the column, and the excerpt.
    public var description: String {
        "predicate: \(message) (column \(column))\n\(excerpt)"
    }

    /// The line with the error, shortened around the error's column, and a caret under that column.
    public var excerpt: String {
        let reach = 48
        let bytes = Array(source.utf8)
        let place = min(max(column - 1, 0), bytes.count)
        let lineStart = bytes[..<place].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let lineEnd = bytes[place...].firstIndex(of: 0x0A) ?? bytes.count
        var before = Array(String(decoding: bytes[lineStart..<place], as: UTF8.self))
        var after = Array(String(decoding: bytes[place..<lineEnd], as: UTF8.self))
        if before.count > reach { before = ["…"] + before.suffix(reach - 1) }
        if after.count > reach { after = after.prefix(reach - 1) + ["…"] }
        let line = String((before + after).map(Self.printable))
        return "    \(line)\n    \(String(repeating: " ", count: before.count))^"
    }

    /// Control characters are replaced by a space, because a tab would move the caret off its column.
    private static func printable(_ character: Character) -> Character {
        character.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } ? character : " "
    }
}
