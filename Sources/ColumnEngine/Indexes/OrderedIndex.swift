import PropertyList

/// The items that have a field, ordered by its values and then by their keys.
///
/// It is built at its first use, and updated with every later change of the store. New rows are pending until a query
/// needs them or a commit leaves many; they are sorted and merged together, so that creating a million items costs one
/// sort. Removed entries leave the blocks at once, except if the entry alone determines its order: then it gets a
/// tombstone, and changing a value costs two appends.
package final class OrderedIndex {
    package let field: ItemField
    /// Unchecked: the store owns its indexes, and a query that uses one retains the store.
    unowned(unsafe) let store: ColumnStore
    // As in the store: exclusive access is not checked at run time, and no method lends one of them to other code.

    @exclusivity(unchecked) private var blocks = SortedBlocks<IndexEntry>()
    @exclusivity(unchecked) private(set) var isBuilt = false
    private var uses = 0
    private static let usesThatBuild = 64
    /// Rows to be inserted, possibly repeated; only those whose bit is set count.
    @exclusivity(unchecked) private var pending: [UInt32] = []
    @exclusivity(unchecked) private var isPending = RowSet()
    /// Tombstones: entries to be removed from the blocks, old values of items in the store, at most one per item.
    @exclusivity(unchecked) private var tombstones: [IndexEntry] = []
    /// The column of a declared field. Unretained: the store has it, and reference counting would cost more than the
    /// access.
    private let declared: Unmanaged<FieldColumn>?
    /// Nil for a field without a declaration, and for one that has values of other kinds.
    private var declaredKind: FieldKind?
    private let isKey: Bool
    /// The number of entries at the last sample, and its result.
    private var sampled = (count: 0, typical: 0.0)
    /// Whether the prefix is the whole value.
    private var isExact: Bool
    /// Whether every item has the field.
    private var isAlwaysThere: Bool

    init(_ store: ColumnStore, _ field: ItemField) {
        self.store = store
        self.field = field
        let column = store.table.column(field)
        isKey = field == store.table.keyField
        declared = column.flatMap { $0.isDeclared ? Unmanaged.passUnretained($0) : nil }
        declaredKind = column.flatMap { $0.misfits.isEmpty ? $0.declared?.kind : nil }
        isExact = declaredKind == .integer || declaredKind == .date || isKey
        isAlwaysThere = isKey || column.map { !$0.unset.isAbsent && $0.misfits.isEmpty } ?? false
    }

    /// Begins anew when the first value of another kind than the declared one has come.
    @inline(never)
    private func restartMixed() {
        (declaredKind, isExact, isAlwaysThere, isBuilt) = (nil, false, false, false)
        blocks = SortedBlocks()
        (pending, isPending, tombstones) = ([], RowSet(), [])
        uses = Self.usesThatBuild
    }

    // MARK: Changes of the store

    /// Called when a row has entered the store, or its value has changed.
    @inline(__always)
    func rowCame(_ row: UInt32) {
        if declaredKind != nil, declared?._withUnsafeGuaranteedRef({ !$0.misfits.isEmpty }) ?? false { restartMixed() }
        guard isBuilt, hasValue(row), isPending.insert(row) else { return }
        pending.append(row)
        // For a transaction that changes the same items repeatedly.
        if pending.count > 4096 + 2 * store.order.count { mergePending() }
    }

    /// Called before a row's value changes.
    @inline(__always)
    func valueGoes(_ row: UInt32) {
        guard isBuilt, hasValue(row), !isPending.remove(row) else { return }
        if isExact {
            tombstones.append(entry(row))
        } else {
            blocks.remove(entry(row)) { isBefore($0, $1) }
        }
    }

    /// Called before a row leaves the store: its key may soon be unavailable.
    @inline(__always)
    func rowGoes(_ row: UInt32) {
        guard isBuilt, hasValue(row) else { return }
        removeTombstones()
        if !isPending.remove(row) { blocks.remove(entry(row)) { isBefore($0, $1) } }
    }

    private func removeTombstones() {
        if tombstones.isEmpty { return }
        for entry in tombstones { blocks.remove(entry) { isBefore($0, $1) } }
        tombstones.removeAll(keepingCapacity: tombstones.count < 4096)
    }

    private func hasValue(_ row: UInt32) -> Bool {
        isAlwaysThere || !store.table.cell(row, field).isAbsent
    }

    // MARK: Keeping it ready

    /// Merges the pending rows and tombstones; builds the index if necessary.
    func mergePending() {
        guard isBuilt else { return build() }
        guard !pending.isEmpty || !tombstones.isEmpty else { return }
        if pending.count < 32 || pending.count < blocks.count / 64 {
            removeTombstones()
            for row in pending where isPending.remove(row) { blocks.insert(entry(row)) { isBefore($0, $1) } }
        } else {
            withEntries(of: pending) {
                isPending.remove($0)
            } _: {
                merge($0)
            }
        }
        pending.removeAll(keepingCapacity: pending.count < 4096)
    }

    /// Merges the pending rows if they are many; a few are left for the next query.
    func mergePendingIfMany() {
        guard isBuilt, pending.count >= 64, pending.count >= blocks.count / 16 else { return }
        mergePending()
    }

    /// Prepares the index for a query, and returns whether the query may use it.
    ///
    /// An index from an earlier run is built when its use count reaches 64: building reads all keys and takes as long
    /// as a hundred scans, which would delay a few queries too much.
    func isReady(builds: Bool) -> Bool {
        if !isBuilt, !builds {
            uses += 1
            if uses < Self.usesThatBuild { return false }
        }
        mergePending()
        return true
    }

    private func build() {
        isBuilt = true
        store.table.column(field)?.materialiseNumbers()
        withEntries(of: store.order.slots) {
            $0 != ItemOrder.hole && hasValue($0)
        } _: { entries in
            blocks = SortedBlocks(sorted: entries)
        }
    }

    /// Calls a body with the sorted entries of the rows that satisfy a condition.
    private func withEntries(
        of rows: [UInt32], where isWanted: (UInt32) -> Bool, _ body: (UnsafeBufferPointer<IndexEntry>) -> Void
    ) {
        let store = store
        LargeMemory.withBuffer(of: IndexEntry.self, capacity: rows.count) { memory in
            var count = 0
            for row in rows where isWanted(row) {
                memory.initializeElement(at: count, to: entry(row, in: store))
                count += 1
            }
            let entries = UnsafeMutableBufferPointer(rebasing: memory[..<count])
            sort(entries)
            body(UnsafeBufferPointer(entries))
        }
    }

    /// Merges sorted entries into the blocks, and removes those with a tombstone.
    private func merge(_ new: UnsafeBufferPointer<IndexEntry>) {
        defer { tombstones = [] }
        if blocks.count == 0 { return blocks = SortedBlocks(sorted: new) }
        var left = RowSet()
        for entry in tombstones { _ = left.insert(entry.row) }
        LargeMemory.withBuffer(of: IndexEntry.self, capacity: blocks.count + new.count) { all in
            var (count, next) = (0, 0)
            func append(_ entry: IndexEntry) {
                all.initializeElement(at: count, to: entry)
                count += 1
            }
            blocks.forEach(from: blocks.start) { old in
                if left.contains(old.row) { return true }
                while next < new.count, isBefore(new[next], old) {
                    append(new[next])
                    next += 1
                }
                append(old)
                return true
            }
            for entry in new[next...] { append(entry) }
            blocks = SortedBlocks(sorted: UnsafeBufferPointer(rebasing: all[..<count]))
        }
    }

    /// Radix-sorts by prefix and code, and then runs of equal ones by comparison.
    private func sort(_ entries: UnsafeMutableBufferPointer<IndexEntry>) {
        RadixSort.sort(entries)
        var start = 0
        while start < entries.count {
            var end = start + 1
            while end < entries.count, entries[end].prefix == entries[start].prefix,
                !isExact || entries[end].code == entries[start].code
            {
                end += 1
            }
            if end - start > 1 {
                var run = UnsafeMutableBufferPointer(rebasing: entries[start..<end])
                run.sort { isBefore($0, $1) }
            }
            start = end
        }
    }

    // MARK: Order

    private func entry(_ row: UInt32) -> IndexEntry { entry(row, in: store) }

    /// The same for loops, with the store as an argument: reading it from the index would count a reference each time.
    @inline(__always)
    private func entry(_ row: UInt32, in store: ColumnStore) -> IndexEntry {
        let code =
            store.table.textKeys[row]
            ? store.table.withKey(row) { IndexEntry.code(of: $0) }
            : UInt32(truncatingIfNeeded: store.table.keys[row].high >> 32)
        return IndexEntry(prefix: prefix(row, in: store), code: code, row: row)
    }

    @inline(__always)
    private func prefix(_ row: UInt32, in store: ColumnStore) -> UInt64 {
        switch declaredKind {
        case .integer?: IndexKey.prefix(store.table.cell(row, field).integerValue)
        case .date?: CellOrder.ordered(store.table.cell(row, field).realValue)
        case nil where isKey: store.table.withKey(row) { CellOrder.prefix($0) }
        default: CellOrder.prefix(store.table.cell(row, field))
        }
    }

    @inline(__always)
    private func isBefore(_ first: IndexEntry, _ second: IndexEntry) -> Bool {
        if first.prefix != second.prefix { return first.prefix < second.prefix }
        if !isExact {
            let order = compare(first.row, second.row)
            if order != 0 { return order < 0 }
        }
        if first.code != second.code { return first.code < second.code }
        return first.row != second.row && isKeyBefore(first.row, second.row)
    }

    @inline(never)
    private func compare(_ first: UInt32, _ second: UInt32) -> Int {
        CellOrder.compare(store.table.cell(first, field), store.table.cell(second, field))
    }

    private func isKeyBefore(_ first: UInt32, _ second: UInt32) -> Bool {
        store.table.withKey(first) { left in
            store.table.withKey(second) { right in CellOrder.compareText(left, right) < 0 }
        }
    }

    /// Whether two entries have equal values, ignoring keys.
    func areEqual(_ first: IndexEntry, _ second: IndexEntry) -> Bool {
        first.prefix == second.prefix && (isExact && !isKey || compare(first.row, second.row) == 0)
            && (!isKey || first.row == second.row)
    }

    // MARK: Asking

    /// The number of items that have the field.
    var count: Int { blocks.count }

    /// The number of entries with a value as an entry chosen at random has it: for estimates, and by a sample that is taken
    /// anew when the index has grown or shrunk by an eighth.
    var typicalCount: Double {
        if abs(sampled.count - count) > sampled.count / 8 || sampled.count == 0 {
            sampled = (count, countEqualOnes())
        }
        return sampled.typical
    }

    /// The number of entries with the value of one of them.
    func equalCount(_ entry: IndexEntry) -> Int {
        let first = blocks.lowerBound { isBefore($0, entry) && !areEqual($0, entry) }.rank
        return blocks.lowerBound { isBefore($0, entry) || areEqual($0, entry) }.rank - first
    }

    package var byteCount: Int { blocks.byteCount + pending.capacity * 4 + tombstones.capacity * 16 }

    /// The ranks, counted from 0, of the entries in a range.
    func ranks(_ range: IndexRange) -> Range<Int> {
        let lower = range.lower.map { key in blocks.lowerBound { key.isBefore($0, store, field, isExact) }.rank } ?? 0
        let upper = range.upper.map { key in blocks.lowerBound { key.isBefore($0, store, field, isExact) }.rank }
        return lower..<max(lower, upper ?? blocks.count)
    }

    /// Calls a body with the entries of some ranks, in ascending or descending order, until it returns false.
    func forEach(
        _ ranks: Range<Int>, descending: Bool = false, _ body: (IndexEntry) throws -> Bool
    ) rethrows {
        var left = ranks.count
        guard left > 0 else { return }
        func visit(_ entry: IndexEntry) throws -> Bool {
            left -= 1
            return try body(entry) && left > 0
        }
        if descending {
            try blocks.forEachBackwards(before: blocks.position(ofRank: ranks.upperBound), visit)
        } else {
            try blocks.forEach(from: blocks.position(ofRank: ranks.lowerBound), visit)
        }
    }
}

