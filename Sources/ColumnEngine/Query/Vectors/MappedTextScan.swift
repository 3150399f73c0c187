import PredicateFormat

/// A pass over a text field that may still be in a mapped archive; it reads only the rows left by earlier passes.
struct MappedTextScan {
    private let column: FieldColumn
    /// Whether it is the first one since the archive was mapped: then texts are tested in place, and not cached.
    private let isFirst: Bool

    init(_ column: FieldColumn, isFirst: Bool) {
        (self.column, self.isFirst) = (column, isFirst)
    }

    func keep(_ rows: SelectionVector, _ test: PredicateTextTest, whenAbsent: Bool) -> Int {
        if isFirst {
            return withUnsafeTemporaryAllocation(of: Cell.self, capacity: rows.count) { cells in
                guard let cells = cells.baseAddress else { return 0 }
                column.cells.peek(at: rows, cells)
                var kept = 0
                for place in rows.indices {
                    rows[kept] = rows[place]
                    let isKept = cells[place].isAbsent ? whenAbsent : test.holds(Cell.text(at: cells + place))
                    kept &+= isKept ? 1 : 0
                }
                return kept
            }
        }
        column.cells.materialiseTexts(rows)
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
                column.cells.prefetch(rows[place + SelectionVector.lookahead])
                column.prefetchText(rows[place + SelectionVector.lookahead / 2])
            }
            let row = rows[place]
            rows[kept] = row
            let pointer = column.cells.pointer(row)
            let isKept = pointer.pointee.isAbsent ? whenAbsent : holds(Cell.text(at: pointer))
            kept &+= isKept ? 1 : 0
        }
        return kept
    }
}
