import PropertyList

/// Sorts rows by the keys of a query; for a limited result it keeps only candidates.
struct ItemSorter {
    private struct Entry: BitwiseCopyable {
        /// The word of the current key to compare, inverted for a descending key.
        var word: UInt64
        var row: UInt32
        /// The row's place in the scan, which makes the sort stable.
        var place: UInt32
    }

    private let columns: [SortColumn]
    private let topCount: Int?
    private var entries: [Entry] = []
    private var place: UInt32 = 0
    /// The last entry of those kept so far: entries after it are not in the result.
    private var bar: Entry?

    /// A sorter of given rows, and of others to be added in the order of the scan if none of the keys is a function.
    /// Functions are called first: they may change the store, and other keys point into it.
    init(_ store: ColumnStore, _ keys: [ItemSortKey], keeping topCount: Int?, rows: [UInt32] = []) throws {
        var asked: [Int: SortColumn] = [:]
        for (index, key) in keys.enumerated() {
            guard case .function = key.key else { continue }
            let column = try SortColumn(key, store)
            try rows.withUnsafeBufferPointer { try column.add($0) }
            column.isComplete = true
            asked[index] = column
        }
        columns = try keys.enumerated().map { try asked[$0] ?? SortColumn($1, store) }
        self.topCount = topCount
        try rows.withUnsafeBufferPointer { try add($0) }
    }

    /// Adds rows in the order of the scan.
    mutating func add(_ rows: UnsafeBufferPointer<UInt32>) throws {
        for column in columns { try column.add(rows) }
        guard let topCount else {
            // Not reserved by batch: an exact capacity would copy all entries each time.
            for row in rows {
                entries.append(Entry(word: 0, row: row, place: place))
                place &+= 1
            }
            return
        }
        let first = place
        place &+= UInt32(rows.count)
        columns[0].forEachWord(rows.count) {
            (rows[$0], first &+ UInt32($0))
        } _: { index, word, _ in
            let entry = Entry(word: word, row: rows[index], place: first &+ UInt32(index))
            if let bar, word > bar.word || !isBefore(entry, bar) { return }
            entries.append(entry)
            // Half of the capacity is kept each time: O(log k) per item, amortised.
            if entries.count >= max(64, topCount &* 2) { shrink(to: topCount) }
        }
    }

    /// The number of entries that it has memory for.
    var capacity: Int { entries.capacity }

    /// Records the rows that a key could not compare.
    func recordOtherKinds() { for column in columns { column.recordOtherKinds() } }

    private mutating func shrink(to topCount: Int) {
        var entries = entries
        entries.sort(by: isBefore)
        if entries.count > topCount { entries.removeLast(entries.count - topCount) }
        self.entries = entries
        if entries.count == topCount { bar = entries.last }
    }

    mutating func finish() -> [UInt32] {
        if let topCount {
            shrink(to: topCount)
            return entries.map(\.row)
        }
        var entries = entries
        self.entries = []
        entries.withUnsafeMutableBufferPointer { entries in
            LargeMemory.withBuffer(of: Entry.self, capacity: entries.count) { spare in
                sort(entries, spare, by: 0)
            }
        }
        return entries.map(\.row)
    }

    // MARK: All entries, a word at a time

    /// Maximum number of entries sorted by comparison.
    private static let few = 16
    /// Maximum offset in texts for comparing words: longer equal beginnings are sorted by comparison.
    private static let wordLimit = 128
    /// Sorts entries, which are in the scan's order, by a key and the following ones.
    private func sort(
        _ entries: UnsafeMutableBufferPointer<Entry>, _ spare: UnsafeMutableBufferPointer<Entry>, by key: Int
    ) {
        // A partial result is not used: the query checks for the interruption again.
        if key == columns.count || entries.count > 4096 && Interruption.isDue { return }
        if entries.count <= Self.few { return compareAll(entries, from: key) }
        var areExact = true
        let column = columns[key]
        column.forEachWord(entries.count) {
            (entries[$0].row, entries[$0].place)
        } _: { index, word, isExact in
            entries[index].word = word
            areExact = areExact && isExact
        }
        sortWords(entries, spare)
        forEachRun(entries) { run in
            let first = run[0]
            if areExact || column.word(first.row, first.place).isExact {
                sort(run, spare, by: key + 1)
            } else {
                sortTexts(run, spare, by: key, at: 7)
            }
        }
    }

