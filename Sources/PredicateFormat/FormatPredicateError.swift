/// What is wrong with a predicate's format text, and where.
///
/// A predicate is a programmer's text: these errors come when it is compiled or checked, never while objects are judged.
public struct FormatPredicateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of what can be wrong.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The text does not follow the grammar.
        case syntax
        /// A word or sign where an operator must stand is none.
        case unknownOperator
        /// A function or a collection operator such as `@count` has a name that does not exist.
        case unknownFunction
        /// A field that nothing has.
        case unknownField
        /// A `$variable` that no value was given for.
        case unknownVariable
        /// Operands that can never satisfy their operator.
        case typeMismatch
        /// The text behind `MATCHES` is no regular expression.
        case invalidPattern
        /// The text is too long or nested too deeply.
        case limitExceeded
    }

    /// What is wrong.
    public let code: Code

    /// What happened and what to do, in one sentence without the place.
    public let message: String

    /// The place in the format text, in UTF-8 bytes from 1; one past the end when something is missing there.
    public let column: Int

    /// The whole format text.
    public let source: String

    /// Names that were probably meant, nearest first.
    public let suggestions: [String]

    /// An error at a place in a format text.
    public init(_ code: Code, _ message: String, column: Int, source: String, suggestions: [String] = []) {
        self.code = code
        self.message = message
        self.column = column
        self.source = source
        self.suggestions = suggestions
    }

    /// The message, the column, and the excerpt below.
    public var description: String {
        "predicate: \(message) (column \(column))\n\(excerpt)"
    }

    /// The line of the format text that the error is in, shortened around the place, and a caret below it.
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

    /// A tab or another control character would move the caret away from its place.
    private static func printable(_ character: Character) -> Character {
        character.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } ? character : " "
    }
}
