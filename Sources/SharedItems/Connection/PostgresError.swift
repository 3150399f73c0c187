/// Why the server, or the way to it, did not do what was asked.
package struct PostgresError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// libpq is not installed, or too old.
        case libraryMissing
        /// The address is none, or has what may not be in it.
        case badAddress
        /// There is no connection, or it broke. What was sent last may have happened.
        case disconnected
        /// The deadline passed. What was sent last may have happened.
        case timedOut
        /// The caller's wait was ended by its owner.
        case cancelled
        /// The server refused, with its code of five characters (SQLSTATE).
        case server(String)
        /// The server, the database or the collection is not one that can be used.
        case unusable
        /// The server is one that a standby of it has taken over from.
        case formerPrimary
        /// The collection's commits are not those that the host knows.
        case otherHistory
        /// The answer has another shape than was asked for.
        case badAnswer
    }

    package let kind: Kind
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package var description: String { message }

    /// Whether the server said that it has not done the command.
    var isRefusal: Bool {
        if case .server = kind { return !isInDoubt }
        return false
    }

    /// Whether the command's outcome is unknown.
    package var isInDoubt: Bool {
        switch kind {
        case .disconnected, .timedOut, .cancelled: true
        // Cancelling a commit that waits for a standby answers success with a warning, and a crash says nothing.
        case .server(let code): code.hasPrefix("08") || code.hasPrefix("57P") || code == "57014"
        default: false
        }
    }
}
