import ColumnEngine
import PropertyList

/// The items of a mapped archive that this store wrote, to be read one field at a time where they lie.
///
/// A value: each thread reads with a copy of its own. The bytes may be anything; each step is checked.
struct MappedItems: Sendable {
    let count: Int
    let schema: ArchiveSchema
    /// The names of all fields by their numbers in the store.
    private let fieldNames: [String]
    private let reader: BinaryPropertyListReader
    private let elements: BinaryPropertyListContainer
    private var objects: ArchiveObjects
    /// What the keys of an item mean; neighbours nearly always share them.
    private var shape = Shape()
    /// The item that was read last: its fields are often asked for one after the other.
    private var last: (row: Int, item: BinaryPropertyListContainer)?
    /// The number that a custom field's name has in the store.
    private let customNumbers: [String: UInt32]
    /// The field that is read of row after row, and what it was at the objects that were met: texts that repeat are one
    /// object of the archive.
    private var columnField: UInt32 = 0
    private var columnCells: [Int: Cell] = [:]

    private struct Shape {
        /// The object that has it; -1 before one was read.
        var number = -1
        var keys: [UInt8] = []
        /// Where each field of the domain stands among the keys; -1 for nowhere.
        var places: (name: Int, serial: Int, value: Int, date: Int, key: Int) = (-1, -1, -1, -1, -1)
        /// The custom fields, by number, and where they stand.
        var custom: [(number: UInt32, place: Int)] = []
    }

    /// - Throws: when the archive has no array of items as root.
    init(_ storage: PropertyListStorage, _ schema: ArchiveSchema, fieldNames: [String]) throws(PropertyListError) {
        reader = try BinaryPropertyListReader(storage)
        objects = ArchiveObjects(reader, isReadWhole: false)
        self.schema = schema
        self.fieldNames = fieldNames
        var numbers: [String: UInt32] = [:]
        for (number, name) in fieldNames.enumerated().dropFirst(ItemField.domain.count) {
            numbers[schema.archivedKey(ofField: name)] = UInt32(number)
        }
        customNumbers = numbers
        guard let root = try reader.container(at: reader.topObject), root.kind == .dictionary else {
            throw .unusable("the root is no keyed archive")
        }
        let tops = try objects.open(root)
        guard tops.count == 1, let uid = tops.first?.1,
            let array = try reader.container(at: try objects.number(uid)), array.kind == .dictionary,
            let elements = try objects.elements(of: array)
        else { throw .unusable("the root is no array of items") }
        self.elements = elements
        count = elements.count
    }

    /// The addresses that texts of the archive have.
    var range: Range<UInt> {
        let start = UInt(bitPattern: reader.storage.bytes.baseAddress)
        return start..<start + UInt(reader.storage.bytes.count)
    }

    // MARK: Fields

    mutating func text(_ row: Int, _ field: ItemField, _ values: FaultedValues) throws(PropertyListError) -> Cell {
        let item = try item(row)
        let place = field == .name ? shape.places.name : field == .serialNumber ? shape.places.serial : shape.places.key
        guard place >= 0 else { return field == .name ? Cell(.shortText) : .absent }
        let cell = try text(at: try resolve(reader.valueReference(place, in: item)), values)
        return field == .name && cell.isAbsent ? Cell(.shortText) : cell
    }

