package import PropertyList

/// Access to rows for the modules above. The columns, the order and the heap are internal to this module, so that the
/// compiler inlines none of it into another: there it would check the access to the table for each call.
extension ColumnStore {
    // MARK: The order

    /// The number of rows in the store.
    package var count: Int {
        recordWholeRead()
        return order.count
    }

    /// The number of rows, for estimates: no transaction depends on it.
    package var estimatedCount: Int { order.count }

    /// The rows in order, with holes for recently removed ones.
    package var slots: [UInt32] {
        recordWholeRead()
        return order.slots
    }

    /// O(1), or O(log n) after a hole.
    package func row(at position: Int) -> UInt32 {
        recordWholeRead()
        return order.row(at: position)
    }

    package func position(of row: UInt32) -> Int {
        recordWholeRead()
        return order.position(of: row)
    }

    // MARK: Rows

    /// The number of rows that exist, whether in the store or not.
    package var rowCount: Int { table.rowCount }

    package func state(_ row: UInt32) -> ItemTable.State {
        recordRead(row)
        return table.state(row)
    }

    /// Whether the row is in the store.
    package func isLive(_ row: UInt32) -> Bool {
        recordRead(row)
        return table.states[row] == ItemTable.State.live.rawValue
    }

    /// Whether the row is out of the store, and the history may restore it.
    package func isRemoved(_ row: UInt32) -> Bool { table.states[row] == ItemTable.State.removed.rawValue }

    /// The number of items that had the row before the current one.
    package func generation(_ row: UInt32) -> UInt16 { table.generation(row) }

    /// The address of the row's object; nil if there is none.
    package func handle(_ row: UInt32) -> UnsafeRawPointer? { table.handles[row] }

    package func setHandle(_ row: UInt32, _ handle: UnsafeRawPointer) { table.handles[row] = handle }

    /// Makes a dead row, which is freed with its object.
    package func makeDeadRow<Object>(_ makeObject: (UInt32) -> Object) -> Object {
        let (row, isNew) = table.makeRow()
        if isNew { order.addRow() }
        let object = makeObject(row)
        rowDied(row)
        return object
    }

    // MARK: Keys

    package func key(_ row: UInt32) -> PackedKey { table.keys[row] }

    /// Whether the key is a text and not a packed UUID.
    package func hasTextKey(_ row: UInt32) -> Bool { table.textKeys[row] }

    package func keyString(_ row: UInt32) -> String { table.keyString(row) }

    /// Calls `body` with the key's bytes.
    package func withKey<Result>(_ row: UInt32, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        table.withKey(row) { body($0) }
    }

    /// The field whose text names an item for people: the first of every item, or else the first that is declared as a
    /// string; nil if there is none.
    package var titleField: ItemField? { schema.fields.isEmpty ? declared.title : ItemField(rawValue: 0) }

    /// The text that names an item for people; nil if it has none.
    package func title(_ row: UInt32) -> String? {
        guard let field = titleField else { return nil }
        let cell = cell(row, field)
        return cell.isText ? CellHeap.string(cell) : nil
    }

    /// The text that names an item for people, or else its key.
    package func titleOrKey(_ row: UInt32) -> String { title(row).flatMap { $0.isEmpty ? nil : $0 } ?? keyString(row) }

    /// An item for messages: its name in quotes, or its key if it has no name.
    package func label(_ row: UInt32) -> String {
        guard let name = title(row), !name.isEmpty else { return keyString(row) }
        return (name.count <= 40 ? name : name.prefix(40) + "…").quoted()
    }

    // MARK: Fields

    /// Whether a field is neither one of every item nor the key.
    package func isCustom(_ field: ItemField) -> Bool { field.rawValue > keyField.rawValue }

    /// The names of all fields, by number.
    package var fieldNames: [String] { fields.names }

    package func name(of field: ItemField) -> String { fields.name(of: field) }

    package func existingField(named name: String) -> ItemField? { fields.existing(name) }

    /// The field with a name; made if it is new.
    package func field(named name: String) -> ItemField { fields.field(named: name) }

    /// A field's cell; absent for `itemKey`.
    package func cell(_ row: UInt32, _ field: ItemField) -> Cell { table.cell(row, field) }

    /// Sets a field without logging it: for drafts, and for loading.
    package func setCell(_ row: UInt32, _ field: ItemField, _ cell: Cell) { table.setCell(row, field, cell) }

