import ColumnEngine

extension ItemStore {
    /// A reference to an item.
    package func reference(to item: Item) -> ItemReference { reference(item.row) }

    /// The item of a reference; a removed item if it no longer exists.
    package func item(_ reference: ItemReference) -> Item {
        if isCurrent(reference) { return item(row: reference.row) }
        // A row that is dead from the start: freed with the object.
        return columns.makeDeadRow(item(row:))
    }

    /// The reference at a position counted from 0; nil outside the store. As ``subscript(_:)``.
    package func reference(at position: Int) -> ItemReference? {
        guard position >= 0, position < columns.count else { return nil }
        return reference(columns.row(at: position))
    }

    /// The item whose key has these bytes. O(1).
    package func reference(forKeyUTF8 key: UnsafeBufferPointer<UInt8>) -> ItemReference? {
        guard let row = columns.row(forKey: key) else { return nil }
        return reference(row)
    }

    /// All current items in order.
    package var allReferences: [ItemReference] {
        let slots = columns.slots
        return [ItemReference](unsafeUninitializedCapacity: slots.count) { buffer, count in
            for row in slots where row != ItemOrder.hole {
                buffer[count] = reference(row)
                count += 1
            }
        }
    }

    /// The epoch, a counter that changes whenever an item is removed. The address is valid as long as the store.
    package var epoch: UnsafePointer<UInt64> { UnsafePointer(columns.epochCounter) }

    /// Whether the item is not in its store.
    package func isRemoved(_ reference: ItemReference) -> Bool {
        !isCurrent(reference) || !columns.isAccessible(reference.row)
    }

    @inline(__always)
    func reference(_ row: UInt32) -> ItemReference {
        ItemReference(row: row, generation: columns.generation(row))
    }

    @inline(__always)
    func isCurrent(_ reference: ItemReference) -> Bool {
        Int(reference.row) < columns.rowCount && columns.generation(reference.row) == reference.generation
    }
}

extension ItemQuery {
    /// The items, in order, as references.
    ///
    /// - Throws: as ``all()``.
    package func references() throws -> [ItemReference] {
        try rows.rows().map(store.reference)
    }

    /// Copies the bits of the items' references, in order, to a buffer.
    ///
    /// - Parameter room: returns a buffer for this many; nil if there is none. It may change the store: items that it
    ///   removes are among the references, or replaced by references to no item.
    /// - Throws: as ``all()``.
    package func copyReferences(to room: (_ count: Int) -> UnsafeMutablePointer<UInt64>?) throws {
        if let (index, ranks, isDescending) = rows.partOfIndex() {
            guard let target = room(ranks.count) else { return }
            let (first, second) = (rows.order.first?.field, rows.order.second?.field)
            var count = 0
            index.forEach(ranks, descending: isDescending) { entry in
                if count < Self.lookahead {
                    if let first { store.columns.prefetchRead(entry.row, first) }
                    if let second { store.columns.prefetchRead(entry.row, second) }
                }
                target[count] = store.reference(entry.row).bits
                count += 1
                return true
            }
            for place in count..<ranks.count { target[place] = ItemReference.ofNoItem.bits }
            return
        }
        let rows = try rows.rows()
        guard let target = room(rows.count) else { return }
        for place in rows.indices { target[place] = store.reference(rows[place]).bits }
    }

    /// The number of items of an index to prefetch: their rows are scattered, and callers of a short result first read
    /// the fields that it is sorted by.
    private static let lookahead = 16

    /// The first item; nil if there is none. As ``first()``.
    package func firstReference() throws -> ItemReference? {
        var query = rows
        query.limitCount = Swift.min(1, query.limitCount ?? 1)
        return try query.rows().first.map(store.reference)
    }

    /// The first items, as references. As ``first(_:)``.
    package func firstReferences(_ count: Int) throws -> [ItemReference] {
        try limit(Swift.min(count, rows.limitCount ?? .max)).references()
    }
}

extension ItemGroup {
    /// As ``items``.
    package var references: [ItemReference] {
        rows.filter { store.columns.isLive($0) }.map(store.reference)
    }
}

extension ItemCursor {
    /// As ``next()``.
    package func nextReference() -> ItemReference? { nextRow().map(store.reference) }
}