    /// Reads the texts of some rows together, where they lie: nothing is kept.
    ///
    /// A cell is ``Cell/archived`` when its text cannot be read in this way, since an item is unlike its neighbours, a text
    /// is beyond ASCII, or something is damaged; it is left to ``text(_:_:_:)``.
    mutating func texts(
        _ rows: UnsafeBufferPointer<UInt32>, _ field: ItemField, into cells: UnsafeMutablePointer<Cell>
    ) {
        if shape.number < 0, let first = rows.first { _ = try? item(Int(first)) }
        let place = field == .name ? shape.places.name : shape.places.serial
        guard let table = objects.table,
            let beginning = BinaryPropertyListReader.KnownBeginning(ofDictionary: shape.number, slot: place, in: reader)
        else { return cells.initialize(repeating: .archived, count: rows.count) }
        let nullText = (try? reader.asciiString(at: objects.nullNumber))?.baseAddress
        withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: rows.count) { texts in
            reader.findTexts(of: rows, in: elements, through: table, beginning: beginning, into: texts)
            for (index, text) in texts.enumerated() {
                if text.baseAddress == nil {
                    cells[index] = .archived
                } else if text.baseAddress == nullText {
                    cells[index] = field == .name ? Cell(.shortText) : .absent
                } else {
                    cells[index] = Self.cell(text)
                }
            }
        }
    }

    mutating func value(_ row: Int) throws(PropertyListError) -> Int64 {
        let item = try item(row)
        guard shape.places.value >= 0 else { return 0 }
        switch try reader.number(at: try resolve(reader.valueReference(shape.places.value, in: item))) {
        case .integer(let value)?: return value
        default: throw .unusable("valueInDollars of item \(row + 1) is no integer")
        }
    }

    mutating func date(_ row: Int) throws(PropertyListError) -> Double {
        let item = try item(row)
        guard shape.places.date >= 0 else { return 0 }
        guard let date = try objects.date(try resolve(reader.valueReference(shape.places.date, in: item))) else {
            throw .unusable("dateCreated of item \(row + 1) is no date")
        }
        return date.secondsSinceReferenceDate
    }

    /// The item's key, and whether it is a text and no UUID.
    mutating func key(_ row: Int, _ values: FaultedValues) throws(PropertyListError) -> (PackedKey, isText: Bool) {
        let item = try item(row)
        guard shape.places.key >= 0 else { throw .unusable("item \(row + 1) has no itemKey") }
        let number = try resolve(reader.valueReference(shape.places.key, in: item))
        if let bytes = try reader.asciiString(at: number),
            let packed = PackedKey(uuid: bytes.assumingMemoryBound(to: UInt8.self))
        {
            return (packed, false)
        }
        let cell = try text(at: number, values)
        guard cell.isText, cell.withText({ $0.count > 0 }) else { throw .unusable("item \(row + 1) has no itemKey") }
        return (PackedKey(text: cell), true)
    }

    /// The item's key when it is a UUID.
    mutating func uuid(_ row: Int) throws(PropertyListError) -> PackedKey? {
        let item = try item(row)
        guard shape.places.key >= 0,
            let bytes = try reader.asciiString(at: try resolve(reader.valueReference(shape.places.key, in: item)))
        else { return nil }
        return PackedKey(uuid: bytes.assumingMemoryBound(to: UInt8.self))
    }

    /// The item's custom fields, in a block that is the caller's to free.
    mutating func custom(_ row: Int, _ values: FaultedValues) throws(PropertyListError) -> CustomFields {
        let item = try item(row)
        var block = CustomFields.none
        do throws(PropertyListError) {
            for (field, place) in shape.custom {
                let number = try resolve(reader.valueReference(place, in: item))
                if number == objects.nullNumber { continue }
                block.set(field, try custom(at: number, values))
            }
        } catch {
            block.release()
            throw error
        }
        return block
    }

    /// Begins to read one field beyond the domain's, row after row.
    mutating func beginColumn(_ field: UInt32) {
        columnField = field
        columnCells = [:]
    }

    mutating func endColumn() { columnCells = [:] }

    /// The cell of that field.
    mutating func columnCell(_ row: Int, _ values: FaultedValues) throws(PropertyListError) -> Cell {
        let item = try item(row)
        guard let (_, place) = shape.custom.first(where: { $0.number == columnField }) else { return .absent }
        let number = try resolve(reader.valueReference(place, in: item))
        if number == objects.nullNumber { return .absent }
        if let known = columnCells[number] { return known }
        let cell = try custom(at: number, values)
        columnCells[number] = cell
        return cell
    }

    private mutating func custom(at number: Int, _ values: FaultedValues) throws(PropertyListError) -> Cell {
        if let bytes = try reader.asciiString(at: number) { return Self.cell(bytes) }
        guard let value = try objects.value(number) else { throw .unusable("a field holds no property-list value") }
        return values.cell(value)
    }

    private func text(at number: Int, _ values: FaultedValues) throws(PropertyListError) -> Cell {
        if number == objects.nullNumber { return .absent }
        if let bytes = try reader.asciiString(at: number) { return Self.cell(bytes) }
        guard let text = try reader.string(at: number) else { throw .unusable("a text of an item is none") }
        return values.cell(.string(text))
    }

    /// A long text stays where it is: the cell points into the archive.
    @inline(__always)
    private static func cell(_ bytes: UnsafeRawBufferPointer) -> Cell {
        let text = bytes.assumingMemoryBound(to: UInt8.self)
        guard let start = text.baseAddress, text.count > Cell.shortTextLimit else { return Cell.shortText(text) }
        return .longText(start, count: text.count)
    }

    // MARK: Items

    @inline(__always)
    private func resolve(_ reference: Int) throws(PropertyListError) -> Int {
        guard let uid = try reader.uid(at: reference) else { return reference }
        return try objects.number(uid)
    }

    @inline(__always)
    private mutating func item(_ row: Int) throws(PropertyListError) -> BinaryPropertyListContainer {
        if let last, last.row == row { return last.item }
        let item = try readItem(row)
        last = (row, item)
        return item
    }

    /// The object of an item that an element of their array names.
    @inline(__always)
    private func itemNumber(_ element: Int) throws(PropertyListError) -> Int? {
        guard let uid = try reader.uid(at: element) else { return nil }
        return try objects.number(uid)
    }

    private mutating func readItem(_ row: Int) throws(PropertyListError) -> BinaryPropertyListContainer {
        guard row < count, let number = try itemNumber(reader.reference(row, in: elements)),
            let item = try reader.container(at: number), item.kind == .dictionary
        else { throw .unusable("item \(row + 1) is none") }
        if !matches(reader.keyReferences(of: item)) { try learn(item, number) }
        return item
    }

    @inline(__always)
    private func matches(_ keys: UnsafeRawBufferPointer) -> Bool {
        shape.keys.withUnsafeBytes { $0.count == keys.count && Self.areEqual($0, keys) }
    }

    @inline(__always)
    private static func areEqual(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset + 8 <= first.count {
            if first.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                != second.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            {
                return false
            }
            offset += 8
        }
        while offset < first.count {
            if first[offset] != second[offset] { return false }
            offset += 1
        }
        return true
    }

    private mutating func learn(_ item: BinaryPropertyListContainer, _ number: Int) throws(PropertyListError) {
        var fresh = Shape()
        fresh.number = number
        for place in 0..<item.count {
            let key = try reader.string(at: reader.reference(place, in: item)) ?? ""
            switch key {
            case schema.nameKey: fresh.places.name = place
            case schema.serialNumberKey: fresh.places.serial = place
            case schema.valueKey: fresh.places.value = place
            case schema.dateKey: fresh.places.date = place
            case schema.itemKeyKey: fresh.places.key = place
            default:
                if let number = customNumbers[key] { fresh.custom.append((number, place)) }
            }
        }
        fresh.custom.sort { $0.number < $1.number }
        fresh.keys = Array(reader.keyReferences(of: item))
        shape = fresh
    }
}