    /// The numbers of an item's custom fields, ascending.
    package func customFields(_ row: UInt32) -> [UInt32] {
        var numbers: [UInt32] = []
        table.forEachCustomCell(row) { number, _ in
            if number != fields.attachment?.rawValue { numbers.append(number) }
        }
        return numbers
    }

    /// The numbers of the custom fields that some item in the store has.
    package var customFieldsInUse: Set<UInt32> {
        recordWholeRead()
        var held: Set<UInt32> = []
        var isInBlocks = false
        for number in (table.keyField.rawValue + 1)..<max(UInt32(fields.names.count), table.keyField.rawValue + 1) {
            let field = ItemField(rawValue: number)
            guard table.hasKind(field) else { continue }
            // A column stops at the first item that has the field; blocks are read once for all other fields.
            guard let column = materialise(field) else {
                isInBlocks = true
                continue
            }
            if order.slots.contains(where: { $0 != ItemOrder.hole && !column.cell($0).isAbsent }) {
                held.insert(number)
            }
        }
        if isInBlocks {
            for row in order.slots where row != ItemOrder.hole {
                table.forEachCustomCell(row) { number, _ in held.insert(number) }
            }
        }
        if let attachment = fields.attachment { held.remove(attachment.rawValue) }
        return held
    }

    /// The kinds of cells that a custom field has ever had, a bit each: 0 if none.
    package func kinds(_ field: ItemField) -> UInt16 { table.kinds(field) ?? 0 }

    /// Whether an item in the store has a value of a field. O(n) if the first items lack it.
    package func isInUse(_ field: ItemField) -> Bool {
        recordWholeRead()
        return order.slots.contains { $0 != ItemOrder.hole && !table.cell($0, field).isAbsent }
    }

    /// Whether an item has another value in a custom field than a text. O(n).
    package func hasValues(_ field: ItemField, otherThan text: String) -> Bool {
        recordWholeRead()
        return order.slots.contains { row in
            if row == ItemOrder.hole { return false }
            let cell = table.cell(row, field)
            return !cell.isAbsent && (!cell.isText || CellHeap.string(cell) != text)
        }
    }

    /// Recounts the kinds of cells of a custom field. O(n).
    package func recountKinds(_ field: ItemField) { table.recountKinds(field) }

    /// Materialises the columns of fields from a mapped archive, in batches, before row-by-row access.
    package func prepareColumns(_ fields: [ItemField]) {
        recordWholeRead()
        table.materialise(fields, document.source)
        for field in fields { _ = materialise(field) }
    }

    /// The same for code that reads the cells of most rows one by one: also the texts of fields of the schema.
    package func prepareCells(_ fields: [ItemField]) {
        prepareColumns(fields)
        for field in fields { table.loadTexts(of: field) }
    }

    /// The kinds of cells that a field has ever had, a bit each; for a declared field, its own and those of the misfits
    /// that it has.
    package func cellKinds(_ field: ItemField) -> UInt16 {
        guard let declared = declaredCellKind(field) else {
            return table.kinds(field) ?? Cell.Kind.shortText.bit
        }
        return table.column(field)?.misfits.cells.values.reduce(declared.bit) {
            $1.isAbsent ? $0 : $0 | $1.kind.bit
        } ?? 0
    }

    /// The same of the items in the store alone, where values of several kinds may be gone: by a removal, by undo, with a
    /// transaction that was taken back. O(n) at most, once after a change.
    package func presentKinds(_ field: ItemField) -> UInt16 {
        let known = cellKinds(field)
        let types = [Cell.Kind.shortText.bit | Cell.Kind.longText.bit, Cell.Kind.no.bit | Cell.Kind.yes.bit]
        if known & (known &- 1) == 0 || types.contains(where: { known & ~$0 == 0 }) { return known }
        return presentKinds(field) {
            var found = declaredCellKind(field)?.bit ?? 0
            // The first rows are likely to have all kinds: no column is read for them.
            for (place, row) in order.slots.enumerated() where row != ItemOrder.hole {
                if place == 1024 { _ = materialise(field) }
                let cell = table.cell(row, field)
                if !cell.isAbsent { found |= cell.kind.bit }
                if found == known { break }
            }
            return found
        }
    }

