import ColumnEngine
import Files
import ItemArchive
import PropertyList

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
        let changes = try commit.record.withBytes { (bytes) throws(StoreError) in
            try RecordChange.changes(of: RecordChecksum.opened(bytes), columns.schema)
        }
        var encoder = JournalEncoder(columns)
        for change in changes {
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
