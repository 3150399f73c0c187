/// The part of an index that satisfies a condition: from a key to a key, unbounded where nil.
struct IndexRange {
    var lower: IndexKey?
    var upper: IndexKey?
}

/// A boundary between values: before or after those equal to a value, or after all texts with a prefix.
struct IndexKey {
    enum Side {
        case before, behind
        /// After the texts with this prefix.
        case behindBeginning
    }

    var prefix: UInt64
    /// The value if it is a text.
    var text: [UInt8] = []
    /// The value if it is not a text.
    var cell: Cell = .absent
    var side: Side

    static func prefix(_ integer: Int64) -> UInt64 { UInt64(bitPattern: integer) ^ 1 << 63 }

    static func integer(_ value: Int64, _ side: Side) -> IndexKey {
        IndexKey(prefix: prefix(value), side: side)
    }

    static func date(_ seconds: Double, _ side: Side) -> IndexKey {
        IndexKey(prefix: CellOrder.ordered(seconds), side: side)
    }

    static func text(_ value: some Sequence<UInt8>, _ side: Side) -> IndexKey {
        let bytes = Array(value)
        return IndexKey(prefix: bytes.withUnsafeBufferPointer { CellOrder.prefix($0) }, text: bytes, side: side)
    }

    static func cell(_ value: Cell, _ side: Side) -> IndexKey {
        IndexKey(prefix: CellOrder.prefix(value), cell: value, side: side)
    }

    /// After every value of a kind: before the first of the next kind.
    static func rank(_ rank: UInt64) -> IndexKey {
        IndexKey(prefix: rank << 56, side: .before)
    }

    /// Whether an entry is before this boundary.
    func isBefore(_ entry: IndexEntry, _ store: ColumnStore, _ field: ItemField, _ isExact: Bool) -> Bool {
        if side == .behindBeginning { return beginsOrIsBefore(entry, store, field) }
        if entry.prefix != prefix { return entry.prefix < prefix }
        let order: Int
        if field == store.table.keyField {
            order = store.table.withKey(entry.row) { key in
                text.withUnsafeBufferPointer { CellOrder.compareText(key, $0) }
            }
        } else if isExact {
            order = 0
        } else {
            let value = store.table.cell(entry.row, field)
            if value.isText {
                order = value.withText { value in text.withUnsafeBufferPointer { CellOrder.compareText(value, $0) } }
            } else {
                order = CellOrder.compare(value, cell)
            }
        }
        return side == .before ? order < 0 : order <= 0
    }

    private func beginsOrIsBefore(_ entry: IndexEntry, _ store: ColumnStore, _ field: ItemField) -> Bool {
        func judge(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
            text.withUnsafeBufferPointer { text in
                let beginning = UnsafeBufferPointer(rebasing: value.prefix(text.count))
                return CellOrder.compareText(beginning, text) <= 0
            }
        }
        if field == store.table.keyField { return store.table.withKey(entry.row) { judge($0) } }
        let rank = entry.prefix >> 56
        guard rank == CellOrder.textRank else { return rank < CellOrder.textRank }
        return store.table.cell(entry.row, field).withText { judge($0) }
    }
}
