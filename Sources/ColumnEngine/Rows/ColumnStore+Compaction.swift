extension ColumnStore {
    /// Copies every referenced text and boxed value into a new heap.
    ///
    /// - Parameter others: called with a function that copies the cells of changes outside of the log.
    package func compactHeap(_ others: ((inout [Change]) -> Void) -> Void) {
        var fresh = CellHeap()
        fresh.faulted = heap.faulted
        // Rows that are still in the archive reference nothing in the heap, and stay there.
        for row in 0..<UInt32(table.rowCount) {
            switch table.state(row) {
            case .free, .dead: continue
            case .draft, .live, .removed: break
            }
            if table.keys.isPresent(row), table.textKeys[row] {
                table.keys[row] = PackedKey(text: fresh.adopt(table.keys[row].cell, from: heap))
            }
            guard table.custom.isPresent(row) else { continue }
            let cells = table.custom[row].cells
            for index in cells.indices { cells[index] = fresh.adopt(cells[index], from: heap) }
        }
        for number in 0..<UInt32(table.columns.count) {
            table.column(ItemField(rawValue: number))?.replaceCells {
                switch table.state($0) {
                case .free, .dead: false
                case .draft, .live, .removed: true
                }
            } _: {
                fresh.adopt($0, from: heap)
            }
        }
        func adopt(_ changes: inout [Change]) {
            for index in changes.indices where changes[index].kind == .set {
                changes[index].cell = fresh.adopt(changes[index].cell, from: heap)
            }
        }
        adopt(&log)
        others(adopt)
        heap = fresh
    }
}
