import ColumnEngine
import ItemArchive
package import PropertyList

/// An item as a number: its row, and how many items had the row before.
///
/// For callers that hold many items, or where objects cost too much: it has eight bytes, retains nothing, and never
/// refers to another item, even when its row is reused. The store has methods for references like those of ``Item``.
package struct ItemReference: Hashable, Sendable {
    /// The reference as a word; uses 48 bits.
    package let bits: UInt64

    /// Creates a reference from its word.
    @inline(__always)
    package init(bits: UInt64) {
        self.bits = bits
    }

    @inline(__always)
    init(row: UInt32, generation: UInt16) {
        bits = UInt64(row) | UInt64(generation) << 32
    }

    @inline(__always)
    var row: UInt32 { UInt32(truncatingIfNeeded: bits) }

    @inline(__always)
    var generation: UInt16 { UInt16(truncatingIfNeeded: bits >> 32) }
}

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
        columns.slots.filter { $0 != ItemOrder.hole }.map(reference)
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
    package func references() throws(StoreError) -> [ItemReference] {
        try rows().map(store.reference)
    }

    /// Copies the bits of the items' references, in order, to a buffer.
    ///
    /// - Parameter buffer: returns a buffer for this many; nil if there is none. It may change the store: items that it
    ///   removes are among the references.
    /// - Throws: as ``all()``.
    package func copyReferences(to buffer: (_ count: Int) -> UnsafeMutablePointer<UInt64>?) throws(StoreError) {
        let rows = try rows()
        guard let target = buffer(rows.count) else { return }
        for place in rows.indices { target[place] = store.reference(rows[place]).bits }
    }

    /// The first item; nil if there is none. As ``first()``.
    package func firstReference() throws(StoreError) -> ItemReference? {
        try firstReferences(1).first
    }

    /// The first items, as references. As ``first(_:)``.
    package func firstReferences(_ count: Int) throws(StoreError) -> [ItemReference] {
        try limit(Swift.min(count, limitCount ?? .max)).references()
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

/// Reads and sets items' fields by reference; used by ``Item``.
///
/// Each function throws `itemRemoved` if the item is not in the store.
extension ItemStore {
    // MARK: Reading

    @inline(__always)
    func row(_ reference: ItemReference) throws(StoreError) -> UInt32 {
        guard isCurrent(reference), columns.isAccessible(reference.row) else { throw .itemWasRemoved }
        return reference.row
    }

    /// A field's cell; absent for `itemKey`.
    @inline(__always)
    func cell(_ field: ItemField, of reference: ItemReference) throws(StoreError) -> Cell {
        columns.cell(try row(reference), field)
    }

    /// An integer; nil if the value is of another kind, or the item lacks it: see ``value(of:_:)``.
    @inline(__always)
    package func integer(of field: ItemField, _ reference: ItemReference) throws(StoreError) -> Int64? {
        let cell = try cell(field, of: reference)
        return cell.kind == .integer ? cell.integerValue : nil
    }

    /// A date; nil if the value is of another kind, or the item lacks it.
    @inline(__always)
    package func date(of field: ItemField, _ reference: ItemReference) throws(StoreError) -> PropertyListDate? {
        let cell = try cell(field, of: reference)
        return cell.kind == .date ? PropertyListDate(secondsSinceReferenceDate: cell.realValue) : nil
    }

    /// A field's value of any kind; nil if the item lacks it.
    package func value(of field: ItemField, _ reference: ItemReference) throws(StoreError) -> PropertyListValue? {
        columns.value(try row(reference), field)
    }

    /// The error for a field of every item that has a value of another kind.
    func error(_ field: ItemField, of reference: ItemReference) throws(StoreError) -> StoreError {
        let (row, name) = (try row(reference), columns.name(of: field))
        let kind = schema.kind(field)?.kind.named ?? ""
        let value = FieldValidation.describe(columns.value(row, field))
        return StoreError(
            .invalidValue(field: name),
            "\(name) of \(columns.label(row)) is not \(kind) but \(value): value(forField:) gives it as it is")
    }

    /// A text field's bytes; see ``Item/withUTF8(of:_:)``.
    package func withUTF8(
        of field: ItemField, _ reference: ItemReference, _ body: (UnsafeBufferPointer<UInt8>?) -> Void
    ) throws(StoreError) {
        try withText(of: field, reference, body)
    }

    @inline(__always)
    func withText<Result>(
        of field: ItemField, _ reference: ItemReference, _ body: (UnsafeBufferPointer<UInt8>?) -> Result
    ) throws(StoreError) -> Result {
        let row = try row(reference)
        if field == columns.keyField { return columns.withKey(row) { body($0) } }
        let cell = columns.cell(row, field)
        return cell.isText ? cell.withText { body($0) } : body(nil)
    }

    // MARK: Setting

    /// Sets a field of integers.
    package func setInteger(_ value: Int64, for field: ItemField, of reference: ItemReference) throws(StoreError) {
        let row = try row(reference)
        guard columns.isLive(row), !publisher.isWatched, !isReadOnly, !columns.hasDeclarations else {
            return try set(row, field, .integer(value))
        }
        let old = columns.cell(row, field)
        if old.kind != .integer || old.integerValue != value { columns.change(row, field, to: .integer(value)) }
    }

    /// Sets a text field from bytes; see ``Item/setUTF8(_:for:)``.
    package func setUTF8(
        _ bytes: UnsafeBufferPointer<UInt8>, for field: ItemField, of reference: ItemReference
    ) throws(StoreError) {
        try setCell(try row(reference), field, try columns.textCell(bytes, for: field))
    }

    /// Sets any field; see ``Item/setValue(_:for:)``.
    package func setValue(
        _ value: PropertyListValue?, for field: ItemField, of reference: ItemReference
    ) throws(StoreError) {
        try set(try row(reference), field, value)
    }

    /// Sets an item's list of attachments. Observers cannot refuse, as with bytes in files.
    func setAttachments(_ value: PropertyListValue?, of item: Item) throws(StoreError) {
        if isReadOnly { throw readOnlyError }
        guard columns.isLive(item.row) else { throw .itemWasRemoved }
        if columns.attachments(item.row) == value { return }
        keepCommitBeforeChange()
        columns.setAttachments(item.row, value)
    }

    func set(_ row: UInt32, _ field: ItemField, _ value: PropertyListValue?) throws(StoreError) {
        try setCell(row, field, try columns.checkedCell(value, for: field))
    }

    /// Adds an amount to a field's number; see `Item.increment(_:by:)`.
    @discardableResult
    package func increment(
        _ name: String, of reference: ItemReference, by amount: PropertyListValue
    ) throws(StoreError) -> PropertyListValue {
        let row = try row(reference)
        let field: ItemField
        if let known = columns.existingField(named: name) {
            field = known
        } else {
            field = try columns.fieldForAssignment(name, amount)
        }
        let sum = try columns.sum(columns.value(row, field), amount, for: field)
        try setCell(row, field, columns.cell(sum, for: field), incrementedBy: amount)
        return columns.value(row, field) ?? sum
    }

    /// Sets a field to a cell of a valid kind; with an amount, to the sum of the field's number and that.
    func setCell(
        _ row: UInt32, _ field: ItemField, _ cell: Cell, incrementedBy amount: PropertyListValue? = nil
    ) throws(StoreError) {
        switch columns.state(row) {
        case .live: break
        case .draft:
            columns.discard(columns.cell(row, field), of: field)
            columns.setCell(row, field, cell)
            return
        default: throw .itemWasRemoved
        }
        if isReadOnly { throw readOnlyError }
        if columns.areEqual(columns.cell(row, field), cell) { return columns.discard(cell, of: field) }
        if columns.hasDeclarations {
            do throws(StoreError) { try checkDeclared(row, field, cell) } catch {
                columns.discard(cell, of: field)
                throw error
            }
        }
        if !publisher.isWatched { return change(row, field, cell, amount) }
        keepLatestCommit()
        if publisher.observers.isEmpty { return change(row, field, cell, amount) }
        try setAskingObservers(row, field, cell, amount)
    }

    /// Checks a new value against what is declared, beside the kind of values.
    @inline(__always)
    private func checkDeclared(_ row: UInt32, _ field: ItemField, _ cell: Cell) throws(StoreError) {
        try columns.checkUnique(row, field, cell)
        try columns.checkIdentity(row, field)
        try columns.checkReference(row, field, columns.value(cell), replacing: columns.value(row, field))
    }

    @inline(__always)
    private func change(_ row: UInt32, _ field: ItemField, _ cell: Cell, _ amount: PropertyListValue?) {
        guard let amount else { return columns.change(row, field, to: cell) }
        columns.increment(row, field, to: cell, by: amount)
    }

    private func setAskingObservers(
        _ row: UInt32, _ field: ItemField, _ cell: Cell, _ amount: PropertyListValue?
    ) throws(StoreError) {
        let item = item(row: row)
        let name = columns.name(of: field)
        let old = columns.value(row, field)
        let wanted = columns.value(cell)
        var new = wanted
        var cell = cell
        // A value that an observer has chosen is assigned.
        var amount = amount
        do throws(StoreError) {
            try askObservers { try $0.itemStore(self, willUpdate: item, field: name, old: old, new: &new) }
            guard columns.isLive(row) else { throw .itemWasRemoved }
            if new != wanted {
                amount = nil
                columns.discard(cell, of: field)
                cell = .absent
                new = try columns.checked(new, for: field)
                cell = new.map { columns.cell($0, for: field) } ?? .absent
                if columns.hasDeclarations { try checkDeclared(row, field, cell) }
            }
        } catch {
            columns.discard(cell, of: field)
            throw error
        }
        if columns.areEqual(columns.cell(row, field), cell) { return columns.discard(cell, of: field) }
        change(row, field, cell, amount)
        if publisher.collect({ $0.updated += 1 }) { return }
        for observer in publisher.observers {
            observer.itemStore(self, didUpdate: item, field: name, old: old, new: new)
        }
    }
}

/// An iteration over a store's items that is safe while the store changes.
package final class ItemCursor: Sequence, IteratorProtocol {
    let store: ItemStore
    /// The order at the start of the iteration; shared with the store until that changes.
    private let slots: [UInt32]
    private var nextSlot = 0

    init(_ store: ItemStore) {
        self.store = store
        slots = store.columns.slots
        store.columns.pinRows()
    }

    deinit {
        store.columns.unpinRows()
    }

    package func next() -> Item? { nextRow().map(store.item(row:)) }

    func nextRow() -> UInt32? {
        while nextSlot < slots.count {
            let row = slots[nextSlot]
            nextSlot += 1
            // An iteration that began before a transaction reads within it, too.
            if row != ItemOrder.hole, store.columns.isLive(row), store.columns.isAccessible(row) { return row }
        }
        return nil
    }
}
