/// Why a shared collection is unusable: the failure, the server, and the remedy.
public struct SharedError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure. Kinds may be added.
    public enum Code: Sendable, Hashable {
        /// The address is wrong.
        case badAddress
        /// libpq is missing.
        case unavailable
        /// The server does not answer, or it refuses the connection.
        case disconnected
        /// The server, the database or the collection is unusable.
        case unusable
        /// The server refused a command.
        case denied
    }

    /// The kind of failure.
    public let code: Code
    /// The failure and its remedy.
    public let message: String

    public var description: String { message }

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// An error of the connection, described for the user.
    package init(_ error: PostgresError, _ address: SharedAddress) {
        switch error.kind {
        case .libraryMissing: self.init(.unavailable, error.message)
        case .badAddress: self.init(.badAddress, error.message)
        case .disconnected, .timedOut, .cancelled:
            self.init(.disconnected, "\(error.message)\(Self.hint(error.message))")
        case .unusable, .formerPrimary, .otherHistory, .badAnswer: self.init(.unusable, error.message)
        case .server(let code):
            switch code {
            case _ where error.isInDoubt: self.init(.disconnected, error.message)
            case "42501":
                self.init(
                    .denied,
                    "\(error.message): the owner of the database grants the rights with cubby shared grant ROLE '\(address.description)'"
                )
            case "CB001":
                self.init(
                    .unusable,
                    "\(error.message): its owner makes it with cubby shared init '\(address.description)', or opens it to this role with cubby shared grant ROLE '\(address.description)'"
                )
            case "CB004":
                self.init(
                    .denied,
                    "\(error.message): nothing was committed; commit again, and if that is refused, too, install cubby anew on "
                        + "this machine, and have its memory checked")
            case "53100":
                self.init(
                    .denied,
                    "\(error.message): the server's disk is full, and nothing was committed; free space there, then commit again"
                )
            case "25P03":
                self.init(
                    .denied,
                    "what was done while the other hosts were kept out took too long, and nothing was committed: do it in "
                        + "smaller parts, or when fewer hosts commit")
            case "55P03":
                self.init(
                    .denied,
                    "another host's commit keeps the collection, and nothing was committed: the server waits for a standby "
                        + "that does not answer, or that host hangs; cubby shared status shows the standbys")
            case "25006":
                self.init(
                    .unusable,
                    "the server is a standby, which takes no commits: name the primary, or all servers, in the address")
            // The tables of the collections are named with their schema, or have other names.
            case "42P01" where !error.message.contains("cubby."),
                "42703" where error.message.contains("items"), "42804" where error.message.contains("items"):
                self.init(
                    .unusable,
                    "the table of the published items is missing, or not as it was made (\(error.message)), and nothing was "
                        + "committed: its owner runs cubby shared publish --end '\(address.description)', and publishes again"
                )
            case "42703", "42804", "42P06", "42P07": self.init(SharedSchema.foreignSchema, address)
            case "3F000", "42P01", "42883": self.init(SharedSchema.missingSchema(address), address)
            default: self.init(.denied, "the server refused: \(error.message) (SQLSTATE \(code))")
            }
        }
    }

    /// Remedies for a failure to connect, by a part of libpq's message; the first match counts.
    private static let hints: [(part: String, hint: String)] = [
        ("session is read-only", standbyHint), ("in hot standby mode", standbyHint),
        ("password authentication failed", passwordHint), ("no password supplied", passwordHint),
        (
            "does not match host name",
            "name the server in the address as its certificate does, or give it a certificate for this name"
        ),
        (
            "host name must be specified",
            "write the server's name as its certificate has it beside hostaddr: host=NAME, or PGHOST"
        ),
        (
            "certificate",
            "the server's certificate has to be signed by an authority in ~/.postgresql/root.crt (sslrootcert)"
        ),
        (
            "does not support SSL",
            "over a network TLS is needed: switch ssl on at the server, or write sslmode=disable into the address of a "
                + "network that is safe"
        ),
        ("pg_hba.conf", "the server's owner lets hosts in by a line of its pg_hba.conf"),
        ("does not exist", "check the address, or have the owner of the server make it"),
        ("No such file or directory", "no server listens in this folder: start it, or check the address"),
        ("refused", "no server listens there: start it, or check host and port"),
        ("expected authentication request", otherServerHint), ("received invalid response", otherServerHint),
        ("closed the connection unexpectedly", noServerHint), ("EOF detected", noServerHint),
        ("too many clients", "raise max_connections at the server, or end hosts that are not needed"),
    ]
    private static let standbyHint = "no server of the address takes commits: a standby has to be promoted"
    private static let passwordHint =
        "put the password into the file that PGPASSFILE names (~/.pgpass, host:port:database:user:password)"
    private static let otherServerHint = "what listens there is no PostgreSQL server: check host and port"
    private static let noServerHint = "the server stopped, or what listens there is no PostgreSQL server"

    private static func hint(_ message: String) -> String {
        hints.first { message.contains($0.part) }.map { ": \($0.hint)" } ?? ""
    }
}
