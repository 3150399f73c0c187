import CSV
import ColumnEngine
package import PropertyList

/// A file's column and its field. An object, since rows look at their columns cell by cell.
final class ImportedColumn {
    /// Its name in the file.
    let name: String
    let fieldName: String
    let field: ItemField
    /// The kinds of the field's values before the import; nil for a field of every item.
    let priorKinds: FieldKinds?
    /// How its texts become values; nil for a source with typed values.
    fileprivate(set) var reading: ColumnReading?
    /// Data, array or dictionary if its field is declared as one: its texts are read in the form of exports.
    let container: FieldDeclaration.Kind?
    /// Whether its texts stay texts.
    var isText: Bool { container == nil && reading?.kind ?? .string == .string }
    /// Whether the dates in the file have no times, as it declares, or as all of its cells are; nil where it says neither.
    var isOfDays: Bool?

    fileprivate init(
        _ name: String, _ fieldName: String, _ field: ItemField, _ reading: ColumnReading?, _ priorKinds: FieldKinds?,
        declared: FieldDeclaration.Kind?
    ) {
        (self.name, self.fieldName, self.field) = (name, fieldName, field)
        container = declared.flatMap { [.data, .array, .dictionary].contains($0) ? $0 : nil }
        (self.reading, self.priorKinds) = (reading, priorKinds)
    }

    /// The kind that its texts are converted to.
    var kind: ItemFieldKind? { reading?.kind }
}

/// A row's content in a column.
package enum ImportedCell {
    /// The row does not set the field.
    case missing
    /// The field has no value.
    case empty
    /// A text, in memory that is valid until the next row.
    case text(UnsafeBufferPointer<UInt8>)
    case value(PropertyListValue)
}

/// The current row of an import: one buffer for all rows, filled by the source.
final class ImportedRow {
    /// Its number in messages, counted from 1; in comma-separated values the header is row 1.
    var number = 0
    /// The line on which it begins; 0 for formats without lines.
    var line = 0
    /// The columns so far: records may add new ones.
    @exclusivity(unchecked) private(set) var columns: [ImportedColumn] = []
    /// By column.
    @exclusivity(unchecked) var cells: [ImportedCell] = []
    /// The file names of its pictures, in order; nil if the item's key is the only one.
    var attachmentNames: [String]?
    /// The row as the file has it.
    var original: () -> OriginalRow = { OriginalRow() }

    private let store: ItemStore
    private let options: ItemFileOptions
    private var places: [ExactText: Int?] = [:]
    /// The columns by field.
    private var fieldPlaces: [ItemField: Int] = [:]

    init(_ store: ItemStore, _ options: ItemFileOptions) { (self.store, self.options) = (store, options) }

    /// Adds a column; returns nil for one that is left out.
    ///
    /// - Throws: `StoreError` for an invalid field name; errors of the host's check.
    @discardableResult
    func addColumn(_ name: String) throws -> Int? {
        guard let fieldName = options.name(for: name) else {
            places[ExactText(name)] = .some(nil)
            return nil
        }
        guard !fieldName.isEmpty else {
            throw StoreError(
                .invalidValue(field: ""),
                "a field has a name, and a key of this row has none: rename it with \(OptionWords.choose("map = { [\"\"] = \"name\" }, or leave it out with false", "--map =name, or leave it out with --map =", json: "\"map\": {\"\": \"name\"}"))"
            )
        }
        let place = try addField(fieldName, column: name)
        places[ExactText(name)] = place
        return place
    }

    /// Adds a field by its name in the store.
    func addField(_ fieldName: String, column name: String? = nil) throws -> Int {
        if let problem = options.fieldNameProblem?(fieldName) { throw nameError(fieldName, name, problem) }
        let field = try store.field(named: fieldName)
        if let other = fieldPlaces[field].map({ columns[$0] }) {
            throw StoreError(
                .unreadableFile, "the columns '\(other.name)' and '\(name ?? fieldName)' are both \(fieldName)")
        }
        let kinds = try store.columns.isCustom(field) ? FieldKinds(store.columns, field) : nil
        columns.append(
            ImportedColumn(
                name ?? fieldName, fieldName, field, givenReading(field, fieldName), kinds,
                declared: store.columns.declaration(of: field)?.kind))
        cells.append(.missing)
        fieldPlaces[field] = columns.count - 1
        return columns.count - 1
    }

