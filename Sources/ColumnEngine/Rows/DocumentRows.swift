/// What a source of rows reports damage to: an object beside the store, since a weak reference to the store would make
/// each retain of it take several times as long.
package final class DamageReporter {
    /// Called with a text for the user.
    package fileprivate(set) var handler: ((String) -> Void)?
}

/// The store's side of the document that its rows come from.
package struct DocumentRows {
    /// The source of rows that are not in memory; nil without a mapped archive.
    private(set) var source: (any RowSource)?
    var places = ArchivedPlaces()
    /// By the key of a copy, the key of its original: attributes without a field exist only in the archive.
    private(set) var copies: NameTable<String> = [:]
    /// Whether the document holds item data beyond the fields.
    package var remembersCopies: () -> Bool = { false }
    /// Where an unreadable part of the mapped archive is reported.
    package let damage = DamageReporter()
    /// Called then, with a text for the user.
    package var onDamage: ((String) -> Void)? {
        get { damage.handler }
        nonmutating set { damage.handler = newValue }
    }

    /// Called when an archive of `count` items was mapped.
    mutating func map(_ count: Int, _ source: any RowSource) {
        self.source = source
        places.map(count)
    }

    /// Remembers the source of a copied item.
    package mutating func recordCopy(of source: String, as copy: String) {
        if remembersCopies() { copies[copy] = copies[source] ?? source }
    }
}

/// The document's side of a store, for the modules above.
extension ColumnStore {
    /// Called when a snapshot was taken to be saved.
    package func beginSave() { document.places.beginSave(order) }

    /// Called at the end of a save. A failed one may have replaced the document or not.
    package func endSave(succeeded: Bool) { document.places.endSave(succeeded: succeeded) }

    /// Maps a document's rows into the empty store; none is read yet.
    ///
    /// - Parameters:
    ///   - count: the number of rows.
    ///   - kinds: by field number, the kinds of its cells; see ``ItemTable/customKinds``.
    ///   - source: the document.
    ///   - seed: the seed of the keys' hashes.
    ///   - slots: the hash table of the keys.
    package func map(_ count: Int, _ kinds: [UInt16], _ source: any RowSource, seed: UInt64, _ slots: MappedKeySlots) {
        document.map(count, source)
        heap.faulted = source.values
        table.map(count, customKinds: kinds, source)
        order.adopt(count)
        index.adopt(slots, seed: seed)
    }

    /// Each row below this one has the document's item of the same index.
    package var placeLimit: UInt32 { document.places.limit }
}

/// The rows whose items have the same index in the archive that the journal follows. The journal refers to such items
/// by index, too, so that opening needs no look-up.
struct ArchivedPlaces {
    /// The end of these rows for the archive in place.
    private var current: UInt32 = 0
    /// The same for the archive that a save is about to put in place; nil when there is no save.
    private var next: UInt32?

    /// The end of these rows for whichever of the two is in place when a commit made now is read.
    private(set) var limit: UInt32 = 0

    /// Called when an archive of `count` items was mapped.
    mutating func map(_ count: Int) {
        current = UInt32(count)
        limit = current
    }

    /// Called when a snapshot was taken of a store with that order.
    mutating func beginSave(_ order: borrowing ItemOrder) {
        let count = order.isInRowOrder ? UInt32(order.count) : 0
        next = count
        limit = min(current, count)
    }

    /// Called at the end of a save. A failed one may have replaced the archive or not.
    mutating func endSave(succeeded: Bool) {
        current = succeeded ? next ?? 0 : limit
        limit = current
        next = nil
    }
}

/// Iterations in progress, and the epoch by which those of scripts notice removals.
struct RowIterations: ~Copyable {
    private var count = 0
    private var rowsToFree: [UInt32] = []
    /// A counter that changes whenever an item leaves the store. At a stable address, for readers that poll it.
    let epoch: UnsafeMutablePointer<UInt64>

    init() {
        epoch = .allocate(capacity: 1)
        epoch.initialize(to: 0)
    }

    deinit { epoch.deallocate() }

    /// Whether there are any; meanwhile no row is reused.
    var arePending: Bool { count > 0 }

    mutating func begin() { count += 1 }

    /// - Returns: the rows to free.
    mutating func end() -> [UInt32] {
        count -= 1
        guard count == 0, !rowsToFree.isEmpty else { return [] }
        defer { rowsToFree = [] }
        return rowsToFree
    }

    /// Keeps a row until the last iteration ends, if there is one.
    mutating func postpones(freeing row: UInt32) -> Bool {
        if count > 0 { rowsToFree.append(row) }
        return count > 0
    }
}
