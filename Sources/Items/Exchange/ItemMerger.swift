import CSV
import ColumnEngine
import Platform
import PropertyList

/// Merges a file's rows into a store, each as a whole: as a new item, as changes of an existing one, or as a rejection.
final class ItemMerger {
    private(set) var report = ItemImportReport()
    /// The items that rows created or matched, if something is done with them afterwards.
    private(set) var rows: [UInt32] = []
    let store: ItemStore
    private let options: ItemFileOptions
    private let path: String
    /// The columns of the key in the current row, and that row's number of columns.
    private var keyPlaces: [Int] = []
    private var keyedColumns = -1
    private let keyFields: [ItemField]
    private var keys: ImportKeys?
    private var key: [UInt8] = []
    private var rejected: RejectedRows
    /// The number of items before the import.
    let formerCount: Int
    /// The keys that JSON objects have more than once.
    var repeatedKeys = RepeatedKeys()
    /// The order of the keys of JSON objects; nil if it is of no interest.
    var keyOrder: KeyOrder?
    /// The number of nulls that JSON records have in dictionaries, and the first one's path, of the first record.
    private var nulls = (count: 0, first: "", record: 0)
    /// The rows that matched an item.
    private var matched = 0
    /// The rows without a key, which became items.
    private var keyless = 0
    /// What fields do not hold of the values that they take.
    private var losses = ImportLosses()

    init(_ store: ItemStore, _ options: ItemFileOptions, _ path: String) throws {
        (self.store, self.options, self.path) = (store, options, path)
        rejected = RejectedRows(options)
        keyOrder = options.keepsOrder ? KeyOrder() : nil
        formerCount = store.columns.estimatedCount
        keyFields = try options.key.map { try store.field(named: $0) }
        if !keyFields.isEmpty { keys = try ImportKeys(store, keyFields) }
    }

    /// The report, after all rows.
    func finish(_ row: ImportedRow) throws -> ItemImportReport {
        try remarkKinds(row, isTable: options.format.isTable)
        try remarkRepeated(row)
        losses.remark(self)
        do { report.rejects = try rejected.bytes() } catch {
            if error is CSVError { throw error }
            throw StoreError(
                .unwritableValue(field: ""), "\(path): its rejected rows cannot be written: \(error)", cause: error)
        }
        remark(
            .withoutKey, keyless,
            "\(keyless.counted("row")) without \(keyText): \(keyless == 1 ? "a new item" : "new items"), again with each import"
        )
        remark(
            .nulls, nulls.count,
            "\(nulls.count.counted("null")) left out, the first of \(nulls.first.quoted()): a field has a value or is absent"
        )
        remark(
            .duplicateKeys, repeatedKeys.count,
            "\(repeatedKeys.count.counted("key")) more than once in an object, the first \((repeatedKeys.first ?? "").quoted()): the last value counts"
        )
        return report
    }

    /// Takes over the form of a table, for its rejected rows.
    func beginRejects(_ names: [String], hasHeader: Bool, delimiter: UInt8, preamble: [UInt8]) {
        rejected.begin(names, hasHeader: hasHeader, delimiter: delimiter, preamble: preamble)
    }

    /// Counts a null of a JSON record itself.
    func recordOwnNull(_ name: String) {
        if options.countsAbsentFields { recordNull(at: name) }
    }

    /// Counts a null that a JSON record has in a dictionary.
    func recordNull(at path: @autoclosure () -> String) {
        // A record has no order: the least path is the first.
        if nulls.count == 0 {
            (nulls.first, nulls.record) = (path(), report.total)
        } else if nulls.record == report.total {
            let path = path()
            if path < nulls.first { nulls.first = path }
        }
        nulls.count += 1
    }

    /// Adds a remark to the report; none for a count of 0.
    ///
    /// - Parameters:
    ///   - kind: what it is about.
    ///   - count: the number of columns, keys or values.
    ///   - sentence: what was done, and to which of them first.
    func remark(_ kind: ItemImportRemark.Kind, _ count: Int, _ sentence: @autoclosure () -> String) {
        guard count > 0 else { return }
        let sentence = VisibleText.line(sentence())
        report.remarks.append(ItemImportRemark(kind: kind, count: count, description: sentence))
    }

    /// Merges a row.
    ///
    /// - Throws: `StoreError` with `invalidRow` for an invalid row, unless it is left out; errors of the host's
    ///   functions.
    func take(_ row: ImportedRow) throws {
        report.total += 1
        do {
            if let transform = options.transform, try !row.change(by: transform) { return }
            try merge(row)
            losses.endRow(isTaken: true)
        } catch let error as StoreError {
            losses.endRow(isTaken: false)
            try reject(row, error)
        }
    }

