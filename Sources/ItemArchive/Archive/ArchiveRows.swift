import ColumnEngine
import PropertyList

/// Reads elements of columns from the archive at their first access.
///
/// The archive was valid when it was written, but bytes on a disk can change. An unreadable element reads as an empty
/// field, is reported in ``damage``, and makes the store keep the archive before replacing it.
final class ArchiveRows: RowSource {
    private var items: MappedItems
    /// By number of a declared field, the index's copy of its integers, if it has a usable one.
    private let numbers: [MappedNumbers?]
    let values: FaultedValues
    /// The first failures to read, in words.
    private(set) var damage: [String] = []
    /// Called with each new entry of ``damage``.
    var onDamage: ((String) -> Void)?

    init(_ items: MappedItems, _ values: FaultedValues? = nil, numbers: [MappedNumbers?] = []) {
        self.items = items
        self.numbers = numbers
        self.values = values ?? FaultedValues(mapped: items.range)
    }

    func copy() -> any RowSource { ArchiveRows(items, values.copy()) }

    var isDamaged: Bool { !damage.isEmpty }

    /// Reads one element of a column into its place: a whole cell for texts, a word for numbers and dates.
    func load(_ column: MappedColumn, _ row: UInt32, to element: UnsafeMutableRawPointer) {
        let number = Int(row)
        do throws(PropertyListError) {
            switch column {
            case .field(let field) where MappedItems.declared[Int(field.rawValue)].kind == .text:
                element.storeBytes(of: cell(row, of: field), as: Cell.self)
            case .field(let field): element.storeBytes(of: cell(row, of: field).tail, as: UInt64.self)
            case .key: element.storeBytes(of: try items.key(number, values).0, as: PackedKey.self)
            case .keyKind: element.storeBytes(of: try items.key(number, values).isText, as: Bool.self)
            case .custom: element.storeBytes(of: try items.custom(number, values), as: CustomFields.self)
            }
        } catch {
            note(row, error)
            switch column {
            // A unique key, the same at each reading.
            case .key: element.storeBytes(of: .uuid(high: UInt64(row), low: .max, version: 8), as: PackedKey.self)
            case .keyKind: element.storeBytes(of: false, as: Bool.self)
            case .field: break
            case .custom: element.storeBytes(of: .none, as: CustomFields.self)
            }
        }
    }

    func cell(_ row: UInt32, of field: ItemField) -> Cell {
        do throws(PropertyListError) {
            if let number = numbers(of: field)?.number(Int(row)) { return .integer(number) }
            return try items.cell(Int(row), field, values)
        } catch {
            note(row, error)
            return MappedItems.declared[Int(field.rawValue)].unset
        }
    }

    /// Reads elements of a column of numbers for some rows of 64, if that is cheaper than row by row.
    ///
    /// - Parameters:
    ///   - column: the column.
    ///   - absent: the rows, a bit each.
    ///   - first: the first bit's row, a multiple of 64.
    ///   - elements: the address of the first element.
    /// - Returns: whether it read them.
    func load(_ column: MappedColumn, _ absent: UInt64, from first: Int, to elements: UnsafeMutableRawPointer) -> Bool {
        guard case .field(let field) = column else { return false }
        return numbers(of: field)?.copy(absent, from: first, to: elements) ?? false
    }

    @inline(__always)
    private func numbers(of field: ItemField) -> MappedNumbers? {
        Int(field.rawValue) < numbers.count ? numbers[Int(field.rawValue)] : nil
    }

    /// Reads the elements of some rows of a text column in a batch. Those that cannot be read in this way are left
    /// ``Cell/archived``; nothing is cached or reported.
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
            note(row, error)
            return .absent
        }
    }

    /// The row's key, read from the archive, if it is a readable UUID; nothing is cached or reported.
    func uuid(_ row: UInt32) -> PackedKey? {
        try? items.uuid(Int(row))
    }

    private func note(_ row: UInt32, _ error: PropertyListError) {
        let text = "item \(row + 1) of the archive cannot be read whole: \(error.message)"
        guard damage.count < 20, !damage.contains(text) else { return }
        damage.append(text)
        onDamage?(text)
    }
}
