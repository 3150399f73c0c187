import PredicateFormat
import PropertyList

/// The items by their values of a unique field, or of one that identifies them: finds the other item with a value in
/// O(1).
///
/// It is built at its first use, and updated with every later change of the store. Values that an archive or another
/// host brought twice are both in it.
final class UniqueIndex {
    let field: ItemField
    /// Whether only the items are in it whose key is a UUID.
    private let isOfUUIDs: Bool
    /// Unchecked: the store owns its indexes.
    private unowned(unsafe) let store: ColumnStore
    @exclusivity(unchecked) private var rows = HashIndex()
    @exclusivity(unchecked) private var isBuilt = false

    init(_ store: ColumnStore, _ field: ItemField, ofUUIDs isOfUUIDs: Bool = false) {
        (self.store, self.field, self.isOfUUIDs) = (store, field, isOfUUIDs)
    }

    // MARK: Changes of the store

    /// Called when a row has entered the store, or its value has changed.
    func rowCame(_ row: UInt32) {
        guard isBuilt, has(row), let hash = hash(store.table.cell(row, field)) else { return }
        rows.insert(row, hash: hash) { rehash($0) }
    }

    /// Called before a row's value changes, and before it leaves the store.
    func rowGoes(_ row: UInt32) {
        guard isBuilt, has(row), let hash = hash(store.table.cell(row, field)) else { return }
        rows.remove(row, hash: hash) { rehash($0) }
    }

    private func has(_ row: UInt32) -> Bool { !isOfUUIDs || !store.table.textKeys[row] }

    // MARK: Looking up

    /// Whether no item has a value. O(1) after the first call.
    var isEmpty: Bool {
        if !isBuilt { build() }
        return rows.count == 0
    }

    /// Another row in the store with a value; nil if there is none, or the cell has no value.
    func holder(of cell: Cell, except row: UInt32) -> UInt32? { holder(of: cell) { $0 != row } }

    /// A row in the store with a value, of those for which a condition holds; nil if there is none, or the cell has no
    /// value.
    func holder(of cell: Cell, where isCandidate: (UInt32) -> Bool) -> UInt32? {
        guard let hash = hash(cell) else { return nil }
        if !isBuilt { build() }
        return rows.find(hash) { other in
            isCandidate(other) && CellOrder.areSame(store.table.cell(other, field), cell, store.heap)
        }
    }

    /// The same for a text, which needs no cell.
    func holder(ofText text: UnsafeBufferPointer<UInt8>, where isCandidate: (UInt32) -> Bool) -> UInt32? {
        if !isBuilt { build() }
        return rows.find(rows.hasher.hash(text: text)) { other in
            let cell = store.table.cell(other, field)
            return cell.isText && cell.withText { $0.elementsEqual(text) } && isCandidate(other)
        }
    }

    private func build() {
        isBuilt = true
        if isOfUUIDs {
            // Reads no keys of an archive whose items lack the field.
            if store.table.declared(field) == nil, store.table.kinds(field) ?? 0 == 0 { return }
        } else {
            rows.reserve(store.order.count) { _ in 0 }
        }
        for row in store.order.slots where row != ItemOrder.hole { rowCame(row) }
    }

    private func rehash(_ row: UInt32) -> UInt64 { hash(store.table.cell(row, field)) ?? 0 }

    /// Nil for no value, and for an empty text, which is none. Equal numbers have equal hashes.
    private func hash(_ cell: Cell) -> UInt64? {
        let hasher = rows.hasher
        switch cell.kind {
        case .absent: return nil
        case .no: return hasher.hash(integer: 0)
        case .yes: return hasher.hash(integer: 1)
        case .integer: return hasher.hash(integer: cell.integerValue)
        case .real, .single: return hasher.hash(real: CellOrder.number(cell))
        case .date: return hasher.hash(PackedKey(high: 3, low: cell.realValue.bitPattern))
        case .shortText, .longText:
            return cell.withText { $0.isEmpty ? nil : hasher.hash(text: $0) }
        case .box:
            let value = store.heap.value(ofBox: cell)
            if case .wideInteger(let number) = value { return hasher.hash(real: Double(number)) }
            return hasher.hash(integer: Int64(value.hashValue))
        }
    }
}

extension CellOrder {
    /// Whether two cells have equal values, numbers by what they are.
    static func areSame(_ first: Cell, _ second: Cell, _ heap: CellHeap) -> Bool {
        if first.isNumber, second.isNumber { return compare(first, second) == 0 }
        // An integer beyond 64 bits is in a box.
        if first.isNumber && second.kind == .box || first.kind == .box && second.isNumber,
            let left = PredicateNumber(heap.value(first) ?? .null),
            let right = PredicateNumber(heap.value(second) ?? .null)
        {
            return PredicateNumber.order(left, right) == 0
        }
        return heap.areEqual(first, second)
    }
}

extension Cell {
    /// Whether it is a number outside of a box.
    var isNumber: Bool { kind == .integer || kind == .real || kind == .single }
}
