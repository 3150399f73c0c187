import ColumnEngine
import PropertyList

/// Encodes the changes of one commit as a record of the journal.
struct JournalEncoder {
    /// How many changes before its turn an item is prefetched.
    private static let lookahead = 12

    private let rows: ItemRows
    private var bytes = [UInt8](repeating: 0, count: JournalRecord.headerLength)
    /// The number that each custom field has in this record; 0 for none yet.
    private var fieldNumbers: [UInt32] = []
    private var definedFields: UInt32 = 0
    /// The fields beyond the domain's of the item that is being encoded.
    private var custom: [(UInt32, Cell)] = []

    private init(_ rows: ItemRows) {
        self.rows = rows
    }

    /// The record of a commit: room for the header, which is the journal's to fill, then the changes. The changes may be
    /// many, and are not to be copied behind a header.
    static func record(of commit: borrowing ItemCommit) -> [UInt8] {
        var encoder = JournalEncoder(commit.rows)
        encoder.encode(commit)
        return encoder.bytes
    }

    private mutating func encode(_ commit: borrowing ItemCommit) {
        let changes = commit.changes
        // Long texts make the bytes that they take; an array that grew instead would be in memory twice.
        let texts = commit.textBytes > 1 << 20 ? commit.textBytes : 0
        bytes.reserveCapacity(commit.count * (changes.first?.kind == .append ? 72 : 32) + texts)
        bytes.withUnsafeBytes {
            LargeMemory.advise(UnsafeRawBufferPointer(start: $0.baseAddress, count: bytes.capacity))
        }
        for (index, change) in changes.enumerated() {
            // Many items, each somewhere else: their cache misses overlap.
            let coming = index + Self.lookahead
            if coming < changes.count { rows.prefetch(changes[coming].row, ItemField(rawValue: changes[coming].field)) }
            switch change.kind {
            case .append:
                for row in change.row..<change.row + UInt32(change.count) { insertion(row, at: nil) }
            case .insert:
                insertion(change.row, at: Int(change.position))
            case .remove:
                begin(.remove)
                placedKey(change.row)
            case .set:
                let field = fieldNumber(change.field)
                begin(.set)
                placedKey(change.row)
                varint(UInt64(field))
                cell(rows.cell(change.row, ItemField(rawValue: change.field)))
            case .move:
                begin(.move)
                placedKey(change.row)
                varint(UInt64(change.field))
            }
        }
    }

    private mutating func insertion(_ row: UInt32, at position: Int?) {
        item(row, at: position)
        // What the fields do not hold comes from there, should the journal be all that is left of the copy.
        guard let source = rows.source(ofCopy: row) else { return }
        begin(.copy)
        key(row)
        text(source)
    }

    private mutating func item(_ row: UInt32, at position: Int?) {
        custom.removeAll(keepingCapacity: true)
        rows.forEachCustomField(row) { custom.append(($0, $1)) }
        for (number, _) in custom { _ = fieldNumber(number) }
        if let position {
            begin(.insert)
            varint(UInt64(position))
        } else {
            begin(.append)
        }
        key(row)
        cell(rows.cell(row, .name))
        cell(rows.cell(row, .serialNumber))
        signed(rows.cell(row, .valueInDollars).integerValue)
        fixed(rows.cell(row, .dateCreated).tail)
        varint(UInt64(custom.count))
        for (number, value) in custom {
            varint(UInt64(fieldNumber(number)))
            cell(value)
        }
    }

    /// The field's number in this record; a custom field's name is written before its first use.
    private mutating func fieldNumber(_ field: UInt32) -> UInt32 {
        let domain = UInt32(ItemField.domain.count)
        if field < domain { return field }
        if fieldNumbers.count <= Int(field) {
            fieldNumbers += [UInt32](repeating: 0, count: Int(field) + 1 - fieldNumbers.count)
        }
        if fieldNumbers[Int(field)] != 0 { return fieldNumbers[Int(field)] }
        let number = domain + definedFields
        definedFields += 1
        fieldNumbers[Int(field)] = number
        begin(.defineField)
        text(rows.name(ofField: field))
        return number
    }