    private func nameError(_ fieldName: String, _ column: String?, _ problem: FieldNameProblem) -> StoreError {
        guard let column else { return StoreError(.unreadableFile, "field '\(fieldName)': \(problem.reason)") }
        let map = OptionWords.map(column, to: problem.otherName)
        return StoreError(.unreadableFile, "column '\(column)': \(problem.reason): give \(map)")
    }

    /// The index of a record's name, added if new; nil for one that is left out.
    func place(_ name: String) throws -> Int? {
        if let known = places[ExactText(name)] { return known }
        return try addColumn(name)
    }

    /// Whether a record's name is one of those before.
    func hasPlace(_ name: String) -> Bool { places[ExactText(name)] != nil }

    /// The column of a field; nil if it has none.
    func place(of field: ItemField) -> Int? { fieldPlaces[field] }

    /// The columns' names in the file, including those left out.
    var names: Set<ExactText> { Set(places.keys) }

    func setReading(_ reading: ColumnReading, at place: Int) { columns[place].reading = reading }

    func removeCells() {
        for place in cells.indices { cells[place] = .missing }
    }

    /// The kind that is the field's own, or given by the caller: many formats have no dates.
    private func givenReading(_ field: ItemField, _ name: String) -> ColumnReading? {
        if store.schema.kind(field)?.kind == .date { return reading(.date, name) }
        guard store.columns.isCustom(field) else { return nil }
        let kind = options.kinds?.kind(of: name)?.kind ?? store.columns.declaration(of: field)?.kind.ofTexts
        return kind.map { reading($0, name) }
    }

    private func reading(_ kind: ItemFieldKind, _ name: String) -> ColumnReading {
        ColumnReading(
            kind, pattern: options.kinds?.kind(of: name)?.dateStyle, date: options.dateStyle, decimal: options.decimal)
    }

    // MARK: Changes by a function

    /// The names of the columns' fields, by column.
    private var fieldNames: [String] = []
    /// The columns that only a function's rows have.
    private var addedPlaces: [Int] = []

    /// Changes the row by the host's function.
    ///
    /// - Returns: false for a row that it leaves out.
    /// - Throws: `StoreError` for an error of the row; others of the host.
    func change(by transform: any ItemRowTransform) throws -> Bool {
        for place in addedPlaces { cells[place] = .missing }
        if fieldNames.count != columns.count { fieldNames = columns.map(\.fieldName) }
        var added: [(String, PropertyListValue)] = []
        var changes: [(Int, ImportedCell)] = []
        let isIncluded = try transform.transform(fieldNames, cells) { change in
            switch change {
            case .column(let place, let value?): changes.append((place, try changed(value, columns[place])))
            case .column(let place, nil): changes.append((place, .missing))
            case .field(let name, let value): added.append((name, value))
            }
        }
        guard isIncluded else { return false }
        for (place, cell) in changes { cells[place] = cell }
        for (name, value) in added {
            let known = store.existingField(named: name).flatMap { fieldPlaces[$0] }
            let place = try known ?? addField(name)
            if known == nil { addedPlaces.append(place) }
            cells[place] = try changed(value, columns[place])
        }
        return true
    }

    /// A function's value: a text of it becomes one of the column's kind, if it is of that kind.
    private func changed(_ value: PropertyListValue, _ column: ImportedColumn) throws(StoreError) -> ImportedCell {
        guard case .string(var text) = value, let reading = column.reading, reading.kind != .string else {
            return .value(value)
        }
        if text.isEmpty { return .empty }
        let read = text.withUTF8 { text in
            Result { () throws(StoreError) in try reading.exactValue(text, column.fieldName) }
        }
        if let value = try read.get() { return .value(value) }
        // A column is of its kind by what the file has there, which the function has changed.
        if !reading.isGiven { return .value(value) }
        throw text.withUTF8 { reading.error($0, column.fieldName) }
    }
}