extension ColumnStore {
    /// Makes an ordered index on a field, unless there is one.
    ///
    /// - Returns: whether it is new.
    package func createIndex(_ field: ItemField, lazily: Bool) -> Bool {
        if indexes.contains(where: { $0.field == field }) { return false }
        let index = OrderedIndex(self, field)
        if !lazily { index.mergePending() }
        indexes.append(index)
        return true
    }

    // MARK: Updating the indexes

    @inline(__always)
    func rowCame(_ row: UInt32) {
        // Unretained: reference counting would cost more than the call.
        for place in 0..<indexes.count {
            Unmanaged.passUnretained(indexes[place])._withUnsafeGuaranteedRef { $0.rowCame(row) }
        }
        for rule in declared.unique { rule.index?.rowCame(row) }
        for index in declared.identities { index.rowCame(row) }
    }

    @inline(__always)
    func rowGoes(_ row: UInt32) {
        for index in indexes { index.rowGoes(row) }
        for rule in declared.unique { rule.index?.rowGoes(row) }
        for index in declared.identities { index.rowGoes(row) }
    }

    /// Sets a field of an item that is in the store.
    @inline(__always)
    func setStored(_ row: UInt32, _ field: ItemField, _ cell: Cell) {
        if declared.unique.isEmpty, declared.identities.isEmpty { return setIndexed(row, field, cell) }
        setHashed(row, field, cell)
    }