    /// Sorts entries whose texts are equal up to an offset by the next eight bytes.
    private func sortTexts(
        _ entries: UnsafeMutableBufferPointer<Entry>, _ spare: UnsafeMutableBufferPointer<Entry>, by key: Int,
        at offset: Int
    ) {
        if entries.count <= Self.few || offset > Self.wordLimit { return compareAll(entries, from: key) }
        let lengths = readWords(entries, columns[key], at: offset)
        if lengths.lowerBound < 0 {
            // None is a text: they are equal only if all are absent.
            let areAbsent = entries.allSatisfy { columns[key].cell($0.row, $0.place).isAbsent }
            return areAbsent ? sort(entries, spare, by: key + 1) : compareAll(entries, from: key)
        }
        // A text that ends here precedes a longer one whose next bytes are 0.
        if lengths.lowerBound < offset, lengths.count > 1 { return compareAll(entries, from: key) }
        if lengths.upperBound <= offset { return sort(entries, spare, by: key + 1) }
        sortWords(entries, spare)
        forEachRun(entries) { sortTexts($0, spare, by: key, at: offset + 8) }
    }

    private func sortWords(_ entries: UnsafeMutableBufferPointer<Entry>, _ spare: UnsafeMutableBufferPointer<Entry>) {
        if entries.count >= RadixSort.threshold { return RadixSort.sort(entries, spare) { $0.word } }
        var entries = entries
        // Entries of equal words stay in the order of the scan.
        entries.sort { $0.word != $1.word ? $0.word < $1.word : $0.place < $1.place }
    }

    private func forEachRun(
        _ entries: UnsafeMutableBufferPointer<Entry>, _ body: (UnsafeMutableBufferPointer<Entry>) -> Void
    ) {
        var start = 0
        while start < entries.count {
            var end = start + 1
            while end < entries.count, entries[end].word == entries[start].word { end += 1 }
            if end - start > 1 { body(UnsafeMutableBufferPointer(rebasing: entries[start..<end])) }
            start = end
        }
    }

    /// Sets the entries' words to those at an offset of their texts.
    ///
    /// - Returns: the lengths of the shortest and the longest text; -1 if an entry is not a text.
    private func readWords(
        _ entries: UnsafeMutableBufferPointer<Entry>, _ column: SortColumn, at offset: Int
    ) -> ClosedRange<Int> {
        let inversion = column.isDescending ? ~UInt64(0) : 0
        var (shortest, longest) = (Int.max, -1)
        for index in entries.indices {
            if index + SelectionVector.lookahead < entries.count {
                column.prefetch(
                    entries[index + SelectionVector.lookahead].row,
                    textOf: entries[index + SelectionVector.lookahead / 2].row)
            }
            let (length, word) = column.withText(entries[index].row, entries[index].place) { text in
                text.map { ($0.count, Self.word($0, at: offset)) } ?? (-1, 0)
            }
            entries[index].word = word ^ inversion
            shortest = min(shortest, length)
            longest = max(longest, length)
        }
        return shortest...longest
    }

    /// Eight bytes of a text, the first in the highest byte, padded with zeros.
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

    private func compareAll(_ entries: UnsafeMutableBufferPointer<Entry>, from key: Int) {
        guard entries.count <= Self.few else {
            var entries = entries
            return entries.sort { isOrdered($0, $1, from: key) }
        }
        for index in 1..<max(entries.count, 1) {
            let entry = entries[index]
            var place = index
            while place > 0, isOrdered(entry, entries[place - 1], from: key) {
                entries[place] = entries[place - 1]
                place -= 1
            }
            entries[place] = entry
        }
    }

    private func isBefore(_ first: Entry, _ second: Entry) -> Bool {
        first.word != second.word ? first.word < second.word : isOrdered(first, second, from: 0)
    }

    private func isOrdered(_ first: Entry, _ second: Entry, from key: Int) -> Bool {
        for column in columns[key...] {
            let order = column.compare((first.row, first.place), (second.row, second.place))
            if order != 0 { return order < 0 }
        }
        return first.place < second.place
    }
}

/// A sort key of a query.
package struct ItemSortKey {
    package let key: QueryKey
    package let isDescending: Bool

    package init(_ key: QueryKey, isDescending: Bool) { (self.key, self.isDescending) = (key, isDescending) }

    /// The field; nil for an expression or a function.
    package var field: ItemField? { if case .field(let field) = key { field } else { nil } }

    /// Whether it is a function, which may change the store.
    var isFunction: Bool { if case .function = key { true } else { false } }
}
