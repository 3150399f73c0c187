package import ColumnEngine
import PropertyList

/// Encodes the changes of one commit as a record of the journal.
package struct JournalEncoder {
    /// Prefetch distance in changes.
    private static let lookahead = 12

    private let rows: ColumnStore
    private let kinds: [DeclaredKind]
    private var writer: RecordWriter
    /// The number of each custom field in this record; 0 if it has none yet.
    private var fieldNumbers: [UInt32] = []
    private var definedFields: UInt32 = 0
    /// The fields of every item, of the item being encoded, and its custom ones.
    private var cells: [Cell] = []
    private var custom: [(UInt32, Cell)] = []

    /// Whether the keys of existing items come with their indices in the archive.
    private let givesPlaces: Bool
    /// Whether a value is of another kind than its field's: the journal's version must say so.
    private(set) var carries = false
    /// Whether fields are declared: the journal's version must say so.
    private var declares = false

    /// - Parameters:
    ///   - rows: the items.
    ///   - reserved: bytes to leave free in front.
    ///   - givesPlaces: whether keys come with their indices in the archive: for the journal that follows it.
    package init(_ rows: ColumnStore, reserved: Int = 0, givesPlaces: Bool = false) {
        self.rows = rows
        kinds = rows.schema.kinds
        self.givesPlaces = givesPlaces
        writer = RecordWriter([UInt8](repeating: 0, count: reserved))
    }

    package mutating func reserveCapacity(_ count: Int) { writer.bytes.reserveCapacity(count) }

    /// The changes so far.
    package var bytes: [UInt8] { writer.bytes }

    /// The record of a commit: space for the header, which the journal fills in, then the changes. This avoids copying
    /// the changes, which may be many, behind a header.
    ///
    /// - Returns: the record, and the version of journals that it needs.
    static func record(of commit: borrowing ItemCommit) -> (bytes: [UInt8], version: UInt16) {
        var encoder = JournalEncoder(commit.rows, reserved: JournalRecord.headerLength, givesPlaces: true)
        encoder.encode(commit)
        return (encoder.writer.bytes, encoder.version)
    }

    /// The version of journals that the changes so far need.
    private var version: UInt16 {
        if declares { return JournalHeader.declaringVersion }
        return carries || writer.hasLatestKinds ? JournalHeader.carryingVersion : JournalHeader.usualVersion
    }

    private mutating func encode(_ commit: borrowing ItemCommit) {
        let changes = commit.changes
        // Long texts determine the size; growing the array instead would hold it in memory twice.
        let texts = commit.textBytes > 1 << 20 ? commit.textBytes : 0
        writer.bytes.reserveCapacity(commit.count * (changes.first?.kind == .append ? 72 : 32) + texts)
        writer.bytes.withUnsafeBytes {
            LargeMemory.advise(UnsafeRawBufferPointer(start: $0.baseAddress, count: writer.bytes.capacity))
        }
        for (index, change) in changes.enumerated() {
            // The items are scattered: their cache misses overlap.
            let coming = index + Self.lookahead
            if coming < changes.count, changes[coming].kind != .declare {
                rows.prefetchChanged(changes[coming].row, ItemField(rawValue: changes[coming].field))
            }
            switch change.kind {
            case .append: for row in change.rows { insertion(row, at: nil) }
            case .insert: insertion(change.row, at: Int(change.position))
            case .remove: removal(change.row)
            case .set: assignment(change.row, change.field)
            case .move:
                begin(.move)
                placedKey(change.row)
                writer.varint(UInt64(change.field))
            case .declare: declaration(change.field)
            }
        }
    }

    /// Encodes a version of what is declared.
    package mutating func declaration(_ version: UInt32) { declaration(rows.declarations(ofVersion: version)) }

    /// Encodes what is declared.
    package mutating func declaration(_ declarations: FieldDeclarations) {
        declares = true
        begin(.declare)
        writer.value(declarations.record)
    }

    /// Encodes the removal of an item.
    package mutating func removal(_ row: UInt32) {
        begin(.remove)
        placedKey(row)
    }

    /// Encodes the value of a field, or its removal.
    package mutating func assignment(_ row: UInt32, _ number: UInt32) {
        let field = fieldNumber(number)
        begin(.set)
        placedKey(row)
        writer.varint(UInt64(field))
        let cell = rows.cell(row, ItemField(rawValue: number))
        if Int(number) < kinds.count, !kinds[Int(number)].accepts(cell) { carries = true }
        writer.cell(cell, rows)
    }

    /// Encodes the rank of an item, in collections with ranks.
    package mutating func rank(_ row: UInt32, _ rank: [UInt8]) {
        begin(.rank)
        placedKey(row)
        writer.piece(rank)
    }

    /// Encodes a new item with all its fields.
    package mutating func insertion(_ row: UInt32, at position: Int?) {
        item(row, at: position)
        // Content beyond the fields is copied from the source, if the journal is all that remains of the copy.
        guard let source = rows.source(ofCopy: row) else { return }
        begin(.copy)
        writer.key(row, rows)
        writer.text(source)
    }

    private mutating func item(_ row: UInt32, at position: Int?) {
        custom.removeAll(keepingCapacity: true)
        rows.forEachCustomField(row) { custom.append(($0, $1)) }
        for (number, _) in custom { _ = fieldNumber(number) }
        cells.removeAll(keepingCapacity: true)
        var areUsual = true
        for (number, kind) in kinds.enumerated() {
            let cell = rows.cell(row, ItemField(rawValue: UInt32(number)))
            if !kind.accepts(cell) { areUsual = false }
            cells.append(cell)
        }
        if !areUsual { carries = true }
        if let position {
            begin(areUsual ? .insert : .insertCarrying)
            writer.varint(UInt64(position))
        } else {
            begin(areUsual ? .append : .appendCarrying)
        }
        writer.key(row, rows)
        writer.declared(cells, kinds, carries: !areUsual) { rows.value(ofBox: $0) }
        writer.varint(UInt64(custom.count))
        for (number, value) in custom {
            writer.varint(UInt64(fieldNumber(number)))
            writer.cell(value, rows)
        }
    }

    /// The field's number in this record; a custom field's name is written before its first use.
    private mutating func fieldNumber(_ field: UInt32) -> UInt32 {
        let first = UInt32(kinds.count + 1)
        if field < first { return field }
        if fieldNumbers.count <= Int(field) {
            fieldNumbers += [UInt32](repeating: 0, count: Int(field) + 1 - fieldNumbers.count)
        }
        if fieldNumbers[Int(field)] != 0 { return fieldNumbers[Int(field)] }
        let number = first + definedFields
        definedFields += 1
        fieldNumbers[Int(field)] = number
        begin(.defineField)
        writer.text(rows.name(of: ItemField(rawValue: field)))
        return number
    }

    // MARK: Bytes

    private mutating func begin(_ code: JournalCode.Change) { writer.bytes.append(code.rawValue) }

    /// The key of an existing item, and its index in the archive.
    private mutating func placedKey(_ row: UInt32) {
        guard givesPlaces, let place = rows.archivedPlace(row) else { return writer.key(row, rows) }
        writer.uuid(rows.key(row), .placedUUID)
        writer.varint(UInt64(place))
    }
}

