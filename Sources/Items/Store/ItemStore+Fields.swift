import ColumnEngine
import ItemArchive
package import PropertyList

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

    /// The value in dollars; nil if it is of another kind, or the item lacks it: see ``value(of:_:)``.
    @inline(__always)
    package func valueInDollars(of reference: ItemReference) throws(StoreError) -> Int64? {
        let cell = try cell(.valueInDollars, of: reference)
        return cell.kind == .integer ? cell.integerValue : nil
    }

    /// The item's creation date; nil if it is of another kind, or the item lacks it.
    @inline(__always)
    package func dateCreated(of reference: ItemReference) throws(StoreError) -> PropertyListDate? {
        let cell = try cell(.dateCreated, of: reference)
        return cell.kind == .date ? PropertyListDate(secondsSinceReferenceDate: cell.realValue) : nil
    }

    /// A field's value of any kind; nil if the item lacks it.
    package func value(of field: ItemField, _ reference: ItemReference) throws(StoreError) -> PropertyListValue? {
        columns.value(try row(reference), field)
    }

    /// The error for a field of every item that has a value of another kind.
    func refusal(_ field: ItemField, of reference: ItemReference) throws(StoreError) -> StoreError {
        let (row, name) = (try row(reference), columns.name(of: field))
        let kind = [FieldDeclaration].domain[Int(field.rawValue)].kind.named
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
        if field == .itemKey { return columns.withKey(row) { body($0) } }
        let cell = columns.cell(row, field)
        return cell.isText ? cell.withText { body($0) } : body(nil)
    }

    // MARK: Setting

    /// Sets the value in dollars.
    ///
    /// - Throws: as ``Item/setValueInDollars(_:)``.
    package func setValueInDollars(_ value: Int64, of reference: ItemReference) throws(StoreError) {
        let row = try row(reference)
        guard columns.isLive(row), !isWatched, !isReadOnly else {
            return try setCell(row, .valueInDollars, .integer(value))
        }
        let old = columns.cell(row, .valueInDollars)
        if old.kind != .integer || old.integerValue != value {
            columns.change(row, .valueInDollars, to: .integer(value))
        }
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
        if isWatched { keepLatestCommit() }
        columns.setAttachments(item.row, value)
    }

    func set(_ row: UInt32, _ field: ItemField, _ value: PropertyListValue?) throws(StoreError) {
        try setCell(row, field, try columns.checkedCell(value, for: field))
    }

    /// Sets a field to a cell of a valid kind.
    func setCell(_ row: UInt32, _ field: ItemField, _ cell: Cell) throws(StoreError) {
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
        if !isWatched { return columns.change(row, field, to: cell) }
        keepLatestCommit()
        if observers.isEmpty { return columns.change(row, field, to: cell) }
        try setAskingObservers(row, field, cell)
    }

    private func setAskingObservers(_ row: UInt32, _ field: ItemField, _ cell: Cell) throws(StoreError) {
        let item = item(row: row)
        let name = columns.name(of: field)
        let old = columns.value(row, field)
        let wanted = columns.value(cell)
        var new = wanted
        try askObservers { try $0.itemStore(self, willUpdate: item, field: name, old: old, new: &new) }
        guard columns.isLive(row) else { throw .itemWasRemoved }
        var cell = cell
        if new != wanted {
            columns.discard(cell, of: field)
            new = try columns.checked(new, for: field)
            cell = new.map { columns.cell($0, for: field) } ?? .absent
        }
        if columns.areEqual(columns.cell(row, field), cell) { return columns.discard(cell, of: field) }
        columns.change(row, field, to: cell)
        if bulkDepth > 0 {
            bulkChanges.updated += 1
        } else {
            for observer in observers { observer.itemStore(self, didUpdate: item, field: name, old: old, new: new) }
        }
    }
}
