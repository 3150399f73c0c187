import Files

/// The ports and files that a host's sandbox must leave accessible for the server.
extension SharedPersistence {
    /// Connects ahead of ``load(into:)``, before the sandbox is closed.
    ///
    /// - Throws: ``SharedError``.
    package func prepare() throws(SharedError) {
        do throws(PostgresError) { try connect() } catch {
            let shown = SharedError(error, address)
            guard shown.code == .disconnected, hasCache else { throw shown }
            // It is reported when the items are loaded.
            failedAttempt = error
        }
    }

    /// The settings of the connection, or of a future one.
    private var settings: [String: String] {
        connection?.settings ?? (try? PostgresConnection.settings(of: address)) ?? [:]
    }

    /// The TCP ports of the server; none on a socket.
    package var ports: Set<Int> {
        let settings = settings
        let hosts = settings["host"]?.split(separator: ",") ?? []
        guard !hosts.isEmpty, !hosts.allSatisfy({ $0.hasPrefix("/") }) else { return [] }
        return Set((settings["port"] ?? "5432").split(separator: ",").compactMap { Int($0) })
    }

    /// The files that a new connection reads, for resolving names, and for passwords and certificates.
    package var files: [String] {
        let settings = settings
        let named = ["passfile", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir"].compactMap { settings[$0] }
        let home = HomeFolder.path.map { [$0 + "/.postgresql", $0 + "/.pgpass", $0 + "/.pg_service.conf"] } ?? []
        let system = [
            "/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
            "/etc/ssl", "/etc/passwd", "/etc/postgresql-common",
        ]
        return named.filter { $0.hasPrefix("/") } + home + system
    }
}
