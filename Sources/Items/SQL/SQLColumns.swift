import ColumnEngine
package import PropertyList
package import SQLite

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
        let names = store.schema.names + store.columns.declarations.all.map(\.name) + store.columns.visibleFieldNames
        for name in names {
            if let field = store.columns.existingField(named: name), known.insert(field).inserted {
                fields.append(field)
            }
        }
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
enum SQLColumnType: String, CaseIterable {
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

    /// The type of a field by the cells that it has: a column with values of several kinds has none, so that SQLite
    /// converts none of them.
    init(_ store: ColumnStore, _ field: ItemField, areDays: Bool) {
        if field == store.keyField {
            self = .text
            return
        }
        let kinds = store.presentKinds(field)
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

    /// The type of what takes the place of a value: that of the value itself where the column has several kinds.
    func replacing(_ value: PropertyListValue?) -> SQLColumnType {
        guard [.any, .text, .number, .structure].contains(self) else { return self }
        return switch value {
        case .boolean?: .boolean
        case .date?: .moment
        case .wideInteger?: .number
        case .array?, .set?, .dictionary?: .structure
        default: self
        }
    }

    private init(_ kind: FieldDeclaration.Kind?, areDays: Bool) {
        self = kind == .date && areDays ? .day : Self.allCases.first { kind != nil && $0.kind == kind } ?? .any
    }
}

extension SQLiteValue {
    /// A value as SQL has it.
    ///
    /// - Throws: `SQLError` for half of a surrogate pair alone, and for a collection that JSON does not have.
    package init(_ value: PropertyListValue, areDays: Bool = false) throws(SQLError) {
        switch value {
        case .null: self = .null
        case .boolean(let flag): self = .integer(flag ? 1 : 0)
        case .integer(let number): self = .integer(number)
        case .wideInteger(let number): self = .text(Array("\(number)".utf8))
        case .real(let number): self = .real(number)
        case .single(let number): self = .real(Double(number))
        case .date(let date): self = .text(SQLDate.text(date, isDay: areDays))
        case .data(let bytes): self = .blob(bytes)
        case .string(let text): self = .text(Array(text.utf8))
        case .utf16: throw SQLError(.failed, "the text is not Unicode")
        case .uid(let number): self = .integer(Int64(number))
        case .array, .set, .dictionary:
            do throws(JSONError) { self = .text(try value.sqlJSON()) } catch { throw SQLError(.failed, error.message) }
        }
    }
}

extension PropertyListValue {
    /// Its JSON for SQL's functions: a real has a point, so that they compute with it as with one.
    func sqlJSON() throws(JSONError) -> [UInt8] { try json(keepsReals: true) }

    /// Whether its JSON reads back as the value: not so of dates, data, sets and numbers of single precision.
    var isJSON: Bool {
        switch self {
        case .date, .data, .set, .single, .uid: false
        case .array(let elements): elements.allSatisfy(\.isJSON)
        case .dictionary(let entries): entries.values.allSatisfy(\.isJSON)
        default: true
        }
    }

    /// The value with the parts of a former one that have the same JSON: in the same place, or elsewhere in an array.
    func keeping(_ former: PropertyListValue?) -> PropertyListValue {
        guard let former, !former.isJSON else { return self }
        switch (self, former) {
        case (.dictionary(let entries), .dictionary(let formers)):
            var result = entries
            for (key, value) in entries.textEntries { result[key] = value.keeping(formers[key]) }
            return .dictionary(result)
        case (.array(let elements), .array(let formers)):
            return .array(Self.keep(elements, formers))
        case (.array(let elements), .set(let formers)):
            let result = Self.keep(elements, formers)
            return Set(result).count == result.count ? .set(result) : .array(result)
        default: return (try? sqlJSON()) == (try? former.sqlJSON()) ? former : self
        }
    }

    private static func keep(_ elements: [Self], _ formers: [Self]) -> [Self] {
        let texts = formers.map { try? $0.sqlJSON() }
        let places = Dictionary(zip(texts, formers.indices), uniquingKeysWith: { first, _ in first })
        return elements.enumerated().map { place, element in
            let text = try? element.sqlJSON()
            let isSame = places[text] != nil && place < formers.count && texts[place] == text
            if let same = isSame ? place : places[text] { return formers[same] }
            return element.keeping(place < formers.count ? formers[place] : nil)
        }
    }
}

extension SQLiteCell {
    /// The value; nil for a text that is not UTF-8.
    package var value: PropertyListValue? {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let bytes): String(validating: bytes, as: UTF8.self).map { .string($0) }
        case .blob(let bytes): .data(Array(bytes))
        }
    }

    /// Negative, 0 or positive if this value is before, equal to or after another, in SQLite's order.
    func compare(_ other: SQLiteCell) -> Int {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): return Self.order(left, right)
        case (.real(let left), .real(let right)): return Self.order(left, right)
        case (.integer(let left), .real(let right)): return Self.order(left, right)
        case (.real(let left), .integer(let right)): return -Self.order(right, left)
        case (.text(let left), .text(let right)), (.blob(let left), .blob(let right)):
            for (one, another) in zip(left, right) where one != another { return one < another ? -1 : 1 }
            return left.count - right.count
        default: return rank - other.rank
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }

    private static func order<Number: Comparable>(_ left: Number, _ right: Number) -> Int {
        left < right ? -1 : left > right ? 1 : 0
    }

    /// By value, and not by the nearest real.
    private static func order(_ left: Int64, _ right: Double) -> Int {
        if right >= 0x1p63 { return -1 }
        guard right >= -0x1p63 else { return 1 }
        let whole = Int64(right.rounded(.towardZero))
        return left == whole ? order(Double(whole), right) : order(left, whole)
    }
}

/// Dates as SQLite's functions read them.
enum SQLDate {
    /// `2024-02-29 13:05:00`, in UTC, with as many decimals as the date has; a day without its time.
    static func text(_ date: PropertyListDate, isDay: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        append(date, isDay: isDay, to: &bytes)
        return bytes
    }

    static func append(_ date: PropertyListDate, isDay: Bool, to bytes: inout [UInt8]) {
        let start = bytes.count
        date.appendExchangeText(to: &bytes)
        guard bytes.last == UInt8(ascii: "Z"), let time = bytes[start...].firstIndex(of: UInt8(ascii: "T")) else {
            return
        }
        bytes.removeLast()
        bytes[time] = UInt8(ascii: " ")
        if isDay, bytes[time...].elementsEqual(" 00:00:00".utf8) { bytes.removeLast(bytes.count - time) }
    }

    /// The text of a date as a column writes it; other texts as they are.
    static func asWritten(_ text: [UInt8], areDays: Bool) -> [UInt8] {
        String(validating: text, as: UTF8.self).flatMap { date($0) }.map { Self.text($0, isDay: areDays) } ?? text
    }

    /// The date of a text in one of SQLite's forms, with a blank or T before the time, a zone or none (UTC), or as a column
    /// writes years beyond those of four digits and dates beyond the calendar.
    static func date(_ text: String) -> PropertyListDate? {
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        let year = rest.prefix { $0 &- 0x30 < 10 }
        let day = Array(rest[year.endIndex...].prefix(6))
        let hasDay = day.count == 6 && day[0] == UInt8(ascii: "-") && day[3] == UInt8(ascii: "-")
        // Other forms, such as 20240229, are texts.
        guard let date = ISO8601.parse(text), hasDay || date.parts == nil else { return nil }
        return date
    }
}
