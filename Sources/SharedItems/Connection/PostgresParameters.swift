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
        hosts = Self.list(given["host"])
        let environment = getenv("PGHOST").map { String(cString: $0) }
        let names = hosts.isEmpty ? (environment.map { [$0] } ?? []) : hosts
        if given["sslmode"] == nil, getenv("PGSSLMODE") == nil, given["service"] == nil, !names.allSatisfy(Self.isLocal)
        {
            settings.append(("sslmode", "verify-full"))
        }
        if hosts.count > 1, given["target_session_attrs"] == nil {
            settings.append(("target_session_attrs", "read-write"))
        }
        database = address.database
        addresses = Self.list(given["hostaddr"])
        ports = Self.list(given["port"])
    }

    /// The address's own settings.
    let given: [String: String]
    private let database: String
    /// The hosts' numeric addresses, if the address has them.
    private let addresses: [String]
    private let ports: [String]

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
        host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1"
            || host.hasPrefix("127.")
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
        var result: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { result[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return result
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
