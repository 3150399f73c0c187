public import ColumnEngine
import Files
import ItemArchive

/// Loads the items from the cache and later commits from the server, or all items from the server.
extension SharedPersistence {
    public func load(into loader: ItemLoader) throws(StoreError) -> ItemLoadReport {
        places.columns = loader.store
        var report = ItemLoadReport()
        defer { isLoaded = true }
        openFolder()
        var failure: StoreError?
        do throws(StoreError) { try server.connectToLoad() } catch { failure = error }
        let schema = loader.store.schema
        if failure == nil { try checkFields(server.collection, schema) }
        settleFolder()
        report.notices += local.notices
        if failure == nil, isReader { report.notices.append(readerReason) }
        defer { local.peeked = nil }
        queue?.hasOwnFields = SharedFields.record(of: schema) != nil
        try readQueue(&report)
        var cached = readCache(&report)
        if let failure {
            guard failure.code == .disconnected || (failure.cause as? PostgresError)?.kind == .formerPrimary,
                let found = cached
            else { throw failure }
            try checkFields(found.collection, schema)
            guard (try? load(found, into: loader, &report)) != nil else { throw failure }
            // What is found later has to be the same collection.
            server.assume(found.collection)
            report.notices.append(
                "the collection's server does not answer (\(failure.message)): the items are as they were when it last did"
                    + (keepsCommits
                        ? ", and changes are kept until it is back"
                        : opensReadOnly ? "" : ", and can be changed when it is back"))
            try applyPendingCommits(loader, &report, isSinceCache: true)
            return report
        }
        // The copy lacks what could not be read then: it may have been restored. What waits was made on the copy.
        if folder?.isIncomplete ?? false, !hasPendingCommits, !opensReadOnly {
            cached = nil
            cache?.discontinue()
        }
        if let found = cached, let reason = try reasonAgainst(found) {
            quarantineCache(reason, &report)
            cached = nil
        }
        if let found = cached {
            do throws(StoreError) {
                try load(found, into: loader, &report)
                try catchUpAtStart(loader, &report)
            } catch {
                quarantineCache(error.message, &report)
                cached = nil
                isLogBroken = false
                places.ranks = RankTable()
                try loader.removeAll()
                try loader.declare(FieldDeclarations())
            }
        }
        if cached == nil { try loadFromServer(into: loader, &report) }
        try applyPendingCommits(loader, &report, isSinceCache: cached != nil)
        return report
    }

    /// Brings the items of the cache up to date, unless commits wait: then the store does it, which finds conflicts.
    ///
    /// - Throws: `StoreError` if the log does not lead from these items to those of the server.
    private func catchUpAtStart(_ loader: ItemLoader, _ report: inout ItemLoadReport) throws(StoreError) {
        if hasPendingCommits { return }
        if let collection = server.collection, report.revision.rawValue < collection.floor {
            throw StoreError(.inputOutput, "the server's log does not reach back to when this host last saw it")
        }
        do throws(StoreError) { try catchUp(loader, &report) } catch {
            guard error.code == .disconnected else { throw error }
            report.notices.append(
                "the later commits could not be fetched (\(error.message)): the items are as of revision "
                    + "\(report.revision.rawValue)")
        }
    }

    /// All items as of one revision, from the server.
    private func loadFromServer(into loader: ItemLoader, _ report: inout ItemLoadReport) throws(StoreError) {
        var found = Lineage()
        var declared: [UInt8] = []
        var items = try server.asking { () throws(PostgresError) in
            guard let connection = server.connection, let collection = server.collection else {
                throw PostgresError(.disconnected, "there is no connection")
            }
            // One snapshot for the revision and the items.
            try connection.runScript(
                "begin isolation level repeatable read read only; set local enable_seqscan = on")
            let head = try connection.run(
                "select head, lineage from cubby.collection where id = $1", [.int4(collection.number)])
            found = Lineage(revision: try head.revision(0, 0), identifier: try head.bytes(0, 1) ?? [])
            if collection.keepsDeclarations {
                declared = try SharedFields.declared(in: collection.number, connection)
            }
            var items = ItemCopy()
            try connection.copyOut(
                "copy (select rank, record from cubby.item where collection = \(collection.number)) to stdout (format binary)"
            ) { (piece) throws(PostgresError) in try items.add(piece) }
            try connection.runScript("commit")
            try connection.flush()
            return items
        }
        report.revision.rawValue = found.revision
        server.log.restart(at: found)
        server.log.flushed(through: found.revision)
        loader.reserve(items.count)
        var leftOut: [LeftOutItem] = []
        items.forEachInOrder { (rank, record) in
            do throws(StoreError) {
                guard !rank.isEmpty, rank.count <= Rank.lengthLimit else {
                    throw StoreError(.corruptJournal, "its rank has \(rank.count) bytes")
                }
                let row = try loader.addRecord(RecordChecksum.opened(record, rank: rank))
                places.ranks.set(row, rank)
            } catch {
                leftOut.append(LeftOutItem(rank: Array(rank), record: Array(record), reason: error.message))
            }
        }
        report.archivedItems = items.count - leftOut.count
        noticesOfLeftOut = notices(of: leftOut)
        report.notices += noticesOfLeftOut
        if !leftOut.isEmpty { setIncomplete(true) }
        if declared.isEmpty { return }
        let declarations: FieldDeclarations
        do throws(StoreError) { declarations = try SharedFields.declarations(declared) } catch {
            throw StoreError(
                error.code,
                "what is declared of the collection's fields cannot be read on the server (\(error.message))",
                cause: error)
        }
        try loader.declare(declarations)
    }
}

