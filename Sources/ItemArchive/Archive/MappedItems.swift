import ColumnEngine
import KeyedArchive
import PropertyList

/// The items of a mapped archive that this store wrote; fields are read in place, one at a time.
///
/// A value: each thread reads with its own copy. The bytes are not trusted; each step is checked.
struct MappedItems: Sendable {
    let count: Int
    let schema: ArchiveSchema
    private let elements: BinaryPropertyListContainer
    private var archive: ArchiveObjectReader
    /// The meaning of an item's keys; neighbours usually share them.
    private var shape = Shape()
    /// The item that was read last: its fields are often read one after the other.
    private var last: (row: Int, item: BinaryPropertyListContainer)?
    /// The numbers of custom fields in the store, by name.
    private let customNumbers: [ExactText: UInt32]
    /// The fields being read row by row.
    private var columns: [ColumnOfItems] = []

    private struct ColumnOfItems {
        /// The field.
        let number: UInt32
        /// The run of items for which the place is known.
        var run = -1
        /// The index of the field among the items' keys; -1 if it is missing.
        var place = -1
        var known = KnownCells()
    }

    /// Cells by object number, each number in one place: repeated texts are one object of the archive. With this table in
    /// place of a dictionary, texts beyond ASCII read at less cost, and those of most rows in batches, an import that finds its
    /// items in an archive takes three quarters of the time.
    private struct KnownCells {
        private static let count = 1 << 13
        private var numbers = [Int](repeating: -1, count: count)
        private var cells = [Cell](repeating: .absent, count: count)

        subscript(number: Int) -> Cell? {
            let place = number & (Self.count - 1)
            return numbers[place] == number ? cells[place] : nil
        }

        mutating func insert(_ cell: Cell, _ number: Int) {
            let place = number & (Self.count - 1)
            (numbers[place], cells[place]) = (number, cell)
        }
    }

    private struct Shape {
        /// The run of items with this shape.
        var run = -1
        /// The index of each declared field among the keys, by number, followed by that of `itemKey`; -1 if missing.
        var places: [Int] = []
        /// The custom fields' numbers and indices.
        var custom: [(number: UInt32, place: Int)] = []
    }

    /// - Parameters:
    ///   - storage: the archive.
    ///   - schema: the form of its items.
    ///   - fieldNames: the names of all fields by their numbers in the store.
    /// - Throws: an error if the archive's root is not an array of items.
    init(_ storage: PropertyListStorage, _ schema: ArchiveSchema, fieldNames: [String]) throws(PropertyListError) {
        let table = try ArchiveObjectTable(BinaryPropertyListReader(storage))
        archive = ArchiveObjectReader(table, limits: ItemArchiveReader.limits)
        self.schema = schema
        var numbers: [ExactText: UInt32] = [:]
        for (number, name) in fieldNames.enumerated().dropFirst(schema.keys.count) {
            numbers[ExactText(schema.archivedKey(ofField: name))] = UInt32(number)
        }
        customNumbers = numbers
        shape.places = [Int](repeating: -1, count: schema.keys.count)
        guard table.top.count == 1, let array = try table.dictionary(at: table.resolve(table.top[0].number)),
            let elements = try archive.elements(of: array)
        else { throw .corruptArchive("the root is not an array of items") }
        self.elements = elements
        count = elements.count
    }

    /// The addresses of the archive's texts.
    var range: Range<UInt> {
        let bytes = archive.table.propertyList.storage.bytes
        let start = UInt(bitPattern: bytes.baseAddress)
        return start..<start + UInt(bytes.count)
    }

    // MARK: Fields

    /// A declared field's cell.
    mutating func cell(_ row: Int, _ field: ItemField, _ values: FaultedValues) throws(PropertyListError) -> Cell {
        let item = try item(row)
        let kind = schema.schema.kinds[Int(field.rawValue)]
        let place = shape.places[Int(field.rawValue)]
        guard place >= 0 else {
            if kind.isOptional { return .absent }
            throw error(field, row, "missing")
        }
        switch kind.kind {
        case .text, .mixed:
            let cell = try text(at: try archive.object(at: place, in: item), values)
            if cell.isAbsent, !kind.isOptional { throw error(field, row, "nil") }
            return cell
        case .integer:
            guard case .integer(let value)? = try archive.table.number(at: archive.object(at: place, in: item)) else {
                throw error(field, row, "not an integer")
            }
            return .integer(value)
        case .date:
            guard let date = try archive.date(at: place, in: item), date.secondsSinceReferenceDate.isFinite else {
                throw error(field, row, "not a date")
            }
            return .date(date.secondsSinceReferenceDate)
        }
    }

    private func error(_ field: ItemField, _ row: Int, _ what: String) -> PropertyListError {
        .corruptArchive("\(schema.schema.fields[Int(field.rawValue)].name) of item \(row + 1) is \(what)")
    }

