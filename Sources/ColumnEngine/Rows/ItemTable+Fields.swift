import Glibc
import PropertyList

/// The columns of fields: a declared field always has one, another field if one item in sixteen has it; other values
/// are in the items' own blocks.
///
/// A block may still hold former values of a field that has got a column. The column counts.
extension ItemTable {
    /// A field's column; nil for `itemKey`, for a rare field, and for one that no query has used since its archive was
    /// mapped.
    func column(_ field: ItemField) -> FieldColumn? {
        Int(field.rawValue) < columns.count ? columns[field.rawValue]?.takeUnretainedValue() : nil
    }

    /// Calls a body with a field's column, if any. Unretained: reference counting would cost more than the access.
    @inline(__always)
    func withColumn<Result>(_ field: ItemField, _ body: (FieldColumn) -> Result) -> Result? {
        guard Int(field.rawValue) < columns.count, let column = columns.peek(field.rawValue) else { return nil }
        return column._withUnsafeGuaranteedRef(body)
    }

    /// Calls a body with the column of each declared field.
    @inline(__always)
    func forEachDeclared(_ body: (ItemField, FieldColumn) -> Void) {
        for number in 0..<keyField.rawValue {
            let field = ItemField(rawValue: number)
            _ = withColumn(field) { body(field, $0) }
        }
    }

    /// A field's value; absent for `itemKey`, which is not a cell.
    @inline(__always)
    func cell(_ row: UInt32, _ field: ItemField) -> Cell {
        if let cell = withColumn(field, { $0.cell(row) }) { return cell }
        return field == keyField ? .absent : custom[row][field.rawValue]
    }

    /// Sets a field to a cell of a kind that the field accepts.
    @inline(__always)
    mutating func setCell(_ row: UInt32, _ field: ItemField, _ cell: Cell) {
        if field.rawValue > keyField.rawValue { record(cell, in: Int(field.rawValue)) }
        if withColumn(field, { $0.set(row, cell) }) != nil || field == keyField { return }
        if setInBlock(row, field.rawValue, cell) { countInBlocks(field) }
    }

    /// Sets a field, as ``setCell(_:_:_:)``.
    ///
    /// - Returns: the cell before; absent in a new row.
    @inline(__always)
    mutating func replaceCell(_ row: UInt32, _ field: ItemField, _ cell: Cell) -> Cell {
        if field.rawValue > keyField.rawValue { record(cell, in: Int(field.rawValue)) }
        if let old = withColumn(field, { $0.replace(row, cell) }) { return old }
        let old = self.cell(row, field)
        if field != keyField, setInBlock(row, field.rawValue, cell) { countInBlocks(field) }
        return old
    }

    /// The declaration of a field; nil for the key and custom fields.
    @inline(__always)
    func declared(_ field: ItemField) -> DeclaredKind? { withColumn(field) { $0.declared } ?? nil }

    /// Whether a field's value is only in the archive. Custom fields share a block.
    func isArchived(_ row: UInt32, _ field: ItemField) -> Bool { column(field)?.isArchived(row) ?? false }

    /// Prefetches the element of an item's field.
    @inline(__always)
    func prefetch(_ row: UInt32, _ field: ItemField) {
        if withColumn(field, { $0.prefetch(row) }) != nil { return }
        if field == keyField { keys.prefetch(row) } else { custom.prefetch(row) }
    }

    /// Calls a body with each custom field of an item and its cell, in the order of the fields' numbers.
    func forEachCustomCell<Failure: Error>(
        _ row: UInt32, _ body: (UInt32, Cell) throws(Failure) -> Void
    ) throws(Failure) {
        try FieldMerge.forEach(
            custom[row], columnNumbers,
            { number in
                withColumn(ItemField(rawValue: number)) { $0.cell(row) } ?? .absent
            }, body)
    }

    /// A field's existing cell for a text. Inlined: for a call the compiler would copy the table.
    @inline(__always)
    func entry(for text: UnsafeBufferPointer<UInt8>, _ field: ItemField) -> Cell? {
        withColumn(field) { $0.entry(for: text) } ?? nil
    }

    /// Whether the texts of a field's cells belong to a dictionary.
    @inline(__always)
    func keepsTexts(_ field: ItemField) -> Bool { withColumn(field) { $0.encoding == .codes } ?? false }

    /// Whether some item has had a custom field.
    func hasKind(_ field: ItemField) -> Bool { kinds(field) ?? 0 != 0 }

    // MARK: Columns

    /// Counts another block with a field, which gets a column once it is not rare.
    private mutating func countInBlocks(_ field: ItemField) {
        let place = Int(field.rawValue)
        while blockCounts.count <= place { blockCounts.append(0) }
        blockCounts[place] += 1
        // Fields of a mapped archive are not counted: a query materialises their columns.
        guard !isMapped, blockCounts[place] >= FieldColumn.denseShare,
            blockCounts[place] * FieldColumn.denseShare >= rowCount
        else { return }
        if let columns = madeColumns(1, { row, _ in custom[row][field.rawValue] }) { install(columns[0], field) }
    }

