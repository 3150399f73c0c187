/// An error of a SQL statement: what happened, and where in its text.
///
/// Errors that are not SQL's pass through as they are: `StoreError` of a change, `FileError` and `StoreError` of a file,
/// `WorkStopped` of an interruption, and what a function of the host throws.
public struct SQLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What a statement failed by.
    public enum Code: String, Sendable {
        /// Its text: a misspelt word, a name that is not there, a wrong number of arguments.
        case syntax
        /// The text is the beginning of a statement.
        case incomplete
        /// What statements must not do; the message names the way.
        case denied
        /// A parameter that is not there, or a value that is none of SQL.
        case parameter
        /// A file that a statement names.
        case file
        /// A limit: of memory, of a value's length, of depth.
        case limit
        /// A constraint of a table.
        case constraint
        /// SQLite's library is missing.
        case unavailable
        /// Anything else that SQLite reports.
        case failed
    }

    /// What it failed by.
    public let code: Code
    /// The problem, and a remedy.
    public let message: String
    /// The place in the text, counted in bytes from 0; nil if none is known.
    public let offset: Int?

    package init(_ code: Code, _ message: String, offset: Int? = nil) {
        (self.code, self.message, self.offset) = (code, message, offset)
    }

    public var description: String { message }
}
