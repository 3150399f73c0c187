/// A failure of the server, or of the connection to it.
package struct PostgresError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// libpq is not installed, or too old.
        case libraryMissing
        /// The address is malformed, or has a part that is not allowed.
        case badAddress
        /// There is no connection, or it was lost. The last command may have been executed.
        case disconnected
        /// The deadline passed. The last command may have been executed.
        case timedOut
        /// The caller's wait was cancelled.
        case cancelled
        /// The server refused, with its code of five characters (SQLSTATE).
        case server(String)
        /// The server, the database or the collection is unusable.
        case unusable
        /// A standby of the server was promoted in its place.
        case formerPrimary
        /// The collection's commits differ from those known to the host.
        case otherHistory
        /// The answer has an unexpected form.
        case badAnswer
    }

    package let kind: Kind
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package var description: String { message }

    /// Whether the server reported that it did not execute the command.
    var isRefusal: Bool {
        if case .server = kind { return !isInDoubt }
        return false
    }

    /// Whether the command's outcome is unknown.
    package var isInDoubt: Bool {
        switch kind {
        case .disconnected, .timedOut, .cancelled: true
        // Cancelling a commit that waits for a standby returns success with a warning, and a crash returns nothing.
        case .server(let code): code.hasPrefix("08") || code.hasPrefix("57P") || code == "57014"
        default: false
        }
    }
}
