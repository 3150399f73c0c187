import ColumnEngine
import PropertyList

/// A column of a file that becomes a field.
struct ImportedColumn {
    /// Its name in the file.
    let name: String
    let fieldName: String
    let field: ItemField
    /// What its texts become; nil for a source that has values and not texts.
    var kind: ItemFieldKind?
}

/// What a row has in a column.
enum ImportedCell {
    /// Nothing is said about the field.
    case missing
    /// The field has no value.
    case empty
    /// A text, in memory that is good until the next row.
    case text(UnsafeBufferPointer<UInt8>)
    case value(PropertyListValue)
}

/// The row of a file that is being imported: one buffer for all rows, which its source fills.
final class ImportedRow {
    /// Its number in messages, from 1; of comma-separated values the header is the first.
    var number = 0
    /// The line on which it ends; 0 where there are no lines.
    var line = 0
    /// The columns so far: records bring new ones.
    private(set) var columns: [ImportedColumn] = []
    /// By column.
    var cells: [ImportedCell] = []
    /// The names of the files of its pictures, in order; nil where an item's key is the only one.
    var attachmentNames: [String]?
    /// The row as it is in the file: names, and texts.
    var original: () -> [(name: String, text: [UInt8])] = { [] }

    private let store: ItemStore
    private let options: ItemFileOptions
    private var places: [String: Int?] = [:]

    init(_ store: ItemStore, _ options: ItemFileOptions) { (self.store, self.options) = (store, options) }

    /// Adds a column; nil for one that is left out.
    ///
    /// - Throws: `StoreError` for a name that no field can have; what the host's check throws.
    @discardableResult
    func addColumn(_ name: String, _ kind: ItemFieldKind? = nil) throws -> Int? {
        // A column without a name is what spreadsheets make of row numbers.
        guard let fieldName = options.name(for: name), !fieldName.isEmpty else {
            places[name] = .some(nil)
            return nil
        }
        let place = try addField(fieldName, kind, column: name)
        places[name] = place
        return place
    }

    /// Adds a field under the name that it has in the store.
    func addField(_ fieldName: String, _ kind: ItemFieldKind? = nil, column name: String? = nil) throws -> Int {
        try options.checkField?(fieldName)
        let field = try store.field(named: fieldName)
        if let other = columns.first(where: { $0.field == field }) {
            throw StoreError(
                .unreadableFile, "the columns '\(other.name)' and '\(name ?? fieldName)' are both \(fieldName)")
        }
        columns.append(
            ImportedColumn(
                name: name ?? fieldName, fieldName: fieldName, field: field,
                kind: kind ?? Self.kind(of: field, fieldName, options)))
        cells.append(.missing)
        return columns.count - 1
    }

    /// The place of a record's name, added when it is new; nil for one that is left out.
    func place(_ name: String) throws -> Int? {
        if let known = places[name] { return known }
        return try addColumn(name)
    }

    /// The columns' names in the file, those left out among them.
    var names: Set<String> { Set(places.keys) }

    func setKind(_ kind: ItemFieldKind, at place: Int) { columns[place].kind = kind }

    func removeCells() {
        for place in cells.indices { cells[place] = .missing }
    }

    /// What texts become in a field whatever the file is: a date has no form of its own in many.
    private static func kind(of field: ItemField, _ name: String, _ options: ItemFileOptions) -> ItemFieldKind? {
        if field == .dateCreated { return .date }
        if case .named(let kinds)? = options.kinds, !field.isDomain { return kinds[name] }
        return nil
    }

    /// The row's values by the fields' names, as functions of a host get them.
    func values() throws(StoreError) -> [String: PropertyListValue] {
        var values: [String: PropertyListValue] = [:]
        for (place, column) in columns.enumerated() {
            switch cells[place] {
            case .missing, .empty: continue
            case .text(let text):
                values[column.fieldName] = try FileText.value(text, column.kind ?? .string, column.fieldName)
            case .value(let value): values[column.fieldName] = value
            }
        }
        return values
    }
}

extension ItemField {
    var isDomain: Bool { !isCustom }
}