    /// Materialises the column of a field for a full scan: from a mapped archive it is read now, bypassing items'
    /// blocks that are not in memory.
    ///
    /// - Returns: nil for a rare field, for a field that no item has had, and after an interruption, which the query
    ///   detects with its first batch.
    mutating func materialise(
        _ field: ItemField, _ source: (any RowSource)?, _ discard: (Cell) -> Void
    ) -> FieldColumn? {
        if column(field) == nil { materialise([field], source) }
        guard let column = column(field) else { return nil }
        // Now, and not when it is read next: views of it stay valid while nothing changes.
        column.chooseEncoding(discard)
        return column
    }

    /// Materialises the columns of fields of a mapped archive that have none yet, all in one pass over the items: what an
    /// item has is near each other in an archive.
    mutating func materialise(_ fields: [ItemField], _ source: (any RowSource)?) {
        guard isMapped, let source else { return }
        var missing: [ItemField] = []
        for field in fields where column(field) == nil && hasKind(field) && !missing.contains(field) {
            missing.append(field)
        }
        if missing.isEmpty { return }
        source.beginColumns(missing.map(\.rawValue))
        let made = madeColumns(missing.count) { row, place in
            custom.isPresent(row) ? custom[row][missing[place].rawValue] : source.cell(row, column: place)
        }
        source.endColumns()
        for (field, column) in zip(missing, made ?? []) { install(column, field) }
    }

    /// Reads the texts of a field that are only in a mapped archive, in batches, and keeps them.
    func loadTexts(of field: ItemField) {
        guard isMapped, let column = column(field) else { return }
        let length = 1024
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: length) { rows in
            for start in stride(from: 0, to: rowCount, by: length) where !Interruption.isDue {
                let count = min(length, rowCount - start)
                for place in 0..<count { rows[place] = UInt32(start + place) }
                column.cells.materialiseTexts(UnsafeMutableBufferPointer(rebasing: rows[..<count]))
            }
        }
    }

    /// Columns of cells by row and place; nil if it is interrupted before all rows are read.
    private func madeColumns(_ count: Int, _ cell: (UInt32, Int) -> Cell) -> [FieldColumn]? {
        var columns = [FieldColumn?](repeating: nil, count: count)
        var pace = InterruptionPace()
        for row in 0..<UInt32(rowCount) {
            if pace.isDue() { return nil }
            for place in 0..<count {
                let cell = cell(row, place)
                if cell.isAbsent { continue }
                if columns[place] == nil { columns[place] = FieldColumn(like: cell) }
                columns[place]?.set(row, cell)
            }
        }
        return columns.map { column in
            let made = column ?? FieldColumn(like: .absent)
            made.extend(to: rowCount)
            if made.encoding != .sparse, made.held * FieldColumn.sparseShare < rowCount { made.convertToSparse() }
            return made
        }
    }

    private mutating func install(_ column: FieldColumn, _ field: ItemField) {
        while columns.count <= Int(field.rawValue) { columns.append(nil) }
        columns[field.rawValue] = .passRetained(column)
        columnNumbers.append(field.rawValue)
        columnNumbers.sort()
    }
}

/// Merges an item's custom fields of its block and of the columns, by number.
enum FieldMerge {
    @inline(__always)
    static func forEach<Failure: Error>(
        _ block: CustomFields, _ columnNumbers: [UInt32], _ columnCell: (UInt32) -> Cell,
        _ body: (UInt32, Cell) throws(Failure) -> Void
    ) throws(Failure) {
        let (numbers, cells) = (block.numbers, block.cells)
        var next = 0
        for number in columnNumbers {
            while next < numbers.count, numbers[next] < number {
                try body(numbers[next], cells[next])
                next += 1
            }
            if next < numbers.count, numbers[next] == number { next += 1 }
            let cell = columnCell(number)
            if !cell.isAbsent { try body(number, cell) }
        }
        while next < numbers.count {
            try body(numbers[next], cells[next])
            next += 1
        }
    }
}

