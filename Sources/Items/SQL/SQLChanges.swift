import ColumnEngine
import PropertyList
import SQLite

/// The changes of items that a statement asks for: collected while it scans, and made when it has ended, so that no change
/// disturbs the scan.
struct SQLChanges {
    private struct Change {
        let kind: SQLiteChange.Kind
        let ignoresConflicts: Bool
        /// By column; none for one that stays.
        let values: [(column: Int, value: SQLiteValue)]
    }

    private var changes: [Change] = []
    private var shape: SQLColumns?
    /// The collections that JSON does not have as they are, by the JSON as which the statement reads them.
    private var carried: [[UInt8]: PropertyListValue] = [:]
    /// The hashes of the JSON of others.
    private var plain: Set<Int> = []

    /// Notes what the JSON of a collection stands for, which itself has no dates, data and sets.
    mutating func carry(_ value: PropertyListValue, as json: [UInt8]) {
        switch value {
        case .array, .set, .dictionary: break
        default: return
        }
        if value.isJSON { plain.insert(json.hashValue) } else { carried[json] = value }
    }

    /// Records a change.
    ///
    /// - Throws: `SQLError` for a column that is not changed by statements.
    mutating func add(_ change: SQLiteChange, _ shape: SQLColumns, _ store: ColumnStore) throws {
        self.shape = shape
        if change.replaces {
            throw SQLError(.denied, "items are not replaced by an insert: update those that are there")
        }
        var values: [(column: Int, value: SQLiteValue)] = []
        let isInsert = if case .insert = change.kind { true } else { false }
        for column in shape.columns.indices where column < change.values.count && !change.values.isUnchanged(column) {
            let cell = change.values[column]
            if isInsert, case .null = cell { continue }
            // UPDATE … FROM hands over all columns, with the values that they have.
            if case .update(let row) = change.kind, isSame(cell, shape.columns[column], row, store) { continue }
            guard let field = shape.columns[column].field else {
                throw SQLError(.denied, "position is not assigned: items:moveItem(from, to) moves an item")
            }
            if field == store.keyField, case .update = change.kind {
                throw SQLError(.denied, "itemKey is read-only: an item gets its key when it is created and keeps it")
            }
            values.append((column, SQLiteValue(copying: cell)))
        }
        changes.append(Change(kind: change.kind, ignoresConflicts: change.ignoresConflicts, values: values))
    }

    /// Whether a row's column has a value already.
    private func isSame(_ cell: SQLiteCell, _ column: SQLColumns.Column, _ row: Int64, _ store: ColumnStore) -> Bool {
        guard let row = UInt32(exactly: row), store.isLive(row) else { return false }
        guard let field = column.field else {
            return SQLiteValue(copying: cell) == .integer(Int64(store.position(of: row) + 1))
        }
        if field == store.keyField {
            guard case .text(let text) = cell else { return false }
            return store.withKey(row) { $0.elementsEqual(text) }
        }
        let value = store.value(row, field) ?? .null
        guard let own = try? SQLiteValue(value, areDays: column.areDays) else { return false }
        // NaN is NULL.
        if case .real(let number) = own, number.isNaN { return SQLiteValue(copying: cell) == .null }
        return own == SQLiteValue(copying: cell)
    }

    /// Makes the changes.
    ///
    /// - Returns: the number of items.
    /// - Throws: `StoreError`, `SQLError`, errors of observers: the caller's transaction takes all of them back.
    func apply(to store: ItemStore) throws -> Int {
        guard let shape else { return 0 }
        return try store.performBulkChange {
            var count = 0
            var removed: [UInt32] = []
            for change in changes {
                if Interruption.isDueAtStep { throw WorkStopped() }
                switch change.kind {
                case .insert: count += try insert(change, shape, store) ? 1 : 0
                case .remove(let row): removed.append(try Self.row(row))
                case .update(let number):
                    let row = try Self.row(number)
                    for (column, value) in change.values {
                        let column = shape.columns[column]
                        guard let field = column.field else { continue }
                        let former = store.columns.value(row, field)
                        let type = column.type.replacing(former)
                        let made = try self.value(value, column, type, field, store.columns, replacing: former)
                        try store.set(row, field, made)
                    }
                    count += 1
                }
            }
            return removed.isEmpty ? count : count + (try store.remove(rows: removed))
        }
    }