    private func setHashed(_ row: UInt32, _ field: ItemField, _ cell: Cell) {
        let (unique, identity) = (rule(field)?.index, declared.identities.first { $0.field == field })
        unique?.rowGoes(row)
        identity?.rowGoes(row)
        setIndexed(row, field, cell)
        unique?.rowCame(row)
        identity?.rowCame(row)
    }

    /// Whether an index has the items' values.
    var isIndexed: Bool { !indexes.isEmpty || !declared.unique.isEmpty || !declared.identities.isEmpty }

    @inline(__always)
    private func setIndexed(_ row: UInt32, _ field: ItemField, _ cell: Cell) {
        guard !indexes.isEmpty else { return table.setCell(row, field, cell) }
        for index in indexes where index.field == field {
            index.valueGoes(row)
            table.setCell(row, field, cell)
            return index.rowCame(row)
        }
        table.setCell(row, field, cell)
    }

    /// Merges committed changes into the indexes if they are many.
    package func mergeIndexes() {
        for index in indexes { index.mergePendingIfMany() }
    }
}

/// A row in an ordered index, in 16 bytes that decide most comparisons.
struct IndexEntry: BitwiseCopyable, Equatable {
    /// The beginning of the value, in the values' order; all of it for declared integers and dates.
    var prefix: UInt64
    /// The beginning of the item's key, in the keys' order: equal values are ordered by key.
    var code: UInt32
    var row: UInt32
}

