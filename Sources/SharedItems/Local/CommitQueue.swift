import ColumnEngine
import Files
import ItemArchive
import PropertyList

/// This host's commits that are queued for the server, oldest first, and those in conflict with remote commits.
///
/// They are in a file in the format of a journal: each commit, and its outcome, is a record. The file is removed when
/// no commit is queued or to be settled.
final class CommitQueue {
    /// The kind of a record; the rest of it is the commit, or its token and more.
    private enum Code: UInt8 {
        case commit = 1
        /// The server has the commit, or it was dropped.
        case ended = 2
        /// Token, the other host, the items that it had removed; and why the server refused the commit, if it did.
        case conflict = 3
    }

    let path: String
    private let layer: any FileLayer
    private var writer: JournalWriter?
    /// Whether the items have other fields than a household's, by whose places commits have their values.
    var hasOwnFields = false
    private(set) var waiting: [QueuedCommit] = []
    private(set) var conflicts: [QueuedCommit] = []
    /// The number of commits that were added.
    private var count = 0

    init(_ path: String, using layer: any FileLayer) {
        self.path = path
        self.layer = layer
    }

    // MARK: Reading

    /// Reads the file, if there is one.
    ///
    /// - Parameter isReadOnly: whether to leave the file unchanged.
    /// - Throws: `StoreError` with `corruptJournal` if it is unusable; with `inputOutput`.
    func load(isReadOnly: Bool) throws(StoreError) {
        let bytes: [UInt8]
        do throws(FileError) {
            guard try layer.status(path) != nil else { return }
            bytes = try layer.contents(of: path)
        } catch { throw Self.unreadable(error) }
        let scan = try bytes.withBytes { (bytes) throws(StoreError) in
            let scan = try JournalScan(bytes)
            var ended: [[UInt8]] = []
            for record in scan.records {
                try replay(UnsafeRawBufferPointer(rebasing: bytes[record.payload]), &ended)
            }
            remove(ended)
            return scan
        }
        if isReadOnly { return }
        do throws(FileError) {
            let writer = try JournalWriter(
                path, scan.header, scan.nextSequence, length: scan.intactLength, using: layer)
            if scan.damage != nil { try writer.cut() }
            self.writer = writer
        } catch { throw Self.unreadable(error) }
    }

    private func replay(_ record: UnsafeRawBufferPointer, _ ended: inout [[UInt8]]) throws(StoreError) {
        var reader = RecordReader(record)
        switch Code(rawValue: try reader.byte()) {
        case .commit: append(try QueuedCommit(&reader))
        case .ended: ended.append([UInt8](try reader.piece(16)))
        case .conflict:
            let token = [UInt8](try reader.piece(16))
            let host = try reader.string()
            guard let lost = try reader.value().fields else { throw reader.corrupt("items are none") }
            var items: NameTable<PropertyListFields> = [:]
            for (key, item) in lost { items[key] = item.fields }
            move(token, host, items, denial: reader.isAtEnd ? nil : try reader.string())
        case nil: throw reader.corrupt("an unknown record")
        }
    }

    /// Moves an unreadable file to another name.
    ///
    /// - Returns: the new path.
    func quarantineFile() throws(StoreError) -> String? {
        (waiting, conflicts, writer) = ([], [], nil)
        do throws(FileError) { return try QuarantinedFile.move(path, using: layer) } catch {
            throw Self.unreadable(error)
        }
    }

    // MARK: Changing

    /// Gives waiting commits other values, which a restart finds out again.
    func update(_ commits: [PendingCommit]) {
        let changed = Dictionary(commits.map { ($0.identifier, $0) }) { $1 }
        for index in waiting.indices {
            if let commit = changed[waiting[index].token] { waiting[index].pending = commit }
        }
    }

    /// Adds a commit.
    ///
    /// - Throws: `StoreError` with `inputOutput`: the commit is not queued.
    func add(_ commit: QueuedCommit, durable: Bool) throws(StoreError) {
        var record = Self.record(.commit)
        commit.write(to: &record)
        try write(record, durable: durable)
        append(commit)
    }

    private func append(_ commit: QueuedCommit) {
        var commit = commit
        commit.place = count
        count += 1
        waiting.append(commit)
    }

    /// Removes commits that the server has, or that were dropped.
    func end(_ tokens: [[UInt8]]) throws(StoreError) {
        for (place, token) in tokens.enumerated() {
            var record = Self.record(.ended)
            record.bytes += token
            try write(record, durable: place == tokens.count - 1)
        }
        remove(tokens)
        guard waiting.isEmpty, conflicts.isEmpty, writer != nil else { return }
        writer = nil
        // A file that could not be removed has a record for the end of each commit.
        try? layer.remove(path)
    }