    private static func row(_ number: Int64) throws(SQLError) -> UInt32 {
        guard let row = UInt32(exactly: number) else { throw SQLError(.failed, "there is no row \(number)") }
        return row
    }

    /// - Returns: false for an item whose key is there already, and that the statement leaves then.
    private func insert(_ change: Change, _ shape: SQLColumns, _ store: ItemStore) throws -> Bool {
        let draft = try store.beginItem()
        do {
            for (column, value) in change.values {
                let column = shape.columns[column]
                guard let field = column.field,
                    let made = try self.value(value, column, column.type, field, store.columns)
                else { continue }
                try draft.set(made, for: field)
            }
            _ = try store.insertReference(draft)
            return true
        } catch {
            draft.discard()
            if change.ignoresConflicts, case .duplicateKey? = (error as? StoreError)?.code { return false }
            throw error
        }
    }

    // MARK: Values

    /// The value of a field that a value of SQL stands for: as the field is declared, or as its values are, or in one of
    /// several kinds as the value that it takes the place of is.
    private func value(
        _ value: SQLiteValue, _ column: SQLColumns.Column, _ type: SQLColumnType, _ field: ItemField,
        _ store: ColumnStore, replacing former: PropertyListValue? = nil
    ) throws(SQLError) -> PropertyListValue? {
        switch value {
        case .null: return nil
        case .integer(let number) where type == .boolean && 0...1 ~= number: return .boolean(number == 1)
        case .integer(let number): return .integer(number)
        case .real(let number): return .real(number)
        case .blob(let bytes): return .data(bytes)
        case .text(let bytes):
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw SQLError(.failed, "\(column.name): the text is not UTF-8: cast it to a blob")
            }
            if let value = try collection(bytes, column, type, former) { return value }
            return Self.value(text, type, store.schema.kind(field)?.kind)
        }
    }

    /// What JSON stands for: the collection that the statement read as this text; otherwise what it says, of which the
    /// parts that the former value has, too, stay as they are.
    ///
    /// - Throws: `SQLError` for a text of two collections, of which none is to be kept.
    private func collection(
        _ json: [UInt8], _ column: SQLColumns.Column, _ type: SQLColumnType, _ former: PropertyListValue?
    ) throws(SQLError) -> PropertyListValue? {
        let begins = json.first == UInt8(ascii: "[") || json.first == UInt8(ascii: "{")
        guard type == .array || type == .dictionary || type == .structure && begins else { return nil }
        let value = carried[json]
        let isAmbiguous = value != nil && plain.contains(json.hashValue)
        if let value, !isAmbiguous { return value }
        if isAmbiguous, former == nil {
            let text = String(decoding: json, as: UTF8.self).shortened(to: 80)
            throw SQLError(
                .failed,
                "\(column.name): \(text) is read of an item with dates or data in it, and of another with texts in their place: insert them by statements of their own"
            )
        }
        return (try? PropertyListValue(exactJSON: json))?.keeping(former)
    }

    private static func value(_ text: String, _ type: SQLColumnType, _ kind: FieldKind?) -> PropertyListValue {
        switch type {
        case .moment, .day: if let date = SQLDate.date(text) { return .date(date) }
        case .integer, .number: if let number = Int128(text), Int64(text) == nil { return .wideInteger(number) }
        default: if kind == .date, let date = SQLDate.date(text) { return .date(date) }
        }
        return .string(text)
    }
}

extension SQLiteValue {
    fileprivate init(copying cell: SQLiteCell) {
        self =
            switch cell {
            case .null: .null
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .text(let bytes): .text(Array(bytes))
            case .blob(let bytes): .blob(Array(bytes))
            }
    }
}
