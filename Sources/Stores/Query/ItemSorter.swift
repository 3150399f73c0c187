/// Sorts rows by the fields of a query; of a limited answer it keeps only what may be in it.
struct ItemSorter {
    private struct Entry: BitwiseCopyable {
        /// The first key's prefix, inverted when it descends.
        var prefix: UInt64
        var row: UInt32
        /// The row's place in the scan: equal items stay in order.
        var place: UInt32
    }

    private let store: ItemStore
    private let keys: [ItemSortKey]
    private let kept: Int?
    private var entries: [Entry] = []
    private var place: UInt32 = 0
    /// The last entry of those kept so far: what is after it is not in the answer.
    private var bar: Entry?

    init(_ store: ItemStore, _ keys: [ItemSortKey], keeping kept: Int?) {
        self.store = store
        self.keys = keys
        self.kept = kept
    }

    mutating func add(_ row: UInt32) {
        let prefix = Self.prefix(store, row, keys[0].field)
        let entry = Entry(prefix: keys[0].isDescending ? ~prefix : prefix, row: row, place: place)
        place &+= 1
        guard let kept else { return entries.append(entry) }
        if let bar, !isBefore(entry, bar) { return }
        entries.append(entry)
        // Half of the room is kept at a time: O(log k) an item, amortised.
        if entries.count >= max(64, kept &* 2) { shrink(to: kept) }
    }

    private mutating func shrink(to kept: Int) {
        sort()
        if entries.count > kept { entries.removeLast(entries.count - kept) }
        if entries.count == kept { bar = entries.last }
    }

    mutating func finish() -> [UInt32] {
        sort()
        if let kept, entries.count > kept { entries.removeLast(entries.count - kept) }
        return entries.map(\.row)
    }

    private mutating func sort() {
        let isBefore = isBefore
        entries.sort(by: isBefore)
    }

    private func isBefore(_ first: Entry, _ second: Entry) -> Bool {
        if first.prefix != second.prefix { return first.prefix < second.prefix }
        for key in keys {
            let order = Self.compare(store, first.row, second.row, key.field)
            if order != 0 { return (order < 0) != key.isDescending }
        }
        return first.place < second.place
    }

    private static func compare(_ store: ItemStore, _ first: UInt32, _ second: UInt32, _ field: ItemField) -> Int {
        guard field == .itemKey else {
            return CellOrder.compare(store.table.cell(first, field), store.table.cell(second, field))
        }
        return store.table.withKey(first) { left in
            store.table.withKey(second) { right in CellOrder.compareText(left, right) }
        }
    }

    private static func prefix(_ store: ItemStore, _ row: UInt32, _ field: ItemField) -> UInt64 {
        guard field == .itemKey else { return CellOrder.prefix(store.table.cell(row, field)) }
        return store.table.withKey(row) { CellOrder.prefix($0) }
    }
}