    /// Keeps conflicting commits for the user to settle, the newest first: a process that is killed meanwhile leaves none
    /// waiting that builds on one of them.
    ///
    /// - Parameter commits: oldest first, with the other host's name and the items that it had removed.
    /// - Throws: `StoreError` with `inputOutput`.
    func quarantine(_ commits: [PendingCommit]) throws(StoreError) {
        for (place, commit) in commits.enumerated().reversed() {
            var record = Self.record(.conflict)
            record.bytes += commit.identifier
            record.text(commit.host)
            record.value(.fields(PropertyListFields(commit.lostItems.map { ($0.key, .fields($0.value)) })))
            if let denial = commit.denial { record.text(denial) }
            // The file has its records in order, also after a power cut.
            try write(record, durable: place == 0)
            move(commit.identifier, commit.host, commit.lostItems, denial: commit.denial)
        }
    }

    private func remove(_ tokens: [[UInt8]]) {
        let gone = Set(tokens)
        waiting.removeAll { gone.contains($0.token) }
        conflicts.removeAll { gone.contains($0.token) }
    }

    private func move(_ token: [UInt8], _ host: String, _ lost: NameTable<PropertyListFields>, denial: String?) {
        guard let index = waiting.firstIndex(where: { $0.token == token }) else { return }
        var commit = waiting.remove(at: index)
        (commit.pending.host, commit.pending.lostItems, commit.pending.denial) = (host, lost, denial)
        conflicts.insert(commit, at: conflicts.firstIndex { $0.place > commit.place } ?? conflicts.endIndex)
    }

    private static func record(_ code: Code) -> RecordWriter {
        var record = RecordWriter([UInt8](repeating: 0, count: JournalRecord.headerLength))
        record.bytes.append(code.rawValue)
        return record
    }

    private func write(_ record: consuming RecordWriter, durable: Bool) throws(StoreError) {
        var bytes = record.bytes
        do throws(FileError) {
            if writer == nil { writer = try newFile(durable: durable) }
            try writer?.append(&bytes, kind: .changes, durable: durable)
        } catch {
            throw StoreError(
                .inputOutput, "the commit cannot be kept until the server is back: \(error.message)", path: path,
                cause: error)
        }
    }

    private func newFile(durable: Bool) throws(FileError) -> JournalWriter {
        try layer.makeDirectories(PathText.parent(of: path))
        var header = JournalHeader(archive: .none, identifier: .random(in: 0 ... .max), firstSequence: 1)
        if hasOwnFields { header.version = JournalHeader.latestVersion }
        return try JournalWriter.create(path, header, nextSequence: 1, durable: durable, using: layer)
    }

    private static func unreadable(_ error: FileError) -> StoreError {
        StoreError(.inputOutput, "the commits that wait for the server: \(error.message)", cause: error)
    }
}

/// A commit queued for the server, with the data to send.
struct QueuedCommit {
    var pending: PendingCommit
    /// Its place among all that were queued.
    var place = 0
    /// The keys of removed items in the encoding of records.
    let removed: [[UInt8]]
    /// The keys of inserted or changed items.
    let keys: [[UInt8]]
    /// The changes, for the other hosts.
    let record: [UInt8]
    /// The collection's revision that it is based on.
    let seen: UInt64

    var token: [UInt8] { pending.identifier }

    init(_ pending: PendingCommit, _ commit: EncodedCommit, seen: UInt64) {
        self.pending = pending
        self.seen = seen
        (removed, keys, record) = (commit.removed, commit.keys, commit.record)
    }

    // MARK: Bytes

    /// Encodes the commit as a part of a record.
    func write(to writer: inout RecordWriter) {
        writer.bytes += token
        writer.fixed(seen)
        writer.fixed(pending.date.secondsSinceReferenceDate.bitPattern)
        for list in [removed, keys, [record]] { writer.pieces(list) }
        switch pending.reads {
        case nil: writer.bytes.append(0)
        case .whole: writer.bytes.append(1)
        case .keys(let keys):
            writer.bytes.append(2)
            writer.pieces(keys)
        }
        writer.varint(UInt64(pending.changes.count))
        for change in pending.changes {
            writer.piece(change.rank)
            writer.piece(change.formerRank)
            writer.value(.fields(change.change.propertyList))
        }
    }