    /// The kind of the cells of a field of every item; nil for all other fields.
    private func declaredCellKind(_ field: ItemField) -> Cell.Kind? {
        switch table.declared(field)?.kind {
        case .integer?: .integer
        case .date?: .date
        case .text?: .shortText
        default: nil
        }
    }

    /// Whether a declared field has values of other kinds, or is lacking in an item.
    package func hasMisfits(_ field: ItemField) -> Bool { table.column(field)?.misfits.isEmpty == false }

    /// Whether every new item has a field: an item that lacks it is an application's.
    package func isRequired(_ field: ItemField) -> Bool { schema.kind(field)?.isOptional == false }

    /// The kind of a declared field that has values of other kinds; nil for all other fields.
    package func misfitKind(_ field: ItemField) -> FieldKind? {
        table.column(field).flatMap { $0.misfits.isEmpty ? nil : $0.declared?.kind }
    }

    /// Calls a body with each row in the store whose value of a declared field is not of its kind, in order.
    package func forEachMisfit(_ field: ItemField, among rows: [UInt32]?, _ body: (UInt32, Cell) -> Void) {
        recordWholeRead()
        guard let misfits = table.column(field)?.misfits else { return }
        for row in rows ?? order.slots where row != ItemOrder.hole {
            if let cell = misfits[row] { body(row, cell) }
        }
    }

    /// Whether an item in the store has a text in a field.
    package func hasTexts(_ field: ItemField) -> Bool {
        recordWholeRead()
        let texts = Cell.Kind.shortText.bit | Cell.Kind.longText.bit
        guard let kinds = table.kinds(field), kinds & texts != 0 else { return false }
        _ = materialise(field)
        // The kinds include former ones, and the texts may be gone.
        return order.slots.contains { $0 != ItemOrder.hole && table.cell($0, field).isText }
    }

    // MARK: Values

    package func value(_ cell: Cell) -> PropertyListValue? { heap.value(cell) }

    package func areEqual(_ first: Cell, _ second: Cell) -> Bool { heap.areEqual(first, second) }

    /// Whether a snapshot is in use.
    package var hasSnapshot: Bool { table.hasSnapshot }

    /// The size of texts outside of cells in bytes, including garbage.
    package var textBytes: Int { heap.textBytes }

    /// Whether half of the heap is garbage.
    package var needsCompaction: Bool { heap.needsCompaction }

    package func text(_ bytes: UnsafeBufferPointer<UInt8>) -> Cell { heap.text(bytes) }

    package func text(_ string: String) -> Cell { heap.text(string) }

    /// A cell for a value of a custom field.
    package func cell(_ value: PropertyListValue) -> Cell { heap.cell(value) }

    /// Discards a cell that was never set.
    package func discard(_ cell: Cell) { heap.discard(cell) }

    package func row(forKey key: PackedKey) -> UInt32? {
        recordWholeRead()
        return row(forKey: key, index.hasher.hash(key))
    }

    /// Sets a draft's key.
    package func setKey(_ row: UInt32, _ key: PackedKey) { table.setKey(row, key) }

    /// The same for a key that is not a UUID.
    package func setKey(_ row: UInt32, text: Cell) { table.setKey(row, text: text) }
}

extension Cell.Kind {
    /// Its bit in a set of kinds.
    var bit: UInt16 { 1 << UInt16(rawValue) }
}

extension UInt16 {
    /// Whether a set of kinds of cells has none but these.
    func isOnly(_ kinds: Cell.Kind...) -> Bool { kinds.reduce(self) { $0 & ~$1.bit } == 0 }
}

/// The kinds of cells that the items in a store have in fields, as they were counted after the last change.
struct PresentKinds {
    private var version: UInt64 = 0
    private var counted: [ItemField: UInt16] = [:]

    func kinds(of field: ItemField, at version: UInt64) -> UInt16? { self.version == version ? counted[field] : nil }

    mutating func record(_ kinds: UInt16, of field: ItemField, at version: UInt64) {
        if self.version != version { (self.version, counted) = (version, [:]) }
        counted[field] = kinds
    }
}

/// The field of an item's attachments: their SHA-256 if a server stores them, or the names of their files if the item
/// has several. It is changed, merged, committed and undone like any field, but is hidden from users.
extension ColumnStore {
    /// The field; nil while no item has had it.
    package var attachmentField: ItemField? { fields.attachment }