extension OptionWords {
    /// The option that gives a column's field another name.
    static func map(_ column: String, to name: String) -> String {
        choose(
            "map = { [\(column.quoted())] = \(name.quoted()) }", "--map \(argument("\(column)=\(name)"))",
            json: "\"map\": {\(column.quoted()): \(name.quoted())}")
    }
}

/// Checks that a file has the columns named in the options.
struct ImportedNames {
    let options: ItemFileOptions
    let columns: Set<ExactText>
    let path: String

    /// - Throws: `StoreError` for a column that the options rename, use as a key or give a kind, and that the file does
    ///   not have.
    func check() throws(StoreError) {
        if columns.isEmpty { return }
        if let missing = options.names.keys.sorted().first(where: { !columns.contains(ExactText($0)) }) {
            throw error("has no column '\(missing.shortened(to: 200))' to be renamed\(advice(missing))")
        }
        let fields = Set(columns.compactMap { options.name(for: $0.string).map { ExactText($0) } })
        if options.transform == nil, let missing = options.key.first(where: { !fields.contains(ExactText($0)) }) {
            throw error("has no column '\(missing.shortened(to: 200))' to be the key\(hint(missing, fields))")
        }
        guard case .named(let kinds)? = options.kinds else { return }
        if let missing = kinds.keys.sorted().first(where: { !fields.contains(ExactText($0)) }) {
            throw error("has no column '\(missing.shortened(to: 200))' to have a kind\(hint(missing, fields))")
        }
    }

    private func error(_ what: String) -> StoreError { StoreError(.unreadableFile, "\(path) \(what)", path: path) }

    /// Suggests the intended name for a missing column.
    private func advice(_ missing: String) -> String {
        if let new = options.names[missing] ?? nil, columns.contains(ExactText(new)) {
            return "; it has '\(new)': a map goes from the file's names to the items'"
        }
        return hint(missing, columns)
    }

    private func hint(_ missing: String, _ names: Set<ExactText>) -> String {
        let nearest = NearestNames.nearest(to: missing, among: names.sorted().map(\.string))
        guard nearest.isEmpty else { return NearestNames.suggestion(nearest) }
        return "; it has \(names.sorted().map(\.string).listed())"
    }
}

/// What fields do not hold of the values that they take: counted by field, of the rows that are taken.
struct ImportLosses {
    enum Loss: Hashable {
        /// The time of a date.
        case time
        /// The sign of a currency or of percents.
        case sign(NumberAffix.Sign)
    }

    private var fields: [(column: ImportedColumn, loss: Loss, count: Int, example: String)] = []
    /// Those of the current row.
    private var row: [(column: ImportedColumn, loss: Loss, example: String)] = []

    mutating func add(_ loss: Loss, _ column: ImportedColumn, _ example: String = "") {
        row.append((column, loss, example))
    }

    mutating func endRow(isTaken: Bool) {
        if row.isEmpty { return }
        for loss in row where isTaken {
            if let place = fields.firstIndex(where: { $0.column === loss.column && $0.loss == loss.loss }) {
                fields[place].count += 1
            } else {
                fields.append((loss.column, loss.loss, 1, loss.example))
            }
        }
        row.removeAll(keepingCapacity: true)
    }

    func remark(_ merger: ItemMerger) {
        for field in fields {
            switch field.loss {
            case .time:
                let times = field.count == 1 ? "its time, and is the day" : "their times, and are the days"
                merger.remark(
                    .objects, field.count,
                    "\(field.column.fieldName): \(field.count.counted("date")) lost \(times) in UTC (\(field.example))")
            case .sign(let sign):
                merger.remark(
                    .objects, field.count,
                    "\(field.column.fieldName): \(field.count.counted("number")) with \(sign.text), read without it")
            }
        }
    }
}