    // MARK: Values

    private mutating func cell(_ cell: Cell) {
        switch cell.kind {
        case .absent: code(.absent)
        case .no: code(.no)
        case .yes: code(.yes)
        case .integer:
            code(.integer)
            signed(cell.integerValue)
        case .real:
            code(.real)
            fixed(cell.tail)
        case .single:
            code(.single)
            fixed(UInt32(truncatingIfNeeded: cell.tail))
        case .date:
            code(.date)
            fixed(cell.tail)
        case .shortText, .longText:
            code(.string)
            cell.withText { text in
                varint(UInt64(text.count))
                bytes.append(contentsOf: text)
            }
        case .box:
            value(rows.value(ofBox: cell))
        }
    }

    private mutating func value(_ value: PropertyListValue) {
        switch value {
        case .null: code(.null)
        case .boolean(let value): code(value ? .yes : .no)
        case .integer(let value):
            code(.integer)
            signed(value)
        case .wideInteger(let value):
            code(.wideInteger)
            fixed(UInt64(truncatingIfNeeded: value))
            fixed(UInt64(truncatingIfNeeded: value >> 64))
        case .real(let value):
            code(.real)
            fixed(value.bitPattern)
        case .single(let value):
            code(.single)
            fixed(value.bitPattern)
        case .date(let value):
            code(.date)
            fixed(value.secondsSinceReferenceDate.bitPattern)
        case .data(let value):
            code(.data)
            varint(UInt64(value.count))
            bytes.append(contentsOf: value)
        case .string(let value):
            code(.string)
            text(value)
        case .uid(let value):
            code(.uid)
            varint(UInt64(value))
        case .array(let elements):
            code(.array)
            list(elements)
        case .set(let elements):
            code(.set)
            list(elements)
        case .dictionary(let entries):
            code(.dictionary)
            varint(UInt64(entries.count))
            for (key, element) in entries.sorted(by: { $0.key < $1.key }) {
                text(key)
                self.value(element)
            }
        }
    }

    private mutating func list(_ elements: [PropertyListValue]) {
        varint(UInt64(elements.count))
        for element in elements { value(element) }
    }

    // MARK: Bytes

    private mutating func begin(_ code: JournalCode.Change) { bytes.append(code.rawValue) }
    private mutating func code(_ code: JournalCode.Value) { bytes.append(code.rawValue) }

    private mutating func key(_ row: UInt32) {
        if rows.hasTextKey(row) {
            bytes.append(JournalCode.Key.text.rawValue)
            rows.key(row).cell.withText { text in
                varint(UInt64(text.count))
                bytes.append(contentsOf: text)
            }
        } else {
            bytes.append(JournalCode.Key.uuid.rawValue)
            fixed(rows.key(row).high.byteSwapped)
            fixed(rows.key(row).low.byteSwapped)
        }
    }

    /// The key of an item that is not new, and where the archive has the item.
    private mutating func placedKey(_ row: UInt32) {
        guard let place = rows.archivedPlace(row) else { return key(row) }
        let packed = rows.key(row)
        bytes.append(JournalCode.Key.placedUUID.rawValue)
        fixed(packed.high.byteSwapped)
        fixed(packed.low.byteSwapped)
        varint(UInt64(place))
    }

    private mutating func text(_ string: String) {
        var string = string
        string.withUTF8 { text in
            varint(UInt64(text.count))
            bytes.append(contentsOf: text)
        }
    }

    private mutating func varint(_ number: UInt64) {
        Varint.append(number, to: &bytes)
    }

    private mutating func signed(_ number: Int64) {
        varint(Varint.zigzag(number))
    }

    private mutating func fixed<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
}