    /// Counts a row that its reader could not read, and rejects it.
    func refuse(_ row: ImportedRow, _ error: StoreError) throws {
        report.total += 1
        try reject(row, error)
    }

    /// Leaves a row out, or ends the import with an error.
    func reject(_ row: ImportedRow, _ error: StoreError) throws {
        let message = error.message
        func failure(_ advice: String = "") -> StoreError {
            let advice = self.advice(on: error, row) + advice
            return StoreError(
                .invalidRow(row.number), "\(path), row \(row.number): \(message)\(advice)", path: path, cause: error)
        }
        guard let skipsRow = options.skipsRow else {
            throw failure(
                OptionWords.areOfCommand ? "; --on-error skip leaves such rows out, --rejects FILE keeps them" : "")
        }
        let original = row.original()
        guard try skipsRow(original.texts(options), row.line, message) else { throw failure() }
        report.rejected += 1
        if options.keepsRejects { rejected.append(original, message) }
    }

    /// What takes a number with a fraction, which a field of integers refuses; empty for another error.
    private func advice(on error: StoreError, _ row: ImportedRow) -> String {
        guard case .invalidValue(let name) = error.code, let field = store.existingField(named: name),
            store.schema.kind(field)?.kind == .integer, let place = row.place(of: field)
        else { return "" }
        switch row.cells[place] {
        case .text(let text):
            if NumberStyle.given(options.decimal ?? .point).real(text) == nil { return "" }
        case .value(.real), .value(.single): break
        default: return ""
        }
        return "; a field of its own takes it: \(OptionWords.map(row.columns[place].name, to: "price"))"
    }

    // MARK: Merging

    private func merge(_ row: ImportedRow) throws {
        if keyFields.isEmpty {
            try create(row)
            return
        }
        guard makeKey(row) else {
            try create(row)
            keyless += 1
            return
        }
        switch keys?.find(key) ?? .none {
        case .none: keys?.add(try create(row), key)
        case .row(let found):
            if options.afterRows != nil { rows.append(found) }
            if options.updates { prepareColumns(row) }
            if options.updates, try update(found, row) { report.updated += 1 } else { report.unchanged += 1 }
        case .seenBefore: throw StoreError(.duplicateKey(keyText), "an earlier row has the same \(keyText)")
        case .severalItems:
            throw StoreError(
                .duplicateKey(keyText), "several items have the same \(keyText): it identifies none of them")
        }
    }

    /// Whether rows find the items that are there.
    var hasKey: Bool { !keyFields.isEmpty }

    private var keyText: String { options.key.joined(separator: " and ") }

    /// Reads the file's columns of a mapped archive as wholes once many of its items are compared: one by one takes longer.
    private func prepareColumns(_ row: ImportedRow) {
        matched += 1
        if matched == max(64, formerCount / 32) { store.columns.prepareCells(row.columns.map(\.field)) }
    }

    /// - Returns: false for a row that lacks a part of its key: it finds no item.
    private func makeKey(_ row: ImportedRow) -> Bool {
        if row.columns.count != keyedColumns {
            keyedColumns = row.columns.count
            keyPlaces = keyFields.compactMap(row.place(of:))
        }
        key.removeAll(keepingCapacity: true)
        var parts = 0
        for place in keyPlaces {
            switch row.cells[place] {
            case .text(let text) where !text.isEmpty:
                ImportKeys.append(text, to: &key)
                parts += 1
            case .value(let value):
                guard var text = ImportKeys.text(value), !text.isEmpty else { continue }
                text.withUTF8 { ImportKeys.append($0, to: &key) }
                parts += 1
            default: continue
            }
        }
        return parts == keyFields.count
    }

    /// - Returns: the new row.
    @discardableResult
    private func create(_ row: ImportedRow) throws -> UInt32 {
        let draft = try store.beginItem()
        let (columns, cells) = (row.columns, row.cells)
        try draft.orDiscarded { () throws(StoreError) in
            for place in cells.indices {
                switch cells[place] {
                case .missing, .empty: continue
                case .text(let text):
                    let column = columns[place]
                    if column.isText {
                        do throws(StoreError) { try draft.setUTF8(text, for: column.field) } catch {
                            throw notText(text, column) ?? error
                        }
                    } else {
                        try draft.set(try value(text, column), for: column.field)
                    }
                case .value(let value):
                    if value == .null { continue }
                    try draft.set(try fieldValue(value, columns[place]), for: columns[place].field)
                }
            }
            _ = try store.insertReference(draft)
        }
        report.created += 1
        if options.afterRows != nil { rows.append(draft.row) }
        try bringPictures(draft.row, row.attachmentNames)
        return draft.row
    }

