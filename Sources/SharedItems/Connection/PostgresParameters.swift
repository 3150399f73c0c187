import CPostgres
import Files
import Glibc

/// The settings of a connection, from an address, a service file and the environment as libpq reads them, and our own.
struct PostgresParameters {
    private(set) var hosts: [String] = []
    private var settings: [(name: String, value: String)]

    /// - Throws: ``PostgresError`` with `badAddress` and libpq's message.
    init(_ address: SharedAddress, _ library: cpostgres_library) throws(PostgresError) {
        settings = [
            // Halves the time for connecting.
            ("gssencmode", "disable"), ("client_encoding", "UTF8"), ("fallback_application_name", "cubby"),
            ("keepalives_idle", "20"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
        ]
        given = try Self.parse(address.database, library)
        database = address.database
    }

    /// Completes them with what libpq takes from a service file and the environment, wherever that says who the server is. A
    /// server beyond the loopback has to show its certificate, unless another mode was chosen.
    ///
    /// - Throws: ``PostgresError`` with libpq's message, for a service that is not there.
    mutating func resolve(_ library: cpostgres_library) throws(PostgresError) {
        resolved = try settings(library)
        (hosts, addresses) = (Self.list(resolved["host"]), Self.list(resolved["hostaddr"]))
        ports = Self.list(resolved["port"])
        // Whether a service file says the default, or nothing, libpq does not tell.
        let isChosen =
            given["sslmode"] != nil || Self.environment("PGSSLMODE") != nil
            || resolved["sslmode"].map { $0 != Self.defaultMode } ?? false
        if !isChosen, !(hosts + addresses).allSatisfy(Self.isLocal) {
            settings.append(("sslmode", "verify-full"))
            resolved["sslmode"] = "verify-full"
        }
        if max(hosts.count, addresses.count) > 1, given["target_session_attrs"] == nil,
            resolved["target_session_attrs"].map({ $0 == "any" }) ?? true
        {
            // The other one also asks what the role's transactions are by default, and libpq has this one since version 14.
            settings.append(
                ("target_session_attrs", library.PQenterPipelineMode == nil ? "read-write" : "primary"))
        }
    }

    /// libpq's `sslmode` when nothing chooses one: it also does without TLS.
    private static let defaultMode = "prefer"

    /// What a connection would have, without the passwords. Nothing is sent, and no name is resolved: of its settings libpq
    /// refuses one.
    private func settings(_ library: cpostgres_library) throws(PostgresError) -> [String: String] {
        var probe = self
        // With a password the file that may have one is not read.
        probe.settings += [("gssencmode", "unresolved"), ("password", "none")]
        guard let connection = probe.withLists({ library.PQconnectStartParams($0, $1, 1) }) ?? nil else {
            throw PostgresError(.disconnected, "not enough memory to connect")
        }
        defer { library.PQfinish(connection) }
        let message = library.PQerrorMessage(connection).map { String(cString: $0) } ?? ""
        guard message.contains("gssencmode") else { throw PostgresError(.disconnected, message.firstLine) }
        return Self.settings(of: connection, library)
    }

    /// The settings of a connection, without its passwords.
    static func settings(of connection: OpaquePointer, _ library: cpostgres_library) -> [String: String] {
        guard let options = library.PQconninfo(connection) else { return [:] }
        defer { library.PQconninfoFree(options) }
        return values(options) { !isSecret($0) }
    }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The address's own settings.
    let given: [String: String]
    /// All settings as libpq completes them, without passwords; empty before ``resolve(_:)``.
    private(set) var resolved: [String: String] = [:]
    private let database: String
    /// The hosts' numeric addresses, if they are given.
    private var addresses: [String] = []
    private var ports: [String] = []

    /// The hosts whose names need resolving.
    var names: [String] {
        addresses.isEmpty ? hosts.filter { !$0.isEmpty && !$0.hasPrefix("/") && !$0.hasPrefix("@") } : []
    }

    /// Stores the resolved addresses, beginning with the host to try first. A host without an address is left out, so
    /// that libpq does not resolve it again.
    mutating func setAddresses(_ found: [String?], startingWith first: Int) throws(PostgresError) {
        let found = Dictionary(zip(names, found), uniquingKeysWith: { first, _ in first })
        var usable: [(host: String, address: String, port: String)] = []
        for index in hosts.indices.map({ ($0 + first) % hosts.count }) {
            let address = found[hosts[index]] ?? (index < addresses.count ? addresses[index] : "")
            guard let address else { continue }
            usable.append((hosts[index], address, ports.count > 1 && index < ports.count ? ports[index] : ""))
        }
        guard !usable.isEmpty else {
            throw PostgresError(
                .disconnected, "there is no host named \(hosts.joined(separator: " or ")): check the address")
        }
        settings.append(("host", usable.map(\.host).joined(separator: ",")))
        settings.append(("hostaddr", usable.map(\.address).joined(separator: ",")))
        if ports.count > 1 { settings.append(("port", usable.map(\.port).joined(separator: ","))) }
    }

    /// Calls `body` with libpq's two lists, names and values, each terminated by nil.
    func withLists<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result? {
        // Of equal names the last counts: our settings override those of the address.
        let all = [("dbname", database)] + settings
        let names = all.map { strdup($0.0) }
        let values = all.map { strdup($0.1) }
        defer { (names + values).forEach { free($0) } }
        let nameList = names.map { UnsafePointer($0) } + [nil]
        let valueList = values.map { UnsafePointer($0) } + [nil]
        return nameList.withUnsafeBufferPointer { names in
            valueList.withUnsafeBufferPointer { values in
                guard let names = names.baseAddress, let values = values.baseAddress else { return nil }
                return body(names, values)
            }
        }
    }

    private static func list(_ text: String?) -> [String] {
        text?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    }

    private static func isLocal(_ host: String) -> Bool {
        if host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1" {
            return true
        }
        // A name may begin like an address.
        var address = in_addr()
        return host.hasPrefix("127.") && inet_pton(AF_INET, host, &address) == 1
    }