/// The rows of a `COPY` in PostgreSQL's binary format, each with a rank and a record.
private struct ItemCopy {
    private var bytes: [UInt8] = []
    /// The location of each row's rank and record.
    private var places: [(rank: Range<Int>, record: Range<Int>, prefix: UInt64)] = []
    private var isBegun = false

    var count: Int { places.count }

    /// Adds a piece. A header precedes the first row, and a count of -1 ends the rows.
    mutating func add(_ piece: UnsafeRawBufferPointer) throws(PostgresError) {
        var rest = piece[...]
        if !isBegun {
            isBegun = true
            guard rest.count >= 19 else { throw PostgresResult.badAnswer("a copy without a header") }
            let extensions = Int(Self.number(rest.dropFirst(15)))
            guard extensions >= 0, rest.count >= 19 + extensions else {
                throw PostgresResult.badAnswer("a header that is cut")
            }
            rest = rest.dropFirst(19 + extensions)
        }
        while rest.count >= 2 {
            let fields = Int16(truncatingIfNeeded: Int32(rest[rest.startIndex]) << 8 | Int32(rest[rest.startIndex + 1]))
            rest = rest.dropFirst(2)
            if fields == -1 { return }
            guard fields == 2 else { throw PostgresResult.badAnswer("a row of \(fields) fields") }
            let rank = try field(&rest)
            let record = try field(&rest)
            var prefix: UInt64 = 0
            for place in 0..<8 {
                prefix = prefix << 8 | (place < rank.count ? UInt64(bytes[rank.lowerBound + place]) : 0)
            }
            places.append((rank, record, prefix))
        }
        guard rest.isEmpty else { throw PostgresResult.badAnswer("a row that is cut") }
    }

    private mutating func field(_ rest: inout Slice<UnsafeRawBufferPointer>) throws(PostgresError) -> Range<Int> {
        guard rest.count >= 4 else { throw PostgresResult.badAnswer("a row that is cut") }
        let count = Int(Self.number(rest))
        guard count >= 0, rest.count >= 4 + count else { throw PostgresResult.badAnswer("a value that is cut") }
        let start = bytes.count
        bytes.append(contentsOf: rest.dropFirst(4).prefix(count))
        rest = rest.dropFirst(4 + count)
        return start..<start + count
    }

    private static func number(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int32 {
        Int32(bigEndian: bytes.base.loadUnaligned(fromByteOffset: bytes.startIndex, as: Int32.self))
    }

    /// Calls `body` with each item's rank and record, by rank; ties are ordered by key, with which a record begins.
    mutating func forEachInOrder(_ body: (ArraySlice<UInt8>, UnsafeRawBufferPointer) -> Void) {
        places.sort { first, second in
            if first.prefix != second.prefix { return first.prefix < second.prefix }
            let (left, right) = (bytes[first.rank], bytes[second.rank])
            if left != right { return left.lexicographicallyPrecedes(right) }
            return bytes[first.record].lexicographicallyPrecedes(bytes[second.record])
        }
        for place in places {
            bytes.withUnsafeBytes { body(bytes[place.rank], UnsafeRawBufferPointer(rebasing: $0[place.record])) }
        }
    }
}

/// The last four bytes of each record on the server: a damaged record may still decode as a valid one.
enum RecordChecksum {
    private static let length = 4

    /// A record with its checksum. The rank is that of the record's item; it is empty for a record of the log.
    static func sealed(_ record: [UInt8], rank: [UInt8] = []) -> [UInt8] {
        let checksum = record.withUnsafeBytes { self.checksum($0, rank[...]) }
        return record + withUnsafeBytes(of: checksum.littleEndian) { Array($0) }
    }

