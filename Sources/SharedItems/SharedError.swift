/// Why a shared collection cannot be used: what happened, with whom, and what to do.
public struct SharedError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure. Kinds may be added.
    public enum Code: Sendable, Hashable {
        /// The address is wrong.
        case badAddress
        /// libpq is missing.
        case unavailable
        /// The server does not answer, or refuses the connection.
        case disconnected
        /// The server, the database or the collection is not one that can be used.
        case unusable
        /// The server refused a command.
        case refused
    }

    public let code: Code
    public let message: String

    public var description: String { message }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// An error of the connection, in words for the user.
    package init(_ error: PostgresError, _ address: SharedAddress) {
        switch error.kind {
        case .libraryMissing: self.init(.unavailable, error.message)
        case .badAddress: self.init(.badAddress, error.message)
        case .disconnected, .timedOut, .cancelled:
            self.init(.disconnected, "\(error.message)\(Self.hint(error.message))")
        case .unusable, .badAnswer: self.init(.unusable, error.message)
        case .server(let code):
            switch code {
            case _ where error.isInDoubt: self.init(.disconnected, error.message)
            case "42501":
                self.init(
                    .refused,
                    "\(error.message): the owner of the database grants the rights with cubby shared grant ROLE '\(address.description)'"
                )
            case "CB001":
                self.init(
                    .unusable, "\(error.message): its owner makes it with cubby shared init '\(address.description)'")
            case "53100": self.init(.refused, "\(error.message): the server's disk is full; nothing was committed")
            case "42703", "42804", "42P06", "42P07": self.init(SharedSchema.foreignSchema, address)
            case "3F000", "42P01", "42883": self.init(SharedSchema.missingSchema(address), address)
            default: self.init(.refused, "the server refused: \(error.message) (SQLSTATE \(code))")
            }
        }
    }

    private static func hint(_ message: String) -> String {
        if message.contains("password authentication failed") || message.contains("no password supplied") {
            return
                ": put the password into the file that PGPASSFILE names (~/.pgpass, host:port:database:user:password)"
        }
        if message.contains("certificate") {
            return ": the server's certificate has to be signed by an authority in ~/.postgresql/root.crt (sslrootcert)"
        }
        if message.contains("FATAL:"), message.contains("does not exist") {
            return ": check the address, or have the owner of the server make it"
        }
        return ""
    }
}
