package import ColumnEngine
package import PropertyList

/// Encodes the parts of records: numbers, texts, values.
package struct RecordWriter {
    package var bytes: [UInt8]
    /// Whether a value is of a kind that only the latest version of journals has: a text that is not Unicode, a
    /// dictionary with keys of any kind.
    private(set) var hasLatestKinds = false

    /// - Parameter bytes: the preceding bytes.
    package init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// A field's value; that of a box is in the store's heap.
    mutating func cell(_ cell: Cell, _ rows: ColumnStore) {
        self.cell(cell) { rows.value(ofBox: $0) }
    }

    private mutating func cell(_ cell: Cell, ofBox: (Cell) -> PropertyListValue) {
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
            value(ofBox(cell))
        }
    }

    package mutating func value(_ value: PropertyListValue) {
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
        case .utf16(let units):
            code(.utf16)
            hasLatestKinds = true
            varint(UInt64(units.count))
            for unit in units { fixed(unit) }
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
            guard let fields = entries.fields else { return pairs(entries) }
            code(.dictionary)
            varint(UInt64(fields.count))
            for (key, element) in fields.sortedByName {
                text(key)
                self.value(element)
            }
        }
    }

    /// A dictionary with keys that are not texts.
    private mutating func pairs(_ entries: PropertyListDictionary) {
        code(.pairs)
        hasLatestKinds = true
        varint(UInt64(entries.count))
        for (key, element) in entries.sortedEntries {
            value(key)
            value(element)
        }
    }

    private mutating func list(_ elements: [PropertyListValue]) {
        varint(UInt64(elements.count))
        for element in elements { value(element) }
    }

    /// The key of an item.
    package mutating func key(_ row: UInt32, _ rows: ColumnStore) {
        key(rows.key(row), isText: rows.hasTextKey(row))
    }

    private mutating func key(_ key: PackedKey, isText: Bool) {
        if isText {
            bytes.append(JournalCode.Key.text.rawValue)
            key.cell.withText { text in
                varint(UInt64(text.count))
                bytes.append(contentsOf: text)
            }
        } else {
            bytes.append(JournalCode.Key.uuid.rawValue)
            fixed(key.high.byteSwapped)
            fixed(key.low.byteSwapped)
        }
    }

    // MARK: Items

    /// The fields of every item: in the usual form, or as values of any kind.
    mutating func domain(_ domain: DomainCells, ofBox: (Cell) -> PropertyListValue) {
        cell(domain.name, ofBox: ofBox)
        cell(domain.serialNumber, ofBox: ofBox)
        if domain.areUsual {
            signed(domain.value.integerValue)
            fixed(domain.date.tail)
        } else {
            cell(domain.value, ofBox: ofBox)
            cell(domain.date, ofBox: ofBox)
        }
    }

    /// The record of one insertion: a snapshot's item with all its fields.
    package mutating func item(_ snapshot: ItemSnapshot, at position: Int) {
        var custom: [(UInt32, Cell)] = []
        snapshot.forEachCustomField(position) { custom.append(($0, $1)) }
        for (field, _) in custom {
            bytes.append(JournalCode.Change.defineField.rawValue)
            text(snapshot.fieldNames[Int(field)])
        }
        let ofBox: (Cell) -> PropertyListValue = { snapshot.value($0) ?? .null }
        let domain = DomainCells { snapshot.cell(position, $0) }
        bytes.append((domain.areUsual ? JournalCode.Change.append : .appendCarrying).rawValue)
        key(snapshot.key(position), isText: snapshot.isTextKey(position))
        self.domain(domain, ofBox: ofBox)
        varint(UInt64(custom.count))
        for (number, (_, value)) in zip(UInt64(ItemField.domain.count)..., custom) {
            varint(number)
            cell(value, ofBox: ofBox)
        }
    }

    /// The key of an item, as ``key(_:_:)`` writes it.
    package mutating func key(_ text: String) {
        var text = text
        if let packed = text.withUTF8({ PackedKey(uuid: $0) }) {
            bytes.append(JournalCode.Key.uuid.rawValue)
            fixed(packed.high.byteSwapped)
            fixed(packed.low.byteSwapped)
        } else {
            bytes.append(JournalCode.Key.text.rawValue)
            varint(UInt64(text.utf8.count))
            bytes += text.utf8
        }
    }

    /// A key by its text, whether it is an item's key or not.
    package mutating func key(_ key: UnsafeBufferPointer<UInt8>) {
        if let packed = PackedKey(uuid: key) {
            bytes.append(JournalCode.Key.uuid.rawValue)
            fixed(packed.high.byteSwapped)
            fixed(packed.low.byteSwapped)
        } else {
            bytes.append(JournalCode.Key.text.rawValue)
            varint(UInt64(key.count))
            bytes.append(contentsOf: key)
        }
    }

    // MARK: Bytes

    mutating func code(_ code: JournalCode.Value) { bytes.append(code.rawValue) }

    package mutating func text(_ string: String) {
        var string = string
        string.withUTF8 { text in
            varint(UInt64(text.count))
            bytes.append(contentsOf: text)
        }
    }

    package mutating func varint(_ number: UInt64) {
        Varint.append(number, to: &bytes)
    }

    package mutating func signed(_ number: Int64) {
        varint(Varint.zigzag(number))
    }

    package mutating func fixed<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
}

/// The cells of the fields of every item, for its record.
struct DomainCells {
    let name: Cell, serialNumber: Cell, value: Cell, date: Cell

    init(_ cell: (ItemField) -> Cell) {
        (name, serialNumber) = (cell(.name), cell(.serialNumber))
        (value, date) = (cell(.valueInDollars), cell(.dateCreated))
    }

    /// Whether all are of their fields' kinds.
    var areUsual: Bool {
        Self.isUsual(name, .name) && Self.isUsual(serialNumber, .serialNumber) && Self.isUsual(value, .valueInDollars)
            && Self.isUsual(date, .dateCreated)
    }

    /// Whether a field's cell is of its kind. A custom field takes any.
    static func isUsual(_ cell: Cell, _ field: ItemField) -> Bool {
        switch field {
        case .name: cell.isText
        case .serialNumber: cell.isText || cell.isAbsent
        case .valueInDollars: cell.kind == .integer
        case .dateCreated: cell.kind == .date
        default: true
        }
    }
}
