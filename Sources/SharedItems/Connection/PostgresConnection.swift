import CPlatform
import CPostgres
import Glibc

/// A connection to a PostgreSQL server that blocks its thread only in its waiter.
///
/// A deadline is on progress: each piece that is sent or received begins it anew, so that large data may take its time
/// over a slow link. It is in addition to the server's timeouts: a synchronous commit whose standby is gone waits past
/// `statement_timeout`. After a deadline the connection is closed, since the answer could arrive at any time. Not
/// `Sendable`: one thread owns it.
package final class PostgresConnection {
    /// Seconds that a command may take without any progress.
    package var timeLimit: Double
    /// The server's version, as 150018.
    package private(set) var serverVersion = 0
    /// The index of the address's host that was tried first, after skipping those that did not answer.
    package private(set) var firstHost: Int
    /// The number of the address's hosts, at least 1.
    package private(set) var hostCount = 1
    private let library: cpostgres_library
    private let waiter: any PostgresWaiter
    private var connection: OpaquePointer?
    /// Set by libpq when the server made a commit and gave up to wait for its standbys.
    private let isUnreplicated = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    /// The bytes of the running command: so many may still be on their way when all were given to the network.
    private var sentBytes = 0
    /// The names of prepared commands: a server tells names of more than 63 bytes apart by their beginnings.
    private var prepared: [String: String] = [:]
    private var statementCount = 0
    /// Whether a command is running: the waiter must not start another one.
    private var isBusy = false

    /// Connects.
    ///
    /// - Parameters:
    ///   - address: the server's address.
    ///   - waiter: waits for the socket.
    ///   - timeLimit: seconds that connecting, and then each command without any progress, may take.
    ///   - firstHost: the index of the address's host to try first; the following ones come next.
    /// - Throws: ``PostgresError``.
    package init(
        _ address: SharedAddress, waiter: any PostgresWaiter, timeLimit: Double = 10, startingWith firstHost: Int = 0
    ) throws(PostgresError) {
        library = try PostgresLibrary.functions()
        self.waiter = waiter
        self.timeLimit = timeLimit
        self.firstHost = firstHost
        isUnreplicated.initialize(to: 0)
        var parameters = try PostgresParameters(address, library)
        try parameters.resolve(library)
        let attempts = max(parameters.hosts.count, 1)
        hostCount = attempts
        for attempt in 1...attempts where !isOpen {
            do throws(PostgresError) {
                try connect(parameters, Deadline(seconds: timeLimit / Double(attempts)))
            } catch {
                close()
                // libpq itself tries the next host when one refuses, but not when one does not answer.
                if error.kind != .timedOut || attempt == attempts { throw error }
                self.firstHost += 1
            }
        }
        try settle()
    }

    /// Sets what commands and the server's functions depend on, whatever the role or the database has for its sessions.
    private func settle() throws(PostgresError) {
        // An older server is refused later, by its version.
        guard serverVersion >= 130_000 else { return }
        var settings = ["default_transaction_read_only = off", "row_security = on", "standard_conforming_strings = on"]
        // An idle host waits for notifications.
        if serverVersion >= 140_000 { settings.append("idle_session_timeout = 0") }
        try runScript(settings.map { "set \($0)" }.joined(separator: "; "))
    }

    private func connect(_ parameters: PostgresParameters, _ deadline: Deadline) throws(PostgresError) {
        var parameters = parameters
        if !parameters.hosts.isEmpty {
            let names = parameters.names
            try parameters.setAddresses(
                names.isEmpty ? [] : HostResolver.addresses(of: names, deadline, waiter), startingWith: firstHost)
        }
        connection = parameters.withLists { library.PQconnectStartParams($0, $1, 1) } ?? nil
        guard connection != nil else { throw PostgresError(.disconnected, "not enough memory to connect") }
        try finishConnecting(deadline)
    }

    deinit {
        close()
        isUnreplicated.deallocate()
    }

    package var isOpen: Bool { connection != nil }

    /// The socket, to be watched for notifications; nil when closed.
    package var descriptor: Int32? {
        guard let connection else { return nil }
        let descriptor = library.PQsocket(connection)
        return descriptor < 0 ? nil : descriptor
    }

    /// The method of the transport's encryption, `TLSv1.3`; nil for none.
    package var encryption: String? {
        guard let connection, library.PQsslInUse(connection) != 0 else { return nil }
        return library.PQsslAttribute(connection, "protocol").map { String(cString: $0) }
    }

    /// The encoding of the database's texts; nil if the server did not say it.
    var encoding: String? {
        guard let connection, let name = library.PQparameterStatus(connection, "server_encoding") else { return nil }
        return String(cString: name)
    }

    /// The settings of the connection, without the password.
    package var settings: [String: String] { connection.map { PostgresParameters.settings(of: $0, library) } ?? [:] }

    /// The settings that a connection to an address would have, without the password. No network is asked.
    package static func settings(of address: SharedAddress) throws(PostgresError) -> [String: String] {
        let library = try PostgresLibrary.functions()
        var parameters = try PostgresParameters(address, library)
        try parameters.resolve(library)
        return parameters.resolved
    }

    package func close() {
        if let connection { library.PQfinish(connection) }
        connection = nil
        prepared = [:]
    }

    private func finishConnecting(_ deadline: Deadline) throws(PostgresError) {
        guard let connection else { return }
        cpostgres_take_notices(connection, isUnreplicated)
        var status = PGRES_POLLING_WRITING
        while status != PGRES_POLLING_OK {
            guard library.PQstatus(connection) != CONNECTION_BAD, status != PGRES_POLLING_FAILED else {
                throw PostgresError(.disconnected, failureToConnect)
            }
            // libpq may try another host, which has another socket.
            try wait(isWriting: status == PGRES_POLLING_WRITING, deadline, "connecting to the server")
            status = library.PQconnectPoll(connection)
        }
        _ = library.PQsetnonblocking(connection, 1)
        serverVersion = Int(library.PQserverVersion(connection))
    }

    private var failureToConnect: String {
        guard let connection, let text = library.PQerrorMessage(connection) else { return message }
        return String(cString: text).connectionLines
    }

    private var message: String {
        guard let connection, let text = library.PQerrorMessage(connection) else { return "the connection is closed" }
        return String(cString: text).firstLine
    }

    // MARK: Commands

    /// A command, with `$1`, `$2` for its parameters.
    package typealias Command = (sql: String, parameters: [PostgresValue])

    /// Whether the role may have the server's log flushed, which is taken from it only by a superuser. Without it commits are
    /// flushed before they are visible.
    var mayFlush = false

    /// Runs one command with parameters.
    ///
    /// - Parameters:
    ///   - sql: with `$1`, `$2` for the parameters.
    ///   - parameters: their values.
    ///   - isPrepared: whether the server keeps the command's plan: for a repeated one.
    /// - Returns: the rows.
    /// - Throws: ``PostgresError``; the connection is closed if the outcome is in doubt.
    @discardableResult
    package func run(
        _ sql: String, _ parameters: [PostgresValue] = [], isPrepared: Bool = false
    ) throws(PostgresError) -> PostgresResult {
        // Its plan is made in the same round trip.
        if isPrepared, prepared[sql] == nil, let result = try runAll([(sql, parameters)]).last { return result }
        return try exclusively { (connection) throws(PostgresError) in
            let name = isPrepared ? prepared[sql] : nil
            try send(name ?? sql, parameters, isPrepared: name != nil, on: connection)
            return try lastResult()
        }
    }

    /// Runs commands one after the other, without waiting for each answer: many of them take one round trip. After one
    /// that fails the later ones are not run.
    ///
    /// - Returns: the rows of each.
    /// - Throws: ``PostgresError`` of the first that failed.
    package func runAll(_ commands: [Command]) throws(PostgresError) -> [PostgresResult] {
        try runTransactions([commands]).first?.get() ?? []
    }

    /// Runs groups of commands, each of which is a transaction unless one is open, in one round trip. One that fails does not
    /// keep the later ones from being run.
    ///
    /// Without pipelines, which libpq has since version 14, each command is a transaction.
    ///
    /// - Returns: for each group the rows of its commands, or the error of the first that failed.
    /// - Throws: ``PostgresError`` when the connection broke.
    package func runTransactions(
        _ groups: [[Command]]
    ) throws(PostgresError) -> [Result<[PostgresResult], PostgresError>] {
        guard let enter = library.PQenterPipelineMode, let exit = library.PQexitPipelineMode,
            let end = library.PQpipelineSync
        else {
            var all: [Result<[PostgresResult], PostgresError>] = []
            for group in groups {
                var results: [PostgresResult] = []
                for (sql, parameters) in group { results.append(try run(sql, parameters)) }
                all.append(.success(results))
            }
            return all
        }
        return try exclusively { (connection) throws(PostgresError) in
            try check(enter(connection))
            defer { _ = exit(connection) }
            var made: [String: String] = [:]
            var isAnswer: [[Bool]] = []
            for group in groups {
                var isAnswerOfGroup: [Bool] = []
                for (sql, parameters) in group {
                    if prepared[sql] == nil, made[sql] == nil {
                        statementCount += 1
                        let types = parameters.map(\.type)
                        let name = "cubby \(statementCount)"
                        try check(library.PQsendPrepare(connection, name, sql, Int32(types.count), types))
                        made[sql] = name
                        isAnswerOfGroup.append(false)
                    }
                    try send(prepared[sql] ?? made[sql] ?? sql, parameters, isPrepared: true, on: connection)
                    isAnswerOfGroup.append(true)
                }
                try check(end(connection))
                isAnswer.append(isAnswerOfGroup)
            }
            var all: [Result<[PostgresResult], PostgresError>] = []
            for expected in isAnswer {
                let results = try resultsOfGroup()
                if case .success(let rows) = results, rows.count != expected.count {
                    throw PostgresResult.badAnswer("\(rows.count) results")
                }
                all.append(results.map { zip($0, expected).filter(\.1).map(\.0) })
            }
            // Those that a failure leaves unsure are made again under another name.
            if all.allSatisfy({ (try? $0.get()) != nil }) { prepared.merge(made) { $1 } }
            return all
        }
    }

    /// Runs the commands of an SQL script, without parameters; together they are one transaction.
    package func runScript(_ sql: String) throws(PostgresError) { _ = try resultOfScript(sql) }

    /// The same for a script whose last command has rows, which are texts.
    func resultOfScript(_ sql: String) throws(PostgresError) -> PostgresResult {
        try exclusively { (connection) throws(PostgresError) in
            try check(library.PQsendQuery(connection, sql))
            return try lastResult()
        }
    }

    /// Runs a `COPY … TO STDOUT`, and passes on its data piece by piece.
    package func copyOut(
        _ sql: String, _ body: (UnsafeRawBufferPointer) throws(PostgresError) -> Void
    ) throws(PostgresError) {
        try exclusively { (connection) throws(PostgresError) in
            try check(library.PQsendQuery(connection, sql))
            let begin = try nextResult()
            guard let begin, library.PQresultStatus(begin) == PGRES_COPY_OUT else {
                throw begin.map { failure($0) } ?? PostgresResult.badAnswer("no copy")
            }
            library.PQclear(begin)
            while true {
                var piece: UnsafeMutablePointer<CChar>?
                let count = library.PQgetCopyData(connection, &piece, 1)
                if count > 0 {
                    defer { library.PQfreemem(piece) }
                    try body(UnsafeRawBufferPointer(start: piece, count: Int(count)))
                    continue
                }
                if count < 0 { break }
                try wait(isWriting: false, patience, "reading the items")
                try check(library.PQconsumeInput(connection))
            }
            _ = try lastResult()
        }
    }

    /// Reads from the server, and returns the texts of the notifications on the channels listened to.
    ///
    /// - Throws: ``PostgresError`` with `disconnected`.
    package func takeNotifications() throws(PostgresError) -> [String] {
        guard let connection, !isBusy else { return [] }
        guard library.PQconsumeInput(connection) != 0 else {
            let error = PostgresError(.disconnected, message)
            close()
            throw error
        }
        return takeArrivedNotifications()
    }

    /// The texts of the notifications that came with an answer: libpq takes them whenever it reads, and the socket is not
    /// readable again for them.
    package func takeArrivedNotifications() -> [String] {
        guard let connection, !isBusy else { return [] }
        var texts: [String] = []
        while let notification = library.PQnotifies(connection) {
            texts.append(notification.pointee.extra.map { String(cString: $0) } ?? "")
            library.PQfreemem(notification)
        }
        return texts
    }

    // MARK: One command at a time

    private func exclusively<Value>(
        _ body: (OpaquePointer) throws(PostgresError) -> Value
    ) throws(PostgresError) -> Value {
        guard let connection else { throw PostgresError(.disconnected, "there is no connection to the server") }
        precondition(!isBusy, "a connection runs one command at a time")
        isBusy = true
        (sentBytes, isUnreplicated.pointee) = (0, 0)
        defer { isBusy = false }
        do throws(PostgresError) {
            let value = try body(connection)
            guard isUnreplicated.pointee == 0 else { throw Self.unreplicated }
            return value
        } catch {
            if library.PQstatus(connection) == CONNECTION_BAD || error.isInDoubt
                || library.PQtransactionStatus(connection) == PQTRANS_ACTIVE
            {
                close()
            }
            throw error
        }
    }

    private static let unreplicated = PostgresError(
        .disconnected,
        "the server gave up to wait for its standbys: it has the commit, which a failover to one of them may lose")

    /// When the running command has made no progress for too long. What was sent may wait in buffers on a slow link, and
    /// the server needs time for much: 64 KB take a second more.
    private var patience: Deadline { Deadline(seconds: timeLimit + Double(sentBytes) / 65_536) }

    /// Sends a command, or the name of a prepared one.
    private func send(
        _ sql: String, _ parameters: [PostgresValue], isPrepared: Bool, on connection: OpaquePointer
    ) throws(PostgresError) {
        let encoded = parameters.map(\.encoded)
        let types = parameters.map(\.type)
        let lengths = encoded.map { Int32(clamping: $0?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: encoded.count)
        // One buffer holds all values, so that addresses stay valid. It is never empty: a null address means null.
        let bytes = encoded.reduce(into: [UInt8]()) { $0 += $1 ?? [] } + [0]
        sentBytes += bytes.count
        let count = Int32(encoded.count)
        let sent = bytes.withUnsafeBytes { buffer in
            var offset = 0
            let values: [UnsafePointer<CChar>?] = encoded.map { value in
                guard let value else { return nil }
                defer { offset += value.count }
                return buffer.baseAddress.map { ($0 + offset).assumingMemoryBound(to: CChar.self) }
            }
            return isPrepared
                ? library.PQsendQueryPrepared(connection, sql, count, values, lengths, formats, 1)
                : library.PQsendQueryParams(connection, sql, count, types, values, lengths, formats, 1)
        }
        try check(sent)
    }

    /// Sends the remaining output, and waits for the next result; nil after the last.
    private func nextResult() throws(PostgresError) -> OpaquePointer? {
        guard let connection else { return nil }
        var deadline = patience
        while true {
            let flushed = library.PQflush(connection)
            if flushed < 0 { throw PostgresError(.disconnected, message) }
            if flushed == 0, library.PQisBusy(connection) == 0 { return library.PQgetResult(connection) }
            if try wait(isWriting: flushed > 0, deadline, "the server's answer") { deadline = patience }
            try check(library.PQconsumeInput(connection))
        }
    }

    /// Takes all results of a command, and returns the last.
    private func lastResult() throws(PostgresError) -> PostgresResult {
        var last: PostgresResult?
        var error: PostgresError?
        while let result = try nextResult() {
            switch library.PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: last = PostgresResult(library, result)
            case PGRES_COPY_OUT, PGRES_COPY_IN:
                library.PQclear(result)
                throw PostgresResult.badAnswer("a copy")
            default: error = error ?? failure(result)
            }
        }
        if let error { throw error }
        guard let last else { throw PostgresError(.disconnected, message) }
        return last
    }

    /// Takes the results of all commands up to the mark behind them.
    private func resultsOfGroup() throws(PostgresError) -> Result<[PostgresResult], PostgresError> {
        var results: [PostgresResult] = []
        var error: PostgresError?
        while true {
            guard let result = try nextResult() else {
                // The end of one command's results, or of the connection.
                if connection.map({ library.PQstatus($0) == CONNECTION_BAD }) ?? true {
                    throw error ?? PostgresError(.disconnected, message)
                }
                continue
            }
            switch library.PQresultStatus(result) {
            case PGRES_PIPELINE_SYNC:
                library.PQclear(result)
                return error.map { .failure($0) } ?? .success(results)
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK: results.append(PostgresResult(library, result))
            case PGRES_PIPELINE_ABORTED: library.PQclear(result)
            default: error = error ?? failure(result)
            }
        }
    }

    /// The error of a result, which is freed.
    private func failure(_ result: OpaquePointer) -> PostgresError {
        defer { library.PQclear(result) }
        let primary = library.PQresultErrorField(result, Int32(UInt8(ascii: "M"))).map { String(cString: $0) }
        guard let code = library.PQresultErrorField(result, Int32(UInt8(ascii: "C"))) else {
            return PostgresError(.disconnected, primary ?? message)
        }
        return PostgresError(.server(String(cString: code)), primary ?? message)
    }

    private func check(_ succeeded: Int32) throws(PostgresError) {
        if succeeded == 0 { throw PostgresError(.disconnected, message) }
    }

    /// - Returns: whether the socket is ready.
    @discardableResult
    private func wait(isWriting: Bool, _ deadline: Deadline, _ what: String) throws(PostgresError) -> Bool {
        guard let descriptor else { throw PostgresError(.disconnected, message) }
        let left = deadline.seconds
        if left > 0, try waiter.wait(for: descriptor, isWriting: isWriting, seconds: left) { return true }
        if !deadline.hasPassed { return false }
        throw PostgresError(
            .timedOut, "\(what) took longer than \(Int(timeLimit)) s: the server, or the way to it, does not answer")
    }
}

/// libpq's functions, resolved on first use.
enum PostgresLibrary {
    /// - Throws: ``PostgresError`` with `libraryMissing`, whose message names the package to install.
    static func functions() throws(PostgresError) -> cpostgres_library {
        var reason: UnsafePointer<CChar>?
        guard let library = cpostgres_library(&reason) else {
            throw PostgresError(
                .libraryMissing,
                "shared collections need libpq (\(reason.map { String(cString: $0) } ?? "")): install it with apt install libpq5"
            )
        }
        return library.pointee
    }
}