    /// Decodes such a part, which is not trusted.
    init(_ reader: inout RecordReader) throws(StoreError) {
        let token = [UInt8](try reader.piece(16))
        seen = try reader.fixed(UInt64.self)
        let date = Double(bitPattern: try reader.fixed(UInt64.self))
        (removed, keys) = (try reader.pieces(), try reader.pieces())
        guard let record = try reader.pieces().first, date.isFinite else {
            throw reader.corrupt("a commit has no changes")
        }
        self.record = record
        let reads = try Self.reads(&reader)
        var changes: [PendingCommit.Change] = []
        for _ in 0..<(try reader.count()) {
            let rank = [UInt8](try reader.piece(try reader.varint()))
            let former = [UInt8](try reader.piece(try reader.varint()))
            guard let values = try reader.value().fields, let change = ItemChange(values) else {
                throw reader.corrupt("a change is none")
            }
            changes.append(PendingCommit.Change(change, rank: rank, formerRank: former))
        }
        pending = PendingCommit(
            identifier: token, date: PropertyListDate(secondsSinceReferenceDate: date), changes: changes,
            reads: reads)
    }

    private static func reads(_ reader: inout RecordReader) throws(StoreError) -> ItemReads? {
        switch try reader.byte() {
        case 0: return nil
        case 1: return .whole
        case 2:
            return .keys(Set(try reader.pieces()))
        default: throw reader.corrupt("what a commit read is none")
        }
    }
}

extension RecordWriter {
    fileprivate mutating func pieces(_ all: some Collection<[UInt8]>) {
        varint(UInt64(all.count))
        for bytes in all { piece(bytes) }
    }
}

extension RecordReader {
    fileprivate mutating func pieces() throws(StoreError) -> [[UInt8]] {
        try (0..<count()).map { (_) throws(StoreError) in [UInt8](try piece(try varint())) }
    }
}

extension ItemChange {
    /// The change as a dictionary.
    fileprivate var propertyList: PropertyListFields {
        var list: PropertyListFields = [
            "kind": .string(kind.rawValue), "itemKey": .string(itemKey), "name": .string(name),
        ]
        list["field"] = field.map { .string($0) }
        list["old"] = old
        list["new"] = new
        list["increment"] = increment
        list["values"] = values.map { .fields($0) }
        return list
    }

    /// Decodes such a dictionary; nil if it is malformed.
    fileprivate init?(_ list: PropertyListFields) {
        guard case .string(let word)? = list["kind"], let kind = Kind(exactly: word),
            case .string(let key)? = list["itemKey"], case .string(let name)? = list["name"]
        else { return nil }
        self.init(kind, itemKey: key, name: name)
        if case .string(let text)? = list["field"] { field = text }
        old = list["old"]
        new = list["new"]
        increment = list["increment"]
        if let values = list["values"]?.fields { self.values = values }
        guard (kind == .update) == (field != nil), (kind == .insert || kind == .remove) == (values != nil) else {
            return nil
        }
    }
}

/// The oldest commits of the queue, which are sent in one transaction of the server, as they are sent.
///
/// The store has all commits of the queue. What is sent of an item is its state as of the last commit of the batch:
/// between two batches other hosts may commit, and a later commit of the queue may then be one that cannot follow.
struct QueuedBatch {
    private static let commitLimit = 250
    private static let byteLimit = 1 << 20

    let commits: [QueuedCommit]
    /// By key, what later commits do to the items that these change, oldest first.
    private var later: NameTable<[PendingCommit.Change]> = [:]
    private let columns: ColumnStore
    private let ranks: RankTable

    /// The number of commits at the front of a queue that are a batch.
    static func count(_ waiting: [QueuedCommit]) -> Int {
        var bytes = 0
        return waiting.prefix(commitLimit).prefix { commit in
            defer { bytes += commit.record.count }
            return bytes < byteLimit
        }.count
    }

    init(
        _ commits: [QueuedCommit], before rest: some Sequence<QueuedCommit>, in places: ItemPlaces,
        _ columns: ColumnStore
    ) {
        self.commits = commits
        self.columns = columns
        ranks = places.ranks
        let keys = NameSet(commits.lazy.flatMap(\.pending.changes).map(\.change.itemKey))
        for change in rest.lazy.flatMap(\.pending.changes) where keys.contains(change.change.itemKey) {
            later[change.change.itemKey, default: []].append(change)
        }
    }

