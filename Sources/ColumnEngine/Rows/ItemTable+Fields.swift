import PropertyList

/// The fields beyond the domain's: a column each where one item in sixteen has it, else the items' own blocks.
///
/// A block may still hold what a field had when it got its column. The column counts.
extension ItemTable {
    /// The column of a field beyond the domain's; nil for one that is rare, or that no query has named since its archive was
    /// mapped.
    @inline(__always)
    func column(_ field: UInt32) -> FieldColumn? {
        let place = Int(field) - ItemField.domain.count
        return place >= 0 && place < columns.count ? columns[place] : nil
    }

    @inline(__always)
    func customCell(_ row: UInt32, _ field: UInt32) -> Cell {
        if let column = column(field) { return column.cell(row) }
        return custom[row][field]
    }

    mutating func setCustomCell(_ row: UInt32, _ field: UInt32, _ cell: Cell) {
        note(cell, in: Int(field))
        if let column = column(field) {
            column.set(row, cell)
            return
        }
        let isNew = setInBlock(row, field, cell)
        if isNew { countInBlocks(field) }
    }

    /// Calls a body with each field beyond the domain's that an item has, and its cell, in the order of the fields' numbers.
    func forEachCustomCell<Failure: Error>(
        _ row: UInt32, _ body: (UInt32, Cell) throws(Failure) -> Void
    ) throws(Failure) {
        try FieldMerge.forEach(custom[row], columnNumbers, { column($0)?.cell(row) ?? .absent }, body)
    }

    /// The numbers of the fields beyond the domain's that an item has, ascending.
    func customFields(_ row: UInt32) -> [UInt32] {
        var numbers: [UInt32] = []
        forEachCustomCell(row) { number, _ in numbers.append(number) }
        return numbers
    }

    /// The cell that a field has for a text already.
    func entry(for text: UnsafeBufferPointer<UInt8>, _ field: ItemField) -> Cell? {
        field.isCustom ? column(field.rawValue)?.entry(for: text) : nil
    }

    /// Whether the texts of a field's cells are a dictionary's.
    @inline(__always)
    func keepsTexts(_ field: ItemField) -> Bool { field.isCustom && column(field.rawValue)?.keepsTexts ?? false }

    /// Whether some item has had a field beyond the domain's.
    func hasKind(_ field: UInt32) -> Bool { Int(field) < fieldKinds.count && fieldKinds[Int(field)] != 0 }

    // MARK: Columns

    /// Notes that one more block has a field, which gets a column when it is not rare any more.
    private mutating func countInBlocks(_ field: UInt32) {
        let place = Int(field) - ItemField.domain.count
        while blockCounts.count <= place { blockCounts.append(0) }
        blockCounts[place] += 1
        // What a mapped archive has is not counted: there a query asks for the column.
        guard !isMapped, blockCounts[place] >= FieldColumn.denseShare,
            blockCounts[place] * FieldColumn.denseShare >= rowCount
        else { return }
        if let column = madeColumn({ custom[$0][field] }) { install(column, field) }
    }

    /// Has the column of a field here, for who is going to look at all items: of a mapped archive it is read now, from
    /// items that nobody has touched directly.
    ///
    /// - Returns: nil for a field that is rare, or that no item has had, and when the work has to stop: the query that asked
    ///   finds that out with its first batch.
    mutating func materialise(_ field: UInt32, _ source: (any RowSource)?, _ discard: (Cell) -> Void) -> FieldColumn? {
        if let column = column(field) {
            column.settleEncoding(discard)
            return column
        }
        guard isMapped, let source, hasKind(field) else { return nil }
        source.beginColumn(field)
        let column = madeColumn { row in custom.isPresent(row) ? custom[row][field] : source.cell(row) }
        source.endColumn()
        if let column { install(column, field) }
        return column
    }

    /// Nil when the work has to stop before all rows are read.
    private func madeColumn(_ cell: (UInt32) -> Cell) -> FieldColumn? {
        var column: FieldColumn?
        var pace = InterruptionPace()
        for row in 0..<UInt32(rowCount) {
            if pace.isDue() { return nil }
            let cell = cell(row)
            if cell.isAbsent { continue }
            if column == nil { column = FieldColumn(like: cell) }
            column?.set(row, cell)
        }
        let made = column ?? FieldColumn(like: .absent)
        made.extend(to: rowCount)
        if made.encoding != .sparse, made.held * FieldColumn.sparseShare < rowCount { made.convertToSparse() }
        return made
    }

    private mutating func install(_ column: FieldColumn, _ field: UInt32) {
        let place = Int(field) - ItemField.domain.count
        while columns.count <= place { columns.append(nil) }
        columns[place] = column
        columnNumbers.append(field)
        columnNumbers.sort()
    }
}

/// An item's fields beyond the domain's, of its block and of the columns, by number.
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