    /// The changes of a sealed record.
    static func changes(
        of sealed: [UInt8], rank: ArraySlice<UInt8> = [], _ schema: ItemSchema
    ) throws(StoreError) -> [RecordChange] {
        try sealed.withBytes { (bytes) throws(StoreError) in
            try RecordChange.changes(of: opened(bytes, rank: rank), schema)
        }
    }

    /// A record without its checksum.
    ///
    /// - Throws: `StoreError` with `corruptJournal` if the checksum does not match.
    static func opened(
        _ sealed: UnsafeRawBufferPointer, rank: ArraySlice<UInt8> = []
    ) throws(StoreError) -> UnsafeRawBufferPointer {
        guard sealed.count >= length else { throw StoreError(.corruptJournal, "a record ends too early") }
        let record = UnsafeRawBufferPointer(rebasing: sealed.dropLast(length))
        let checksum = UInt32(littleEndian: sealed.loadUnaligned(fromByteOffset: record.count, as: UInt32.self))
        guard checksum == self.checksum(record, rank) else {
            throw StoreError(.corruptJournal, "a record's checksum is wrong")
        }
        return record
    }

    private static func checksum(_ record: UnsafeRawBufferPointer, _ rank: ArraySlice<UInt8>) -> UInt32 {
        UInt32(truncatingIfNeeded: Checksum.hash(record, seed: rank.withUnsafeBytes { Checksum.hash($0) }))
    }
}

/// An item of the server's table that is left out, since its rank and record cannot be read.
struct LeftOutItem {
    let rank: [UInt8]
    let record: [UInt8]
    let reason: String
}

/// What is left out of a collection: bytes that somebody with rights on the tables wrote, or that a disk damaged. It keeps
/// nobody from the other items.
extension SharedPersistence {
    /// The number of items that are named.
    private static let namedItems = 10

    /// What the user has to know of items that are left out; empty if none are.
    func notices(of items: [LeftOutItem]) -> [String] {
        if items.isEmpty { return [] }
        let named = Array(items.prefix(Self.namedItems))
        let found = (try? find(named)) ?? [:]
        var notices = named.enumerated().map { place, item in
            let (name, revision) = found[place] ?? ("that cannot be named", "")
            return
                "the item \(name) of the collection \(address.collection) is damaged on the server\(revision), and left "
                + "out (\(item.reason)): the collection's owner restores it from a backup, or removes it"
        }
        let rest = items.count - named.count
        if rest > 0 {
            notices.append(
                "\(rest.counted("further item")) of the collection \(address.collection) \(rest == 1 ? "is" : "are") damaged "
                    + "on the server, and left out")
        }
        return notices
    }

    /// The keys of items, as texts, and what to say of their revisions, by their places. Without an index the server reads the
    /// whole table.
    private func find(_ items: [LeftOutItem]) throws(StoreError) -> [Int: (name: String, revision: String)] {
        let (connection, collection) = try server.reached()
        return try server.asking { () throws(PostgresError) in
            let rows = try connection.run(
                "select n.place, i.key, i.version from unnest($2, $3) with ordinality as n (rank, record, place) "
                    + "join cubby.item i on i.collection = $1 and i.rank = n.rank and i.record = n.record "
                    + "order by position(i.key in i.record) desc",
                [.int4(collection.number), .byteArrays(items.map(\.rank)), .byteArrays(items.map(\.record))])
            var found: [Int: (String, String)] = [:]
            for row in 0..<rows.rowCount {
                let key = try rows.bytes(row, 1) ?? []
                let text = key.withUnsafeBytes { try? RecordChange.key($0) }
                let name = text ?? "with the bytes \(Array(key.prefix(40)).hexadecimal) as its key"
                found[Int(try rows.number(row, 0)) - 1] = (name, " (as of revision \(try rows.number(row, 2)))")
            }
            return found
        }
    }

    /// Records whether the copy lacks items of the server. It says so before such a copy is written, and no longer when one is
    /// that does not.
    func setIncomplete(_ isIncomplete: Bool) {
        guard !opensReadOnly, let folders = local.folders, var changed = folder, changed.isIncomplete != isIncomplete
        else {
            return
        }
        changed.isIncomplete = isIncomplete
        local.folder = changed
        do throws(FileError) { try changed.write(using: folders.layer) } catch {
            onNotice(
                "the copy of the collection \(address.collection) cannot be marked as lacking items (\(error.message)): a start "
                    + "from it does not look for them")
        }
    }
}
