internal import PropertyList

/// An SQLite error: its code and message.
package struct SQLiteError: Error, Hashable, CustomStringConvertible {
    /// The distinguished result codes of SQLite.
    package enum Code: Int32, Sendable {
        case error = 1
        case permission = 3
        case busy = 5
        case locked = 6
        case noMemory = 7
        case readOnly = 8
        case interrupted = 9
        case inputOutput = 10
        case corrupt = 11
        case full = 13
        case cannotOpen = 14
        case schema = 17
        case tooBig = 18
        case constraint = 19
        case mismatch = 20
        case misuse = 21
        case denied = 23
        case range = 25
        case notADatabase = 26
        /// Not an SQLite code: the library is missing.
        case unavailable = -1
    }

    package let code: Code
    /// The problem, and a remedy.
    package let message: String

    package init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    /// Creates the error of a result code, extended or not.
    ///
    /// - Parameters:
    ///   - result: the code.
    ///   - words: SQLite's own.
    ///   - refusal: what statements must not do, for `denied`.
    ///   - longest: the maximum length of a value in the statement, for `tooBig`.
    init(_ result: Int32, _ words: String, refusal: String = "", longest: Int = .max) {
        code = Code(rawValue: result & 0xFF) ?? .error
        message =
            switch code {
            case .busy, .locked: "\(words): another process has it open and did not finish"
            case .interrupted: Interruption.message
            case .denied where refusal.isEmpty: "\(words): statements reach one database and their own data"
            case .denied: "\(words): \(refusal) is closed to statements"
            case .error where !refusal.isEmpty: "\(words): \(refusal) is closed to statements"
            case .error where words.hasPrefix("unsafe use of"):
                "\(words): views and triggers may not use it; name the table itself"
            case .noMemory: "\(words): a value or a result is larger than the memory that the script may use"
            case .tooBig where longest < 256 << 20:
                "\(words): this statement's values and rows have \(Self.size(longest)) at most, by the functions that it calls and the limit of memory"
            case .inputOutput where result == Self.otherFile:
                "\(words): a journal beside it names a file that is not its own; open it with the program that wrote it"
            case .readOnly where result == Self.hotJournal:
                "\(words): an interrupted change has to be taken back first; open it once for writing"
            default: words
            }
    }

    private static func size(_ bytes: Int) -> String {
        bytes >= 1 << 20 ? "\(bytes >> 20) MB" : "\(bytes >> 10) KB"
    }

    private static let otherFile: Int32 = 10 | 13 << 8
    private static let hotJournal: Int32 = 8 | 3 << 8

    package var description: String { message }

    /// Whether a statement caused the error, rather than its environment.
    package var isStatementsFault: Bool { [.error, .schema, .mismatch, .misuse, .denied, .range].contains(code) }

    /// The code's name for scripts.
    package var identifier: String { "\(code)" }
}
