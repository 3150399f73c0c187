/// An error in comma-separated values, with its position.
public struct CSVError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: Equatable, Sendable {
        /// The text ends inside a quoted cell.
        case unterminatedQuote
        /// Something other than a delimiter or a line end follows a closing quote.
        case textAfterQuote
        /// A cell has more bytes than the limit.
        case cellTooLong
        /// A row has more cells, or more bytes, than the limit.
        case rowTooLong
        /// A cell requested as text is not UTF-8.
        case notText
        /// The delimiter is invalid.
        case badDelimiter
        /// Reading failed with this `errno`.
        case unreadable(Int32)
        /// The work was interrupted, for example by a script's deadline.
        case stopped
    }

    /// The kind of error.
    public let code: Code
    /// The row from 1, including the header; 0 when the error has no row.
    public let row: Int
    /// The line from 1 at which reading stopped; 0 when the error has no line.
    public let line: Int
    /// The problem, its position and its remedy.
    public let message: String

    public var description: String { message }

    /// An error whose message has the position in front, unless the row is 0.
    public init(_ code: Code, row: Int, line: Int, _ what: String) {
        self.code = code
        self.row = row
        self.line = line
        message = row > 0 ? "row \(row), line \(line): \(what)" : what
    }
}
