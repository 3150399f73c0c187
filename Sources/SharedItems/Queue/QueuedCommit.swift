import ColumnEngine
import ItemArchive
import PropertyList

/// A commit queued for the server, with the data to send.
struct QueuedCommit {
    var kept: KeptCommit
    /// The keys of removed items in the encoding of records.
    let removed: [[UInt8]]
    /// The keys of inserted or changed items.
    let keys: [[UInt8]]
    /// The changes, for the other hosts.
    let record: [UInt8]
    /// The collection's revision that it is based on.
    let seen: UInt64

    var token: [UInt8] { kept.identifier }

    init(_ kept: KeptCommit, _ commit: EncodedCommit, seen: UInt64) {
        self.kept = kept
        self.seen = seen
        (removed, keys, record) = (commit.removed, commit.keys, commit.record)
    }

    // MARK: Bytes

    /// Encodes the commit as a part of a record.
    func write(to writer: inout RecordWriter) {
        writer.bytes += token
        writer.fixed(seen)
        writer.fixed(kept.date.secondsSinceReferenceDate.bitPattern)
        for list in [removed, keys, [record]] {
            writer.varint(UInt64(list.count))
            for bytes in list { writer.piece(bytes) }
        }
        switch kept.reads {
        case nil: writer.bytes.append(0)
        case .whole: writer.bytes.append(1)
        case .keys(let keys):
            writer.bytes.append(2)
            writer.varint(UInt64(keys.count))
            for key in keys { writer.piece(key) }
        }
        writer.varint(UInt64(kept.changes.count))
        for change in kept.changes {
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
        var lists: [[[UInt8]]] = []
        for _ in 0..<3 {
            var list: [[UInt8]] = []
            for _ in 0..<(try reader.count()) { list.append([UInt8](try reader.piece(try reader.varint()))) }
            lists.append(list)
        }
        guard let record = lists[2].first, date.isFinite else { throw reader.corrupt("a commit has no changes") }
        (removed, keys, self.record) = (lists[0], lists[1], record)
        let reads = try Self.reads(&reader)
        var changes: [KeptCommit.Change] = []
        for _ in 0..<(try reader.count()) {
            let rank = [UInt8](try reader.piece(try reader.varint()))
            let former = [UInt8](try reader.piece(try reader.varint()))
            guard let values = try reader.value().fields, let change = ItemChange(values) else {
                throw reader.corrupt("a change is none")
            }
            changes.append(KeptCommit.Change(change, rank: rank, formerRank: former))
        }
        kept = KeptCommit(
            identifier: token, date: PropertyListDate(secondsSinceReferenceDate: date), changes: changes,
            reads: reads)
    }

    private static func reads(_ reader: inout RecordReader) throws(StoreError) -> ItemReads? {
        switch try reader.byte() {
        case 0: return nil
        case 1: return .whole
        case 2:
            var keys: Set<[UInt8]> = []
            for _ in 0..<(try reader.count()) { keys.insert([UInt8](try reader.piece(try reader.varint()))) }
            return .keys(keys)
        default: throw reader.corrupt("what a commit read is none")
        }
    }
}

extension RecordWriter {
    mutating func piece(_ bytes: [UInt8]) {
        varint(UInt64(bytes.count))
        self.bytes += bytes
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
        if let values = list["values"]?.fields { self.values = values }
        guard (kind == .update) == (field != nil), (kind == .insert || kind == .remove) == (values != nil) else {
            return nil
        }
    }
}