    /// Whether libpq hides an option's value from whom it shows settings to.
    private static func isSecret(_ option: PQconninfoOption) -> Bool {
        String(cString: option.keyword).hasSuffix("password") || option.dispchar.map { $0.pointee == 0x2A } ?? false
    }

    /// The options that have values, until the last.
    private static func values(
        _ options: UnsafeMutablePointer<PQconninfoOption>, where isShown: (PQconninfoOption) -> Bool
    ) -> [String: String] {
        var result: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val, isShown(option.pointee) {
                result[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
        return result
    }

    private static func parse(
        _ text: String, _ library: cpostgres_library
    ) throws(PostgresError) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = library.PQconninfoParse(text, &message) else {
            let reason = message.map { String(cString: $0) } ?? "not enough memory"
            library.PQfreemem(message)
            throw PostgresError(.badAddress, "the address is not a database's: \(reason.firstLine)")
        }
        defer { library.PQconninfoFree(options) }
        // However it is spelled: libpq has the last word.
        guard values(options, where: isSecret).isEmpty else {
            throw PostgresError(.badAddress, SharedAddressError.password.description)
        }
        return values(options) { _ in true }
    }
}

extension String {
    /// libpq ends its messages with a line break, and adds explanations to some on separate lines.
    var firstLine: String { split(separator: "\n").first.map(String.init) ?? "no reason was given" }

    /// The first line, and the lines about the other hosts of an address.
    var connectionLines: String {
        let lines = split(separator: "\n")
        return (lines.prefix(1) + lines.dropFirst().filter { $0.hasPrefix("connection to ") }).joined(separator: "; ")
    }
}

/// Resolves the addresses of hosts on its own thread: `getaddrinfo` blocks, for seconds when the network is down.
enum HostResolver {
    /// The first address of each host, in the hosts' order; nil for a host without one.
    ///
    /// - Throws: ``PostgresError`` with `timedOut`; the thread then ends on its own.
    static func addresses(
        of hosts: [String], _ deadline: Deadline, _ waiter: any PostgresWaiter
    ) throws(PostgresError) -> [String?] {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw PostgresError(.disconnected, "no pipe for the look-up of host names: error \(errno)")
        }
        let (reading, writing) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(reading) }
        let found = Monitor<[String?]?>(nil)
        let worker = WorkerThread {
            let addresses = hosts.map(address)
            found.change { $0 = addresses }
            close(writing)
        }
        // The thread closes its end of the pipe, which ends the wait.
        while found.change({ $0 == nil }) {
            guard !deadline.hasPassed else {
                throw PostgresError(
                    .timedOut,
                    "the addresses of \(hosts.joined(separator: ", ")) were not found in time: is the network up?")
            }
            _ = try waiter.wait(for: reading, isWriting: false, seconds: deadline.seconds)
        }
        // The thread is about to end. A sandbox that is closed next must not find a second thread.
        _ = worker.join()
        return found.change { $0 } ?? []
    }

    private static func address(_ host: String) -> String? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0, let first = list else { return nil }
        defer { freeaddrinfo(list) }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            getnameinfo(
                first.pointee.ai_addr, first.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
                == 0
        else { return nil }
        return text.withUnsafeBufferPointer { $0.baseAddress.map(String.init(cString:)) }
    }
}
