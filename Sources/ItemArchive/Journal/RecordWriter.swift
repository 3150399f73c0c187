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
            cell.withText { piece($0) }
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
            piece(value)
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
        if isText { key.cell.withText { textKey($0) } } else { uuid(key) }
    }

    /// A key that is a UUID.
    mutating func uuid(_ key: PackedKey, _ code: JournalCode.Key = .uuid) {
        bytes.append(code.rawValue)
        fixed(key.high.byteSwapped)
        fixed(key.low.byteSwapped)
    }

    private mutating func textKey(_ text: UnsafeBufferPointer<UInt8>) {
        bytes.append(JournalCode.Key.text.rawValue)
        piece(text)
    }

    // MARK: Items

    /// The fields of every item: numbers and dates without their kind, or, if some value is not of its field's kind,
    /// all with it.
    mutating func declared(
        _ cells: [Cell], _ kinds: [DeclaredKind], carries: Bool, ofBox: (Cell) -> PropertyListValue
    ) {
        for (cell, kind) in zip(cells, kinds) {
            switch kind.kind {
            case .integer where !carries: signed(cell.integerValue)
            case .date where !carries: fixed(cell.tail)
            default: self.cell(cell, ofBox: ofBox)
            }
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
        let kinds = snapshot.schema.kinds
        let cells = kinds.indices.map { snapshot.cell(position, ItemField(rawValue: UInt32($0))) }
        let carries = !zip(kinds, cells).allSatisfy { $0.accepts($1) }
        bytes.append((carries ? JournalCode.Change.appendCarrying : .append).rawValue)
        key(snapshot.key(position), isText: snapshot.isTextKey(position))
        declared(cells, kinds, carries: carries, ofBox: ofBox)
        varint(UInt64(custom.count))
        for (number, (_, value)) in zip(UInt64(kinds.count + 1)..., custom) {
            varint(number)
            cell(value, ofBox: ofBox)
        }
    }

    /// The key of an item, as ``key(_:_:)`` writes it.
    package mutating func key(_ text: String) {
        var text = text
        text.withUTF8 { key($0) }
    }

    /// A key by its text, whether it is an item's key or not.
    package mutating func key(_ key: UnsafeBufferPointer<UInt8>) {
        if let packed = PackedKey(uuid: key) { uuid(packed) } else { textKey(key) }
    }

    // MARK: Bytes

    mutating func code(_ code: JournalCode.Value) { bytes.append(code.rawValue) }

    package mutating func text(_ string: String) {
        var string = string
        string.withUTF8 { piece($0) }
    }

    /// Bytes with their number before them.
    package mutating func piece(_ piece: [UInt8]) {
        varint(UInt64(piece.count))
        bytes += piece
    }

    private mutating func piece(_ piece: UnsafeBufferPointer<UInt8>) {
        varint(UInt64(piece.count))
        bytes.append(contentsOf: piece)
    }

    package mutating func varint(_ number: UInt64) {
        Varint.append(number, to: &bytes)
    }

    package mutating func signed(_ number: Int64) {
        varint(Varint.zigzag(number))
    }

    package mutating func fixed<Number: FixedWidthInteger>(_ number: Number) { bytes.appendLittleEndian(number) }
}
