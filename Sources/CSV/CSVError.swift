/// What is wrong with a text that is to be comma-separated values, and where.
public struct CSVError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of what can go wrong.
    public enum Code: Equatable, Sendable {
        /// The text ends inside a quoted cell.
        case unterminatedQuote
        /// Something other than a delimiter or a line end follows a closing quote.
        case textAfterQuote
        /// A cell has more bytes than the limit.
        case cellTooLong
        /// A row has more cells, or more bytes, than the limit.
        case rowTooLong
        /// A cell that was asked for as text is not UTF-8.
        case notText
        /// The delimiter is no single byte that can delimit.
        case badDelimiter
        /// Reading failed with this `errno`.
        case unreadable(Int32)
        /// The work that reads had to stop: a script's time is up.
        case stopped
    }

    /// What went wrong.
    public let code: Code
    /// The row, counted from 1, the header among them; 0 when no row is to blame.
    public let row: Int
    /// The line of the text, counted from 1, at which reading stopped; 0 when no line is to blame.
    public let line: Int
    /// What happened, where, and what to do.
    public let message: String

    public var description: String { message }

    /// An error; its message is the text behind the place, or the text alone where the row is 0.
    public init(_ code: Code, row: Int, line: Int, _ what: String) {
        self.code = code
        self.row = row
        self.line = line
        message = row > 0 ? "row \(row), line \(line): \(what)" : what
    }
}