    private func value(
        _ text: UnsafeBufferPointer<UInt8>, _ column: ImportedColumn
    ) throws(StoreError) -> PropertyListValue {
        if column.kind == .date,
            let date = store.columns.declaration(of: column.field)?.date(String(decoding: text, as: UTF8.self))
        {
            return counted(.date(date), column)
        }
        if column.container != nil { return contents(text, column) }
        let reading = column.reading ?? .text
        if let value = try reading.exactValue(text, column.fieldName) {
            let sign = reading.unsaidSign(of: text)
            if sign != .none { losses.add(.sign(sign), column) }
            return counted(value, column)
        }
        // Refuses a real with the field's own message.
        if store.schema.kind(column.field)?.kind == .integer,
            let real = NumberStyle.given(options.decimal ?? .point).real(text), Int64(exactly: real) == nil
        {
            return .real(real)
        }
        let error = reading.error(text, column.fieldName)
        guard column.name != column.fieldName else { throw error }
        throw StoreError(error.code, "column '\(column.name)': \(error.message)", cause: error)
    }

    /// The data, array or dictionary that a field is declared as, from its text in exports: Base64, or JSON. Another text is
    /// itself, which the declaration refuses.
    private func contents(_ text: UnsafeBufferPointer<UInt8>, _ column: ImportedColumn) -> PropertyListValue {
        if column.container == .data {
            if Base64.isValid(text) { return .data(Base64.decode(text)) }
        } else {
            var repeated = RepeatedKeys()
            if let value = try? PropertyListValue(json: Array(text), repeated: &repeated), repeated.loss == nil,
                FieldDeclaration.Kind(of: value) == column.container
            {
                return value
            }
        }
        return .string(String(decoding: text, as: UTF8.self))
    }

    /// The error of a text that is not UTF-8; nil for another text.
    private func notText(_ text: UnsafeBufferPointer<UInt8>, _ column: ImportedColumn) -> StoreError? {
        if UTF8Check.isValid(text) { return nil }
        let advice = options.format == .sqlite ? "store other bytes as a blob" : ColumnReading.encodingAdvice
        return StoreError(
            .invalidValue(field: column.fieldName), "column '\(column.name)' has bytes that are not UTF-8: \(advice)")
    }

    /// The value that a field gets for one of a record: a text in the kind that is given for the column, a number of a
    /// field of texts as its text. The one place between a file's values and an item's.
    private func fieldValue(
        _ value: PropertyListValue, _ column: ImportedColumn
    ) throws(StoreError) -> PropertyListValue {
        func real(_ number: some BinaryInteger) throws(StoreError) -> PropertyListValue {
            if let real = Double(exactly: number) { return .real(real) }
            throw ColumnReading.inexact(String(number), column.fieldName)
        }
        switch value {
        case .integer(let number) where column.kind == .real: return try real(number)
        case .wideInteger(let number) where column.kind == .real: return try real(number)
        case .integer, .wideInteger, .real, .single:
            let isText = column.reading.map { $0.isGiven && $0.kind == .string } ?? false
            guard isText || store.schema.kind(column.field)?.kind == .text else { return value }
            return ImportKeys.text(value).map { .string($0) } ?? value
        case .string(var text):
            // What a function has made of a column is of its kind already, or a text.
            let isGiven = column.reading.map { $0.isGiven && $0.kind != .string } ?? false
            guard isGiven || column.container != nil else { return value }
            let result = text.withUTF8 { bytes in
                Result { () throws(StoreError) in try self.value(bytes, column) }
            }
            return try result.get()
        default: return counted(value, column)
        }
    }

    /// The value; counts a date that loses its time in a field of days.
    private func counted(_ value: PropertyListValue, _ column: ImportedColumn) -> PropertyListValue {
        if case .date(let date) = value, let declaration = store.columns.declaration(of: column.field),
            declaration.kind == .date, declaration.format == .day, date != date.startOfDay
        {
            losses.add(.time, column, date.exchangeText)
        }
        return value
    }

    // MARK: Updating