extension IndexEntry {
    /// A key's first characters as a number in the keys' order, with ties; for upper-case UUIDs their first eight
    /// digits.
    static func code(of key: UnsafeBufferPointer<UInt8>) -> UInt32 {
        var code: UInt32 = 0
        for index in 0..<8 {
            let shift = UInt32(28 - 4 * index)
            guard index < key.count, key[index] >= 0x30 else { return code }
            let byte = key[index]
            switch byte {
            case 0x30...0x39: code |= UInt32(byte - 0x30) << shift
            // Between the digits and the letters: before all keys that continue with A.
            case ..<0x41: return code | 10 << shift
            case 0x41...0x46: code |= UInt32(byte - 0x37) << shift
            default: return code | UInt32((UInt64(16) << shift) - 1)
            }
        }
        return code
    }
}

/// Radix sort by a word of each element: one pass for each byte in which the words differ.
enum RadixSort {
    /// Below this number of elements a comparison sort is as fast.
    static let threshold = 256

    /// Sorts index entries by prefix and code.
    static func sort(_ entries: UnsafeMutableBufferPointer<IndexEntry>) {
        if entries.count < threshold {
            var entries = entries
            return entries.sort { ($0.prefix, $0.code) < ($1.prefix, $1.code) }
        }
        LargeMemory.withBuffer(of: IndexEntry.self, capacity: entries.count) { spare in
            sort(entries, spare) { UInt64($0.code) }
            sort(entries, spare) { $0.prefix }
        }
    }

    /// Sorts elements, using a spare buffer of the same size; the sort is stable.
    @inline(__always)
    static func sort<Element: BitwiseCopyable>(
        _ elements: UnsafeMutableBufferPointer<Element>, _ spare: UnsafeMutableBufferPointer<Element>,
        by word: (Element) -> UInt64
    ) {
        guard let first = elements.first else { return }
        var differences: UInt64 = 0
        for element in elements { differences |= word(element) ^ word(first) }
        var (source, target) = (elements, UnsafeMutableBufferPointer(rebasing: spare[..<elements.count]))
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { places in
            for shift in stride(from: UInt64(0), to: 64, by: 8) where differences >> shift & 0xFF != 0 {
                places.initialize(repeating: 0)
                for element in source { places[Int(word(element) >> shift & 0xFF)] += 1 }
                var start = 0
                for value in 0..<256 { (places[value], start) = (start, start + places[value]) }
                for element in source {
                    let value = Int(word(element) >> shift & 0xFF)
                    target.initializeElement(at: places[value], to: element)
                    places[value] += 1
                }
                swap(&source, &target)
            }
        }
        if source.baseAddress != elements.baseAddress { _ = elements.update(fromContentsOf: source) }
    }
}