/// The kinds of values that records, databases and sheets bring: they have their own, value by value.
extension ItemMerger {
    /// Says which fields have got values of another kind than they had, and which new ones have several kinds.
    ///
    /// - Parameters:
    ///   - row: the columns.
    ///   - isTable: whether the kinds of other fields than those of arrays, dictionaries and data are known by column.
    /// - Throws: `WorkStopped`.
    func remarkKinds(_ row: ImportedRow, isTable: Bool) throws {
        for column in row.columns {
            guard let before = column.priorKinds, !isTable || before.hasObjects else { continue }
            let after = try FieldKinds(store.columns, column.field)
            if before.isEmpty {
                guard after.values.count > 1 else { continue }
                let counts = try KindCounts(store.columns, column.field)
                remark(
                    .mixedKinds, counts.isMixed ? 1 : 0,
                    "\(column.fieldName): \(counts): values of several kinds, which comparisons and sums leave out")
            } else if !after.values.isSubset(of: before.values) {
                let misfits = try KindCounts(store.columns, column.field).description(without: before.values)
                remark(.formerKinds, misfits.isEmpty ? 0 : 1, "\(column.fieldName): \(misfits); it was \(before.name)")
            }
        }
    }
}

/// The kinds of values that remarks tell apart. Whole numbers are numbers, and sets are arrays, as exports write them.
enum ValueKind: String {
    case number, boolean, date, string, array, dictionary, data

    /// The kind of a cell's value; nil for none.
    init?(_ cell: Cell, _ columns: ColumnStore) {
        switch cell.kind {
        case .integer, .real, .single: self = .number
        case .yes, .no: self = .boolean
        case .date: self = .date
        case .shortText, .longText: self = .string
        case .absent: return nil
        case .box:
            switch columns.value(cell) {
            case .wideInteger?: self = .number
            case .utf16?: self = .string
            case .array?, .set?: self = .array
            case .dictionary?: self = .dictionary
            case .data?: self = .data
            default: return nil
            }
        }
    }

    /// A value of the kind in messages, without its article.
    fileprivate var one: String {
        switch self {
        case .string: "text"
        case .data: "data value"
        default: rawValue
        }
    }
}

/// The values of a field, counted by their kinds.
private struct KindCounts: CustomStringConvertible {
    private var counts: [(kind: ValueKind, count: Int, example: String)] = []
    private var total = 0

    /// - Throws: `WorkStopped`.
    init(_ columns: ColumnStore, _ field: ItemField) throws {
        var pace = InterruptionPace()
        for row in columns.slots where row != ItemOrder.hole {
            if pace.isDue() { throw WorkStopped() }
            let cell = columns.cell(row, field)
            if cell.isAbsent { continue }
            total += 1
            guard let kind = ValueKind(cell, columns) else { continue }
            if let place = counts.firstIndex(where: { $0.kind == kind }) {
                counts[place].count += 1
            } else {
                counts.append((kind, 1, columns.value(cell).map { Self.example($0, kind) } ?? ""))
            }
        }
        counts.sort { $0.count > $1.count }
    }

    private static func example(_ value: PropertyListValue, _ kind: ValueKind) -> String {
        if let text = ImportKeys.text(value) { return kind == .string ? text.shortened(to: 40).quoted() : text }
        return (try? value.json()).map { String(decoding: $0, as: UTF8.self).shortened(to: 40) } ?? "…"
    }

    var isMixed: Bool { counts.count > 1 }

    /// `3 numbers, 1 text ("n/a")`.
    var description: String {
        counts.map { "\($0.count.counted($0.kind.one)) (\($0.example))" }.joined(separator: ", ")
    }

    /// What is not of the kinds: `2 of 43 values are texts ("n/a")`; empty for nothing.
    func description(without kinds: Set<ValueKind>) -> String {
        counts.filter { !kinds.contains($0.kind) }.map { other in
            let one = other.kind.one
            let what = other.count == 1 ? "is \(one.withArticle)" : "are \(other.count.word(one))"
            return "\(other.count.grouped) of \(total.counted("value")) \(what) (\(other.example))"
        }.joined(separator: ", ")
    }
}