    /// Reads the texts of some rows in a batch, in place: nothing is cached.
    ///
    /// A cell is ``Cell/archived`` if its text cannot be read in this way: because an item differs from its neighbours,
    /// a text is beyond ASCII, or something is damaged. It is left to ``cell(_:_:_:)``.
    mutating func texts(
        _ rows: UnsafeBufferPointer<UInt32>, _ field: ItemField, into cells: UnsafeMutablePointer<Cell>
    ) {
        if shape.run < 0, let first = rows.first { _ = try? item(Int(first)) }
        let place = shape.places[Int(field.rawValue)]
        let unset = schema.schema.fields[Int(field.rawValue)].unset
        let nullText = (try? archive.table.propertyList.asciiString(at: archive.table.nilNumber))?.baseAddress
        withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: rows.count) { texts in
            guard shape.run == archive.runNumber,
                archive.findTexts(of: rows, in: elements, at: place, into: texts)
            else {
                return cells.initialize(repeating: .archived, count: rows.count)
            }
            for (index, text) in texts.enumerated() {
                if text.baseAddress == nil {
                    cells[index] = .archived
                } else if text.baseAddress == nullText {
                    cells[index] = unset
                } else {
                    cells[index] = Self.cell(text)
                }
            }
        }
    }

    private var keyPlace: Int { shape.places.last ?? -1 }

    /// The item's key, and whether it is a text and not a UUID.
    mutating func key(_ row: Int, _ values: FaultedValues) throws(PropertyListError) -> (PackedKey, isText: Bool) {
        if let packed = try uuid(row) { return (packed, false) }
        let item = try item(row)
        guard keyPlace >= 0 else { throw .corruptArchive("item \(row + 1) has no itemKey") }
        let cell = try text(at: try archive.object(at: keyPlace, in: item), values)
        guard cell.isText, cell.withText({ $0.count > 0 }) else {
            throw .corruptArchive("item \(row + 1) has no itemKey")
        }
        return (PackedKey(text: cell), true)
    }

    /// The item's key if it is a UUID.
    mutating func uuid(_ row: Int) throws(PropertyListError) -> PackedKey? {
        let item = try item(row)
        guard keyPlace >= 0,
            let bytes = try archive.table.propertyList.asciiString(at: archive.object(at: keyPlace, in: item))
        else { return nil }
        return PackedKey(uuid: bytes.assumingMemoryBound(to: UInt8.self))
    }

    /// The item's custom fields, in a block that the caller must free.
    mutating func custom(_ row: Int, _ values: FaultedValues) throws(PropertyListError) -> CustomFields {
        let item = try item(row)
        var block = CustomFields.none
        do throws(PropertyListError) {
            for (field, place) in shape.custom {
                let number = try archive.object(at: place, in: item)
                if number == archive.table.nilNumber { continue }
                block.set(field, try custom(at: number, values))
            }
        } catch {
            block.release()
            throw error
        }
        return block
    }

    /// Begins to read custom fields row by row.
    mutating func beginColumns(_ fields: [UInt32]) { columns = fields.map { ColumnOfItems(number: $0) } }

    /// The cell of one of the fields given to ``beginColumns(_:)``, by its place.
    mutating func columnCell(_ row: Int, _ column: Int, _ values: FaultedValues) throws(PropertyListError) -> Cell {
        let item = try item(row)
        if columns[column].run != shape.run {
            let number = columns[column].number
            columns[column].place = shape.custom.first { $0.number == number }?.place ?? -1
            columns[column].run = shape.run
        }
        let place = columns[column].place
        guard place >= 0 else { return .absent }
        let number = try archive.object(at: place, in: item)
        if number == archive.table.nilNumber { return .absent }
        if let known = columns[column].known[number] { return known }
        let cell = try custom(at: number, values)
        columns[column].known.insert(cell, number)
        return cell
    }

    private mutating func custom(at number: Int, _ values: FaultedValues) throws(PropertyListError) -> Cell {
        if let bytes = try archive.table.propertyList.asciiString(at: number) { return Self.cell(bytes) }
        guard let value = try archive.value(at: number) else {
            throw .corruptArchive("a field holds no property-list value")
        }
        return values.cell(value)
    }

    private mutating func text(at number: Int, _ values: FaultedValues) throws(PropertyListError) -> Cell {
        if number == archive.table.nilNumber { return .absent }
        if let bytes = try archive.table.propertyList.asciiString(at: number) { return Self.cell(bytes) }
        guard let text = try archive.table.string(at: number) else {
            throw .corruptArchive("a text of an item is none")
        }
        return values.cell(.string(text))
    }

    /// A long text is not copied: the cell points into the archive.
    @inline(__always)
    private static func cell(_ bytes: UnsafeRawBufferPointer) -> Cell {
        let text = bytes.assumingMemoryBound(to: UInt8.self)
        guard let start = text.baseAddress, text.count > Cell.shortTextLimit else { return Cell.shortText(text) }
        return .longText(start, count: text.count)
    }

    // MARK: Items

    @inline(__always)
    private mutating func item(_ row: Int) throws(PropertyListError) -> BinaryPropertyListContainer {
        if let last, last.row == row { return last.item }
        let item = try readItem(row)
        last = (row, item)
        return item
    }

    private mutating func readItem(_ row: Int) throws(PropertyListError) -> BinaryPropertyListContainer {
        guard row < count, let item = try archive.element(row, of: elements) else {
            throw .corruptArchive("item \(row + 1) is none")
        }
        if archive.runNumber != shape.run { try learn(item) }
        return item
    }

    private mutating func learn(_ item: BinaryPropertyListContainer) throws(PropertyListError) {
        let keys = try archive.shape(of: item)
        shape.places = schema.keys.map { keys.slot(ofStored: $0) ?? -1 }
        shape.custom = keys.storedKeys.enumerated().compactMap { place, key in
            customNumbers[ExactText(ArchiveKey.given(key))].map { ($0, place) }
        }.sorted { $0.number < $1.number }
        shape.run = archive.runNumber
    }
}
