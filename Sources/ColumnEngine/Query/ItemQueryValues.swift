package import PropertyList

extension ItemQuery {
    /// The values of keys: an array for each key, with a value for each row, in order; nil where a row has none.
    package func values(of keys: [QueryKey]) throws(StoreError) -> [[PropertyListValue?]] {
        try columns.pinningRows { () throws(StoreError) in
            try columns.reporting {
                columns.recordWholeRead()
                let rows = try lastOperator().all()
                // Made in turn: a key that is a function may change the columns that a later one reads.
                return try keys.map { try values(of: VectorKey($0, columns), rows) }
            }
        }
    }

    private func values(of key: VectorKey, _ rows: [UInt32]) throws -> [PropertyListValue?] {
        var values: [PropertyListValue?] = []
        values.reserveCapacity(rows.count)
        try rows.withUnsafeBufferPointer { rows in
            for start in stride(from: 0, to: rows.count, by: 1024) {
                if Interruption.isDue { throw WorkStopped() }
                let batch = UnsafeBufferPointer(rebasing: rows[start..<min(start + 1024, rows.count)])
                var heap = CellHeap()
                let cells = try key.withCells(batch, columns, &heap) { Array($0) }
                for cell in cells {
                    values.append(cell.kind == .box ? key.value(cell, columns, heap) : heap.value(cell))
                }
            }
        }
        return values
    }
}