    /// The field's value; nil if there is none.
    package func attachments(_ row: UInt32) -> PropertyListValue? { fields.attachment.flatMap { value(row, $0) } }

    /// The SHA-256 of each of an item's attachments, in order. Malformed values, as from a damaged record, are skipped.
    package func digests(_ row: UInt32) -> [[UInt8]] {
        let elements: [PropertyListValue]
        switch attachments(row) {
        case .array(let list)?: elements = list
        case let value: elements = value.map { [$0] } ?? []
        }
        return elements.compactMap { element in
            if case .data(let digest) = element, digest.count == 32 { digest } else { nil }
        }
    }

    /// Sets the field, as a logged change.
    package func setAttachments(_ row: UInt32, _ value: PropertyListValue?) {
        let field = fields.field(named: FieldTable.attachmentName)
        change(row, field, to: value.map { heap.cell($0) } ?? .absent)
    }

    /// The names of the fields that are not hidden.
    package var visibleFieldNames: [String] { fields.names.filter { $0 != FieldTable.attachmentName } }

    /// The name under which a field's changes are reported.
    package func shownName(of field: ItemField) -> String {
        FieldTable.shownName(of: fields.name(of: field))
    }
}

/// A new item: its fields are set without events, then it is inserted into its store, or ``discard()``ed.
package struct ItemDraft {
    let store: ColumnStore
    package let row: UInt32

    /// Sets a field by number; `itemKey`, too, to an unused string.
    package func set(_ value: PropertyListValue?, for field: ItemField) throws(StoreError) {
        if field == store.table.keyField {
            guard case .string(let key)? = value else { throw FieldValidation.error("itemKey", "a string", value) }
            return try setKey(key)
        }
        place(try store.checkedCell(value, for: field), field)
    }

    /// Sets a field by name; `itemKey`, too. A new custom field is checked and numbered.
    package func set(_ value: PropertyListValue, forField name: String) throws(StoreError) {
        try set(value, for: try store.fieldForAssignment(name, value))
    }

    /// Sets fields to the values of a record, of any kind.
    package func carry(_ values: PropertyListFields) throws(StoreError) { try store.fill(self, with: values) }

    /// The fields of every item of the store.
    package var schema: ItemSchema { store.schema }

    /// The name of a field of the store.
    package func name(of field: ItemField) -> String { store.fields.name(of: field) }

    /// Sets a text field from UTF-8 bytes; `itemKey`, too.
    package func setUTF8(_ bytes: UnsafeBufferPointer<UInt8>, for field: ItemField) throws(StoreError) {
        guard field == store.table.keyField else { return place(try store.textCell(bytes, for: field), field) }
        if let key = PackedKey(uuid: bytes) {
            store.table.setKey(row, key)
            return wasGivenKey()
        }
        guard UTF8Check.isValid(bytes) else {
            throw .invalidValue("itemKey", "itemKey takes text in UTF-8, and these bytes are not")
        }
        try setKey(String(decoding: bytes, as: UTF8.self))
    }

    /// Runs a body that fills the draft and inserts it: it is discarded if the body throws.
    @inlinable
    package func orDiscarded<Result, Failure>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        do throws(Failure) { return try body() } catch {
            discard()
            throw error
        }
    }

    /// Discards the draft; an `Item` that an observer kept of it counts as removed.
    @usableFromInline
    package func discard() {
        store.declared.forgetKey(of: row)
        store.rowDied(row)
    }

    @inline(__always)
    func place(_ cell: Cell, _ field: ItemField) {
        let old = store.table.replaceCell(row, field, cell)
        if !old.isAbsent { store.discard(old, of: field) }
    }

    private func setKey(_ key: String) throws(StoreError) {
        try FieldValidation.checkKey(key)
        var key = key
        key.withUTF8 { bytes in
            if let packed = PackedKey(uuid: bytes) {
                store.table.setKey(row, packed)
            } else {
                if store.table.textKeys[row] { store.discard(store.table.keys[row].cell) }
                store.table.setKey(row, text: store.heap.text(bytes))
            }
        }
        wasGivenKey()
    }

    /// Remembers it where a draft without a key gets one of its kind and id.
    private func wasGivenKey() {
        store.declared.recordKey(of: row)
    }
}
