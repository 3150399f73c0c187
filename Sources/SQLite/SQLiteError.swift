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
    init(_ result: Int32, _ words: String) {
        code = Code(rawValue: result & 0xFF) ?? .error
        message =
            switch code {
            case .busy, .locked: "\(words): another process has it open and did not finish"
            case .denied: "\(words): scripts reach one database, and settings of the process are closed"
            case .inputOutput where result == Self.otherFile:
                "\(words): a journal beside it names a file that is not its own; open it with the program that wrote it"
            case .readOnly where result == Self.hotJournal:
                "\(words): an interrupted change has to be taken back first; open it once for writing"
            default: words
            }
    }

    private static let otherFile: Int32 = 10 | 13 << 8
    private static let hotJournal: Int32 = 8 | 3 << 8

    package var description: String { message }

    /// Whether a statement caused the error, rather than its environment.
    package var isStatementsFault: Bool { [.error, .schema, .mismatch, .misuse, .denied, .range].contains(code) }

    /// The code's name for scripts.
    package var identifier: String { "\(code)" }
}