/// An item's custom fields: numbers in ascending order and their cells, in one block of memory.
///
/// A handle of eight bytes, which the table of items stores in a column and frees.
package struct CustomFields: BitwiseCopyable {
    private var block: UnsafeMutableRawPointer?

    private struct Header {
        var count: UInt32
        var capacity: UInt32
    }

    private static let cellsOffset = 16

    package static var none: CustomFields { CustomFields(block: nil) }

    private var header: Header { block?.assumingMemoryBound(to: Header.self).pointee ?? Header(count: 0, capacity: 0) }

    var count: Int { Int(header.count) }

    private var capacity: Int { Int(header.capacity) }

    /// The cells, one per field.
    var cells: UnsafeMutableBufferPointer<Cell> {
        guard let block else { return UnsafeMutableBufferPointer(start: nil, count: 0) }
        let start = (block + Self.cellsOffset).assumingMemoryBound(to: Cell.self)
        return UnsafeMutableBufferPointer(start: start, count: count)
    }

    /// The fields' numbers, ascending.
    var numbers: UnsafeMutableBufferPointer<UInt32> {
        guard let block else { return UnsafeMutableBufferPointer(start: nil, count: 0) }
        let offset = Self.cellsOffset + capacity * MemoryLayout<Cell>.stride
        return UnsafeMutableBufferPointer(start: (block + offset).assumingMemoryBound(to: UInt32.self), count: count)
    }

    /// The index of a field, or where to insert it.
    @inline(__always)
    private func find(_ field: UInt32) -> (index: Int, found: Bool) {
        let numbers = numbers
        let index = numbers.indices.bisected { numbers[$0] < field }
        return (index, index < numbers.count && numbers[index] == field)
    }

    /// The address of the field's cell; nil if the item has no such field. Valid until the next change.
    @inline(__always)
    func pointer(_ field: UInt32) -> UnsafePointer<Cell>? {
        let (index, found) = find(field)
        guard found, let base = cells.baseAddress else { return nil }
        return UnsafePointer(base + index)
    }

    subscript(field: UInt32) -> Cell {
        pointer(field)?.pointee ?? .absent
    }

    /// Sets a field, or removes it with an absent cell.
    package mutating func set(_ field: UInt32, _ cell: Cell) {
        let (index, found) = find(field)
        if found {
            if cell.isAbsent { remove(at: index) } else { cells[index] = cell }
        } else if !cell.isAbsent {
            insert(field, cell, at: index)
        }
    }

    private mutating func remove(at index: Int) {
        let (cells, numbers) = (cells, numbers)
        if let cells = cells.baseAddress, let numbers = numbers.baseAddress {
            let behind = count - index - 1
            (cells + index).update(from: cells + index + 1, count: behind)
            (numbers + index).update(from: numbers + index + 1, count: behind)
        }
        setCount(cells.count - 1)
        if cells.count == 1 { release() }
    }

    private mutating func insert(_ field: UInt32, _ cell: Cell, at index: Int) {
        let count = count
        if count == capacity { grow() }
        setCount(count + 1)
        let (cells, numbers) = (cells, numbers)
        if let cells = cells.baseAddress, let numbers = numbers.baseAddress {
            (cells + index + 1).update(from: cells + index, count: count - index)
            (numbers + index + 1).update(from: numbers + index, count: count - index)
        }
        cells[index] = cell
        numbers[index] = field
    }

    private func setCount(_ count: Int) {
        block?.assumingMemoryBound(to: Header.self).pointee.count = UInt32(count)
    }

    private mutating func grow() {
        let (oldCells, oldNumbers) = (cells, numbers)
        let larger = capacity < 4 ? 4 : capacity + capacity / 2
        let size = Self.cellsOffset + larger * (MemoryLayout<Cell>.stride + MemoryLayout<UInt32>.stride)
        let fresh = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        fresh.bindMemory(to: Header.self, capacity: 1).pointee =
            Header(count: UInt32(oldCells.count), capacity: UInt32(larger))
        let old = block
        block = fresh
        if let source = oldCells.baseAddress, let target = cells.baseAddress {
            memcpy(target, source, oldCells.count * MemoryLayout<Cell>.stride)
        }
        if let source = oldNumbers.baseAddress, let target = numbers.baseAddress {
            memcpy(target, source, oldNumbers.count * MemoryLayout<UInt32>.stride)
        }
        old?.deallocate()
    }

    /// Frees the memory.
    package mutating func release() {
        block?.deallocate()
        block = nil
    }

    /// A separate block with the same fields.
    func copy() -> CustomFields {
        guard let block, count > 0 else { return .none }
        let size = Self.cellsOffset + capacity * (MemoryLayout<Cell>.stride + MemoryLayout<UInt32>.stride)
        let fresh = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        fresh.copyMemory(from: block, byteCount: size)
        return CustomFields(block: fresh)
    }
}

/// Copy on write for the items' custom fields, whose blocks are changed in place.
///
/// While a snapshot exists, the table copies a row's block before its first change and retires the old one to this
/// object, which the snapshot retains.
final class CopiedBlocks: @unchecked Sendable {
    // Guard: `retired` and `cloned` belong to the store's thread; a snapshot only keeps the object alive.
    private var retired: [CustomFields] = []
    private var cloned: Set<UInt32> = []

    deinit {
        for var block in retired { block.release() }
    }

    /// Retires the row's block if a snapshot may be reading it.
    ///
    /// - Returns: whether the block was retired; the caller must then neither change nor release it.
    func retire(_ row: UInt32, _ block: CustomFields) -> Bool {
        guard cloned.insert(row).inserted else { return false }
        retired.append(block)
        return true
    }

    /// Called for another snapshot, which may read the current blocks.
    func renew() {
        cloned = []
    }
}
