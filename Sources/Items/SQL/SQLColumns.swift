import ColumnEngine
import PropertyList
import SQLite

/// The columns of a table over a store's fields.
struct SQLColumns: Hashable {
    /// How SQLite converts what a column is compared with.
    enum Affinity { case numeric, text, none }

    struct Column: Hashable {
        /// The name of the column; another than the field's if a former column has that in another case.
        let name: String
        /// The field; nil for the position.
        let field: ItemField?
        /// The type as it is declared.
        let type: SQLColumnType
        /// Whether dates at the beginning of a day are shown without their time.
        let areDays: Bool
    }

    let columns: [Column]
    /// The fields for which there was no column left.
    let leftOut: [String]

    /// The most columns that SQLite has.
    private static let limit = 1990

    /// The columns of the items: fields of every item, declared ones, others, the key, and the position.
    init(of store: ItemStore) {
        var fields: [ItemField] = []
        var known: Set<ItemField> = [store.columns.keyField]
        func add(_ name: String) {
            if let field = store.columns.existingField(named: name), known.insert(field).inserted {
                fields.append(field)
            }
        }
        for field in store.schema.fields { add(field.name) }
        for declaration in store.columns.declarations.all { add(declaration.name) }
        for name in store.columns.visibleFieldNames { add(name) }
        self.init(store.columns, fields + [store.columns.keyField], hasPosition: true, days: [], names: [:])
    }

    /// The columns of a file's store.
    ///
    /// - Parameters:
    ///   - store: its rows.
    ///   - fields: in order.
    ///   - hasPosition: whether the position follows, hidden from `*`.
    ///   - days: the fields whose dates are days.
    ///   - names: other names of fields.
    init(
        _ store: ColumnStore, _ fields: [ItemField], hasPosition: Bool, days: Set<ItemField>,
        names: [ItemField: String]
    ) {
        var made: [Column] = []
        var taken: NameSet = []
        func name(_ wanted: String) -> String {
            // SQLite folds ASCII letters alone.
            func folded(_ text: String) -> String {
                String(decoding: text.utf8.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }, as: UTF8.self)
            }
            // SQLite's texts end at a NUL.
            let wanted = wanted.replacing("\0", with: "\u{FFFD}")
            var (name, number) = (wanted, 2)
            while !taken.insert(folded(name)).inserted {
                name = "\(wanted)_\(number)"
                number += 1
            }
            return name
        }
        for field in fields.prefix(Self.limit) {
            let areDays = days.contains(field) || store.declaration(of: field)?.format == .day
            made.append(
                Column(
                    name: name(names[field] ?? store.name(of: field)), field: field,
                    type: SQLColumnType(store, field, areDays: areDays), areDays: areDays))
        }
        if hasPosition { made.append(Column(name: name("position"), field: nil, type: .integer, areDays: false)) }
        columns = made
        leftOut = fields.dropFirst(Self.limit).map { store.name(of: $0) }
    }

    /// The statement that declares them.
    var declaration: String {
        let parts = columns.map { column in
            let order = column.type.isDate ? " collate \(SQLiteDatabase.dateOrder)" : ""
            return
                "\(SQLiteDatabase.quoted(column.name)) \(column.type.rawValue)\(order)\(column.field == nil ? " hidden" : "")"
        }
        return "create table x(\(parts.isEmpty ? "\"\"" : parts.joined(separator: ", ")))"
    }
}

/// A column's type: it gives SQLite the affinity, and people the kind.
enum SQLColumnType: String {
    case integer = "INTEGER"
    case real = "REAL"
    case number = "NUMERIC"
    case boolean = "BOOLEAN"
    case text = "TEXT"
    case moment = "DATETIME_TEXT"
    case day = "DATE_TEXT"
    case array = "ARRAY_TEXT"
    case dictionary = "DICTIONARY_TEXT"
    case data = "BLOB"
    /// Arrays, dictionaries and data of a field that is not declared.
    case structure = "JSON_BLOB"
    case any = ""

    var affinity: SQLColumns.Affinity {
        switch self {
        case .integer, .real, .number, .boolean: .numeric
        case .text, .moment, .day, .array, .dictionary: .text
        case .data, .structure, .any: .none
        }
    }

    /// Whether its texts are dates, of which a day is its beginning.
    var isDate: Bool { self == .moment || self == .day }

    /// The kind for people; nil for several.
    var kind: FieldDeclaration.Kind? {
        switch self {
        case .integer: .integer
        case .real: .real
        case .number: .number
        case .boolean: .boolean
        case .text: .string
        case .moment, .day: .date
        case .array: .array
        case .dictionary: .dictionary
        case .data: .data
        case .structure, .any: nil
        }
    }

    /// The type of a field by the cells that it has, or had: a column with values of several kinds has none, so that
    /// SQLite converts none of them.
    init(_ store: ColumnStore, _ field: ItemField, areDays: Bool) {
        if field == store.keyField {
            self = .text
            return
        }
        let kinds = store.cellKinds(field)
        func areOnly(_ allowed: Cell.Kind...) -> Bool {
            allowed.reduce(kinds) { $0 & ~(1 << UInt16($1.rawValue)) } == 0
        }
        let declared = SQLColumnType(store.declaration(of: field)?.kind, areDays: areDays)
        let hasNoValue = kinds == 0 || store.kinds(field) == 0 && store.isCustom(field)
        if hasNoValue {
            self = declared
        } else if areOnly(.no, .yes, .integer, .real, .single) {
            let own: SQLColumnType = areOnly(.integer) ? .integer : areOnly(.no, .yes) ? .boolean : .number
            self = declared.affinity == .numeric ? declared : own
        } else if areOnly(.date) {
            self = areDays ? .day : .moment
        } else if areOnly(.shortText, .longText) || areOnly(.shortText, .longText, .date) {
            self = .text
        } else if areOnly(.box) {
            self = [.array, .dictionary, .data].contains(declared) ? declared : .structure
        } else {
            self = .any
        }
    }

    private init(_ kind: FieldDeclaration.Kind?, areDays: Bool) {
        self =
            switch kind {
            case .string: .text
            case .integer: .integer
            case .real: .real
            case .number: .number
            case .boolean: .boolean
            case .date: areDays ? .day : .moment
            case .data: .data
            case .array: .array
            case .dictionary: .dictionary
            case .any, nil: .any
            }
    }
}