    /// The commits as they are sent: each item with the last commit that changes it.
    func encoded() throws(StoreError) -> [EncodedCommit] {
        var last: [[UInt8]: Int] = [:]
        for (index, commit) in commits.enumerated() { for key in commit.keys { last[key] = index } }
        var result: [EncodedCommit] = []
        for (index, commit) in commits.enumerated() {
            var encoded = EncodedCommit(removed: commit.removed, record: try record(of: commit))
            encoded.claims = UniqueClaim.all(commit.pending.changes, columns)
            if let last = commit.pending.changes.last(where: { $0.change.kind == .declare }) {
                let declared = try? FieldDeclarations(record: last.change.new)
                encoded.declarations = EncodedCommit.record(of: declared ?? FieldDeclarations())
            }
            for key in commit.keys where last[key] == index { try add(key, to: &encoded) }
            result.append(encoded)
        }
        return result
    }

    // MARK: Items

    /// Adds an item as of the last commit, if it is there then.
    private func add(_ key: [UInt8], to encoded: inout EncodedCommit) throws(StoreError) {
        let text = try key.withBytes { (bytes) throws(StoreError) in try RecordChange.key(bytes) }
        let row = columns.row(ofKey: text)
        var rank = row.flatMap { ranks[$0] }
        var item = JournalEncoder(columns)
        if let changes = later[text] {
            guard let values = takenBack(changes, from: row, &rank) else { return }
            try columns.withDraft(of: values) { item.insertion($0, at: nil) }
        } else {
            guard let row else { return }
            item.insertion(row, at: nil)
        }
        guard let rank else { return }
        encoded.keys.append(key)
        encoded.ranks.append(rank)
        encoded.records.append(RecordChecksum.sealed(item.bytes, rank: rank))
    }

    /// The fields that an item had before some changes; nil if it was not there.
    private func takenBack(
        _ changes: [PendingCommit.Change], from row: UInt32?, _ rank: inout [UInt8]?
    ) -> PropertyListFields? {
        var values = row.map { columns.dictionary(of: $0, keepsAttachment: true, marksAbsent: true) }
        for change in changes.reversed() {
            switch change.change.kind {
            case .insert: values = nil
            case .remove: (values, rank) = (change.change.values, change.formerRank)
            case .update: values?[change.change.field ?? ""] = change.change.old
            case .move: rank = change.formerRank
            case .declare: continue
            }
        }
        return values
    }

    // MARK: Records

    /// The changes of a commit for the other hosts. Increments follow the numbers that are there by now, and the others
    /// get their results: so does a host of any version.
    private func record(of commit: QueuedCommit) throws(StoreError) -> [UInt8] {
        var numbers: NameTable<NameTable<PropertyListValue?>> = [:]
        for change in commit.pending.changes.lazy.map(\.change) where change.increment != nil {
            numbers[change.itemKey, default: [:]].updateValue(nil, forKey: change.field ?? "")
        }
        if numbers.isEmpty { return commit.record }
        // The last change of a field counts.
        for change in commit.pending.changes.lazy.map(\.change) where change.kind == .update {
            guard let field = change.field, numbers[change.itemKey]?[field] != nil else { continue }
            numbers[change.itemKey]?.updateValue(change.new, forKey: field)
        }
        var encoder = JournalEncoder(columns)
        for change in try RecordChecksum.changes(of: commit.record, columns.schema) {
            switch change {
            case .set(let key, let field, let value):
                let number = numbers[key]?[field] ?? value
                try encode(key, [field: number], in: &encoder) { encoder, row in
                    encoder.assignment(row, columns.field(named: field).rawValue)
                }
            case .insert(_, let values, _): try columns.withDraft(of: values) { encoder.insertion($0, at: nil) }
            case .remove(let key): try encode(key, [:], in: &encoder) { encoder, row in encoder.removal(row) }
            case .rank(let key, let rank):
                try encode(key, [:], in: &encoder) { encoder, row in encoder.rank(row, rank) }
            case .declare(let declarations): encoder.declaration(declarations)
            // The log has ranks instead of positions.
            case .move: continue
            }
        }
        return RecordChecksum.sealed(encoder.bytes)
    }

    /// Encodes a change of the item with a key, as of a row that has the values.
    private func encode(
        _ key: String, _ values: [String: PropertyListValue?], in encoder: inout JournalEncoder,
        _ body: (inout JournalEncoder, UInt32) -> Void
    ) throws(StoreError) {
        var fields: PropertyListFields = ["itemKey": .string(key)]
        for (field, value) in values { fields[field] = value }
        try columns.withDraft(of: fields) { body(&encoder, $0) }
    }
}