/// The codes in the encoding of a commit's changes; `docs/journal.md` specifies them.
package enum JournalCode {
    package enum Change: UInt8 {
        /// key, fields: a new item at the end
        case append = 1
        /// position, key, fields: a new item at a position
        case insert = 2
        /// key
        case remove = 3
        /// key, field, value: absent removes the field
        case set = 4
        /// key, position
        case move = 5
        /// text: defines the next custom field's number within this record: they follow those of the schema
        case defineField = 6
        /// key, text: the item with this key is a copy of the one with that key
        case copy = 7
        /// key, bytes: the item's rank in a shared collection; never in a file's journal
        case rank = 8
        /// key, fields: a new item at the end, whose fields may be of any kind
        case appendCarrying = 9
        /// position, key, fields: the same at a position
        case insertCarrying = 10
        /// value: all declarations of fields, in the place of those before
        case declare = 11
    }

    package enum Key: UInt8 {
        case uuid = 0
        case text = 1
        /// a UUID, and the item's index in the archive
        case placedUUID = 2
    }

    package enum Value: UInt8 {
        case absent = 0
        case no, yes, integer, real, single, date, string, data, array, dictionary, wideInteger, null, uid, set
        /// a text that is not Unicode: its UTF-16 units
        case utf16
        /// a dictionary with keys of any kind
        case pairs
    }
}
