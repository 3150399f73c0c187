import PredicateFormat

/// A pass over a text field that may still be in a mapped archive, of which only the rows that earlier passes left are read.
struct MappedTextScan {
    private let store: ColumnStore
    private let field: ItemField
    /// Whether it is the first one since the archive was mapped: then the texts are tested where they lie, and not kept.
    private let isFirst: Bool

    init(_ store: ColumnStore, _ field: ItemField, isFirst: Bool) {
        (self.store, self.field, self.isFirst) = (store, field, isFirst)
    }

    func keep(_ rows: SelectionVector, _ test: PredicateTextTest, whenAbsent: Bool) -> Int {
        if isFirst {
            return withUnsafeTemporaryAllocation(of: Cell.self, capacity: rows.count) { cells in
                guard let cells = cells.baseAddress else { return 0 }
                store.table.peek(at: rows, field, cells)
                var kept = 0
                for place in rows.indices {
                    rows[kept] = rows[place]
                    let isKept = cells[place].isAbsent ? whenAbsent : test.holds(Cell.text(at: cells + place))
                    kept &+= isKept ? 1 : 0
                }
                return kept
            }
        }
        store.table.materialiseTexts(rows, field)
        if case .contains(let needle) = test { return keep(rows, whenAbsent) { needle.isContained(in: $0) } }
        return keep(rows, whenAbsent) { test.holds($0) }
    }

    @inline(__always)
    private func keep(
        _ rows: SelectionVector, _ whenAbsent: Bool, _ holds: (UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Int {
        var kept = 0
        for place in rows.indices {
            if place + SelectionVector.lookahead < rows.count {
                store.table.prefetch(rows[place + SelectionVector.lookahead], field)
                let next = rows[place + SelectionVector.lookahead / 2]
                if store.table.hasText(next, field) { store.table.prefetchText(next, field) }
            }
            let row = rows[place]
            rows[kept] = row
            let pointer = field == .name ? store.table.names.pointer(row) : store.table.serials.pointer(row)
            let isKept = pointer.pointee.isAbsent ? whenAbsent : holds(Cell.text(at: pointer))
            kept &+= isKept ? 1 : 0
        }
        return kept
    }
}
