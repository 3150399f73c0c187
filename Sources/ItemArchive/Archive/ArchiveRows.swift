import ColumnEngine
import PropertyList

/// Reads elements of columns from the archive when they are first touched.
///
/// The archive was whole when it was written. What cannot be read all the same, since bytes on a disk can change, reads
/// as an empty field, is told of in ``damage``, and makes the store keep the archive before it replaces it.
final class ArchiveRows: RowSource {
    private var items: MappedItems
    /// The index's copy of the numbers, if it has one that can be used.
    private let numbers: MappedNumbers?
    let values: FaultedValues
    /// What could not be read, in words; the first of it.
    private(set) var damage: [String] = []
    /// Called with each new entry of ``damage``.
    var onDamage: ((String) -> Void)?

    init(_ items: MappedItems, _ values: FaultedValues? = nil, numbers: MappedNumbers? = nil) {
        self.items = items
        self.numbers = numbers
        self.values = values ?? FaultedValues(mapped: items.range)
    }

    func copy() -> any RowSource { ArchiveRows(items, values.copy()) }

    var isDamaged: Bool { !damage.isEmpty }

    /// Reads one element of a column into its place.
    func load(_ column: MappedColumn, _ row: UInt32, to element: UnsafeMutableRawPointer) {
        let row = Int(row)
        do throws(PropertyListError) {
            switch column {
            case .field(let field): store(try cell(row, field), of: field, to: element)
            case .key: element.storeBytes(of: try items.key(row, values).0, as: PackedKey.self)
            case .keyKind: element.storeBytes(of: try items.key(row, values).isText, as: Bool.self)
            case .custom: element.storeBytes(of: try items.custom(row, values), as: CustomFields.self)
            }
        } catch {
            note("item \(row + 1) of the archive cannot be read whole: \(error.message)")
            switch column {
            case .field(let field): store(FieldTable.declared[Int(field.rawValue)].unset, of: field, to: element)
            // A key that nothing else has, the same at each reading.
            case .key: element.storeBytes(of: .uuid(high: UInt64(row), low: .max, version: 8), as: PackedKey.self)
            case .keyKind: element.storeBytes(of: false, as: Bool.self)
            case .custom: element.storeBytes(of: .none, as: CustomFields.self)
            }
        }
    }

    /// Reads elements of a column of numbers for some rows of 64, if that is less work than row by row.
    ///
    /// - Parameters:
    ///   - column: what of them it has.
    ///   - absent: which rows, a bit a row.
    ///   - first: the first bit's row, a multiple of 64.
    ///   - elements: the place of the first one.
    /// - Returns: whether it did.
    func load(_ column: MappedColumn, _ absent: UInt64, from first: Int, to elements: UnsafeMutableRawPointer) -> Bool {
        guard case .field(.valueInDollars) = column else { return false }
        return numbers?.copy(absent, from: first, to: elements) ?? false
    }

    /// Reads the elements of some rows of a column of texts together, and leaves those that cannot be read in this way
    /// ``Cell/archived``; nothing is kept or reported.
    func texts(_ column: MappedColumn, _ rows: UnsafeBufferPointer<UInt32>, into cells: UnsafeMutablePointer<Cell>) {
        guard case .field(let field) = column else {
            return cells.initialize(repeating: .archived, count: rows.count)
        }
        items.texts(rows, field, into: cells)
    }

    // MARK: One field of all rows

    func beginColumn(_ field: UInt32) { items.beginColumn(field) }

    func endColumn() { items.endColumn() }

    func cell(_ row: UInt32) -> Cell {
        do throws(PropertyListError) { return try items.columnCell(Int(row), values) } catch {
            note("item \(row + 1) of the archive cannot be read whole: \(error.message)")
            return .absent
        }
    }

    private func cell(_ row: Int, _ field: ItemField) throws(PropertyListError) -> Cell {
        if field == .valueInDollars, let number = numbers?.number(row) { return .integer(number) }
        return try items.cell(row, field, values)
    }

    /// A column of texts has whole cells, one of numbers or dates their words.
    private func store(_ cell: Cell, of field: ItemField, to element: UnsafeMutableRawPointer) {
        if FieldTable.declared[Int(field.rawValue)].kind == .text {
            element.storeBytes(of: cell, as: Cell.self)
        } else {
            element.storeBytes(of: cell.tail, as: UInt64.self)
        }
    }

    /// The row's key where it lies, when it is a UUID that can be read; nothing is kept or reported.
    func uuid(_ row: UInt32) -> PackedKey? {
        try? items.uuid(Int(row))
    }

    private func note(_ text: String) {
        guard damage.count < 20, !damage.contains(text) else { return }
        damage.append(text)
        onDamage?(text)
    }
}