    /// Updates the changed fields of a row, all or none.
    ///
    /// - Returns: whether a field changed.
    private func update(_ found: UInt32, _ row: ImportedRow) throws -> Bool {
        var hasChanges = false
        do throws(StoreError) {
            let columns = row.columns
            for place in columns.indices {
                let column = columns[place]
                guard !keyFields.contains(column.field) else { continue }
                guard let cell = try difference(found, column, row.cells[place]) else { continue }
                if !hasChanges {
                    store.openSavepoint()
                    hasChanges = true
                }
                try store.setCell(found, column.field, cell)
            }
        } catch {
            if hasChanges { store.rollBackSavepoint() }
            throw error
        }
        if hasChanges { store.closeSavepoint() }
        return hasChanges
    }

    /// The new cell for a field; nil if it is unchanged.
    private func difference(
        _ row: UInt32, _ column: ImportedColumn, _ given: ImportedCell
    ) throws(StoreError) -> Cell? {
        if column.field == store.columns.keyField { return try refuseOtherKey(row, given) }
        let present = store.columns.cell(row, column.field)
        var wanted: PropertyListValue?
        switch given {
        case .missing: return nil
        case .empty:
            // A missing date defaults to that of the item's creation; a cell has no other form for an empty text.
            if present.isAbsent || store.schema.kind(column.field)?.kind == .date { return nil }
            if options.format.hasCells, store.columns.value(present)?.isEmptyText ?? false { return nil }
            wanted = store.schema.initial(of: column.field)
        case .text(let text):
            if present.isText, present.withText({ Self.areEqual($0, text) }) { return nil }
            // A column of texts may be one whose values an export had to write as texts; a value that no kind of column
            // has may look like another's.
            if column.isText || present.kind == .box, let value = store.columns.value(present),
                CellFormat.reads(text, as: value)
            {
                return nil
            }
            if column.isText {
                do throws(StoreError) { return try store.columns.textCell(text, for: column.field) } catch {
                    throw notText(text, column) ?? error
                }
            }
            wanted = try value(text, column)
        case .value(let value): wanted = value == .null ? nil : try fieldValue(value, column)
        }
        // What an application's archive has there stays, though it could not be assigned.
        if wanted != nil, isEqual(store.columns.value(present), wanted) || isOfOtherKind(present, wanted) { return nil }
        wanted = try store.columns.checked(wanted, for: column.field)
        return isEqual(store.columns.value(present), wanted)
            ? nil : wanted.map { store.columns.cell($0, for: column.field) } ?? .absent
    }

    private static func areEqual(_ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        guard let first = one.baseAddress, let second = other.baseAddress else { return true }
        return memcmp(first, second, one.count) == 0
    }

    /// Compares numbers by value, since JSON has only one kind of number.
    private func isEqual(_ present: PropertyListValue?, _ wanted: PropertyListValue?) -> Bool {
        switch (present, wanted) {
        case (.real(let real)?, .integer(let integer)?), (.integer(let integer)?, .real(let real)?):
            Int64(exactly: real) == integer
        case (.single(let single)?, .real(let real)?), (.real(let real)?, .single(let single)?): Double(single) == real
        default: present == wanted
        }
    }

    /// Whether a value of a custom field is another one in its kind alone, or in the kinds within it: the text `5` and
    /// the number, the texts that data and dates are in an array of JSON.
    private func isOfOtherKind(_ present: Cell, _ wanted: PropertyListValue?) -> Bool {
        guard let value = store.columns.value(present), let wanted else { return false }
        switch (value, wanted) {
        case (.string, .string): return false
        case (.string(let text), _): return ImportKeys.text(wanted).map { $0.utf8.elementsEqual(text.utf8) } ?? false
        case (_, .string(var text)): return text.withUTF8 { CellFormat.reads($0, as: value) }
        case (.array, .array), (.set, .array), (.dictionary, .dictionary): return value.hasSameJSON(as: wanted)
        default: return false
        }
    }

    private func refuseOtherKey(_ row: UInt32, _ given: ImportedCell) throws(StoreError) -> Cell? {
        switch given {
        case .missing, .empty: return nil
        case .text(let text):
            if store.columns.withKey(row, { $0.elementsEqual(text) }) { return nil }
        case .value(let value):
            if value == .null || value == .string(store.columns.keyString(row)) { return nil }
        }
        throw FieldValidation.keyIsReadOnly
    }

    // MARK: Pictures

    private func bringPictures(_ row: UInt32, _ names: [String]?) throws {
        guard let attachment = options.attachment, let attachments = store.attachments else { return }
        let key = store.columns.keyString(row)
        let pictures = try (names ?? [key]).compactMap(attachment)
        if pictures.isEmpty { return }
        try attachments.setAllBytes(pictures, forKey: key)
        report.pictures += pictures.count
    }
}
