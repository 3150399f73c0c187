import PropertyList

/// Sorts rows by the fields of a query; of a limited answer it keeps only what may be in it.
struct ItemSorter {
    private struct Entry: BitwiseCopyable {
        /// The first key's beginning, inverted when it descends; of a text, the eight bytes that are compared now.
        var word: UInt64
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
        let entry = Entry(word: keys[0].isDescending ? ~prefix : prefix, row: row, place: place)
        place &+= 1
        guard let kept else { return entries.append(entry) }
        if let bar, !isBefore(entry, bar) { return }
        entries.append(entry)
        // Half of the room is kept at a time: O(log k) an item, amortised.
        if entries.count >= max(64, kept &* 2) { shrink(to: kept) }
    }

    private mutating func shrink(to kept: Int) {
        let isBefore = isBefore
        entries.sort(by: isBefore)
        if entries.count > kept { entries.removeLast(entries.count - kept) }
        if entries.count == kept { bar = entries.last }
    }

    mutating func finish() -> [UInt32] {
        if kept == nil {
            var entries = entries
            self.entries = []
            entries.withUnsafeMutableBufferPointer { entries in
                let spare = UnsafeMutableBufferPointer<Entry>.allocate(capacity: entries.count)
                defer { spare.deallocate() }
                sort(entries, spare, from: 0)
            }
            return entries.map(\.row)
        }
        let isBefore = isBefore
        entries.sort(by: isBefore)
        if let kept, entries.count > kept { entries.removeLast(entries.count - kept) }
        return entries.map(\.row)
    }

    // MARK: All of them, a word at a time

    /// Sorts entries, which are in the scan's order, by their words, and runs of equal words by what follows: of texts
    /// the next eight bytes, which are fetched once and not at each comparison.
    private func sort(
        _ entries: UnsafeMutableBufferPointer<Entry>, _ spare: UnsafeMutableBufferPointer<Entry>, from offset: Int
    ) {
        // What sorted gives up in between is not used: the query asks once more.
        if entries.count > 4096, Interruption.isDue { return }
        var entries = entries
        if entries.count < RadixSort.threshold {
            entries.sort { $0.word != $1.word ? $0.word < $1.word : $0.place < $1.place }
        } else {
            RadixSort.sort(entries, spare) { $0.word }
        }
        var start = 0
        while start < entries.count {
            var end = start + 1
            while end < entries.count, entries[end].word == entries[start].word { end += 1 }
            if end - start > 1 {
                let run = UnsafeMutableBufferPointer(rebasing: entries[start..<end])
                sortRun(run, spare, nextOffset: offset == 0 ? 7 : offset + 8)
            }
            start = end
        }
    }

    /// How far into texts words are compared: beyond it, alike ones are compared whole.
    private static let wordLimit = 128
    /// How many entries ahead of the one whose text is read a cell is fetched; its text half as many ahead.
    private static let lookahead = 16

    /// Entries that are equal up to an offset of their texts.
    private func sortRun(
        _ entries: UnsafeMutableBufferPointer<Entry>, _ spare: UnsafeMutableBufferPointer<Entry>, nextOffset: Int
    ) {
        let field = keys[0].field
        if entries.count > 8, field != .itemKey, nextOffset <= Self.wordLimit {
            let equal = entries[0].word
            let lengths = readWords(entries, at: nextOffset)
            if lengths.lowerBound >= nextOffset { return sort(entries, spare, from: nextOffset) }
            for index in entries.indices { entries[index].word = equal }
            // They are equal, and in order but for the other keys.
            if lengths.count == 1, lengths.lowerBound >= 0, keys.count == 1 { return }
        }
        var entries = entries
        entries.sort { isOrdered($0, $1) }
    }

    /// Gives entries the words at an offset of their texts.
    ///
    /// - Returns: the length of the shortest and of the longest text; -1 stands for no text.
    private func readWords(_ entries: UnsafeMutableBufferPointer<Entry>, at offset: Int) -> ClosedRange<Int> {
        let (store, field) = (store, keys[0].field)
        let inversion = keys[0].isDescending ? ~UInt64(0) : 0
        var (shortest, longest) = (Int.max, -1)
        for index in entries.indices {
            if index + Self.lookahead < entries.count {
                store.table.prefetch(entries[index + Self.lookahead].row, field)
                // It is here, since its beginning was read: to ask would keep the compiler from a loop for each field.
                store.table.prefetchText(entries[index + Self.lookahead / 2].row, field)
            }
            let cell = store.table.cell(entries[index].row, field)
            let (length, word) = cell.isText ? cell.withText { ($0.count, Self.word($0, at: offset)) } : (-1, 0)
            entries[index].word = word ^ inversion
            shortest = min(shortest, length)
            longest = max(longest, length)
        }
        return shortest...longest
    }

    /// Eight bytes of a text, the first the highest, zeros behind its end.
    private static func word(_ text: UnsafeBufferPointer<UInt8>, at offset: Int) -> UInt64 {
        if offset + 8 <= text.count {
            return UInt64(
                bigEndian: UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        var word: UInt64 = 0
        for index in stride(from: offset, to: text.count, by: 1) {
            word |= UInt64(text[index]) << UInt64(56 - 8 * (index - offset))
        }
        return word
    }

    // MARK: By comparison

    private func isBefore(_ first: Entry, _ second: Entry) -> Bool {
        first.word != second.word ? first.word < second.word : isOrdered(first, second)
    }

    private func isOrdered(_ first: Entry, _ second: Entry) -> Bool {
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
