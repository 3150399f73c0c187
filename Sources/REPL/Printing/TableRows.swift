import Images
import Items
import Lua
import Plots
import PropertyList
import SQLite
import Scripting
import Wording

/// The rows of a table: items of a store, records of a script. They are read on drawing.
protocol TableRows {
    /// The number of rows.
    var count: Int { get }
    /// The fields that the query names, which are shown first.
    var asked: [String] { get }
    /// Whether the order of the columns is that of the rows, and all are shown.
    var hasOwnOrder: Bool { get }
    /// The fields that some of the rows have, each once, in order of preference.
    func names(in rows: Range<Int>) -> [String]
    /// A field of a row; nil where absent.
    func cell(_ row: Int, _ name: String) -> TableCell?
    /// Whether the row was removed.
    func isRemoved(_ row: Int) -> Bool
    /// All fields of a row, one per line; nil if the row was removed.
    func record(_ row: Int, columns: Int) -> String?
    /// The row's picture in `ItemRows.thumbnailColumns` cells; nil without one.
    func thumbnail(_ row: Int) -> String?
    /// The row's picture as a square of pixels; nil without one.
    func picture(_ row: Int, size: Int) -> BitmapImage?
    /// A field's value, to sort, filter and count by; nil where absent.
    func value(_ row: Int, _ name: String) -> PropertyListValue?
    /// A value as a cell of a field.
    func cell(of value: PropertyListValue, _ name: String) -> TableCell?
    /// How a field's numbers are written on an axis.
    func unit(of name: String) -> PlotUnit
    /// The query of the rows; nil if they are none of a query that entries can name.
    var query: TableQuery? { get }
    /// The statement of the rows; nil if they are none of one that a further statement can name.
    var statement: StatementQuery? { get }
    /// An order of the rows by a field, negative, 0 or positive; nil for that of the items' values.
    func comparison(of name: String) -> ((Int, Int) -> Int)?
    /// The rows of another query; nil if they are none of a query.
    func rows(of query: TableQuery) throws -> (any TableRows)?
}

extension TableRows {
    var query: TableQuery? { nil }
    var statement: StatementQuery? { nil }
    func comparison(of name: String) -> ((Int, Int) -> Int)? { nil }
    func rows(of query: TableQuery) throws -> (any TableRows)? { nil }
    var asked: [String] { [] }
    var hasOwnOrder: Bool { false }
    func isRemoved(_ row: Int) -> Bool { false }
    func thumbnail(_ row: Int) -> String? { nil }
    func picture(_ row: Int, size: Int) -> BitmapImage? { nil }
    func unit(of name: String) -> PlotUnit { .number }
}

/// A field of a row, for display.
struct TableCell: Equatable {
    /// The text, neither truncated nor escaped.
    var text: String
    var isNumber = false
    /// The text for a pipe, where `text` leaves a part out.
    var whole: String?
}

/// Items as the rows of a table.
struct ItemRows: TableRows {
    /// The width of a thumbnail in cells.
    static let thumbnailColumns = 2

    let count: Int
    let asked: [String]
    let query: TableQuery?
    private let item: (Int) -> Item
    private let record: ItemRecord

    /// The items of an array.
    init(_ items: [Item], record: ItemRecord) {
        (count, asked, query, self.record) = (items.count, [], nil, record)
        item = { items[$0] }
    }

    /// The items of a query as they are now. No objects are held: a query may have millions.
    init(_ query: ItemQuery, record: ItemRecord) throws {
        try self.init(query, TableQuery(query), record: record)
    }

    private init(_ query: ItemQuery, _ named: TableQuery?, record: ItemRecord) throws {
        let references = try query.references()
        (count, asked, self.query, self.record) = (references.count, query.fields, named, record)
        item = { query.store.item(references[$0]) }
    }

    func rows(of query: TableQuery) throws -> (any TableRows)? { try ItemRows(query.query, query, record: record) }

    func names(in rows: Range<Int>) -> [String] {
        let items = rows.map(item)
        // On a screen a column of zeros says nothing.
        let values = items.lazy.compactMap { (try? $0.value(forField: "valueInDollars")) ?? nil }
        let isWorth = record.isWhole || values.contains { $0 != .integer(0) }
        var names = record.host.items.schema.fields.map(\.name).filter { $0 != "valueInDollars" || isWorth }
        var custom: NameSet = []
        for item in items { custom.formUnion((try? item.customFieldNames) ?? []) }
        names += record.host.items.ordered(custom)
        if !custom.contains("images"), items.contains(where: { record.imageCount($0) > 1 }) { names.append("images") }
        // Only a query that names the key adds its column; other fields have theirs already.
        let known = NameSet(names)
        return names + asked.filter { $0 == "itemKey" && !known.contains($0) }
    }

    func value(_ row: Int, _ name: String) -> PropertyListValue? {
        let item = item(row)
        if let value = (try? item.value(forField: name)) ?? nil { return value == .null ? nil : value }
        let images = name == "images" ? record.imageCount(item) : 0
        return images > 0 ? .integer(Int64(images)) : nil
    }

    func cell(_ row: Int, _ name: String) -> TableCell? { value(row, name).flatMap { cell(of: $0, name) } }

    func cell(of value: PropertyListValue, _ name: String) -> TableCell? {
        if let text = record.host.items.shown(value, name) { return TableCell(text: text, isNumber: value.isNumber) }
        switch value {
        case .null: return nil
        case .integer, .wideInteger, .real, .single:
            return TableCell(text: text(value, isMoney: name == "valueInDollars"), isNumber: true)
        case .date(let date):
            let text = record.host.shortText(date)
            return TableCell(text: text, whole: text.hasSuffix("…") ? record.host.localText(date) : nil)
        default: return TableCell(text: text(value, isMoney: false))
        }
    }

    func isRemoved(_ row: Int) -> Bool { item(row).isRemoved }

    func record(_ row: Int, columns: Int) -> String? {
        let item = item(row)
        guard let text = record.text(item, columns: columns) else { return nil }
        // Only a picture of characters can be drawn in part.
        guard let picture = record.picture(item), PagerText.isPageable(picture) else { return text }
        return text + "\n" + picture
    }

    func thumbnail(_ row: Int) -> String? {
        guard let pictures = record.pictures, pictures.graphics != nil, let key = try? item(row).itemKey,
            record.host.images.hasImage(forKey: key)
        else { return nil }
        guard let picture = picture(row, size: 40) else {
            return TerminalPictures.unreadable(Self.thumbnailColumns)
        }
        return pictures.inlineText(picture, columns: Self.thumbnailColumns)
    }

    func picture(_ row: Int, size: Int) -> BitmapImage? {
        guard let key = try? item(row).itemKey, record.host.images.hasImage(forKey: key) else { return nil }
        return (try? record.host.images.thumbnail(forKey: key, size: size, cornerRadius: 0)) ?? nil
    }

    func unit(of name: String) -> PlotUnit { record.host.items.plotUnit(of: name) }

    private func text(_ value: PropertyListValue, isMoney: Bool) -> String {
        switch value {
        case .string(let text): text
        case .utf16: value.text ?? ""
        case .integer(let number): isMoney ? RecordText.dollars(number) : String(number)
        case .wideInteger(let number): String(number)
        case .real(let number): LuaValueText.text(number)
        case .single(let number): "\(number)"
        case .boolean(let flag): flag ? "true" : "false"
        case .date(let date): record.host.shortText(date)
        case .data(let bytes): bytes.count.counted("byte")
        case .array(let elements), .set(let elements): elements.map { text($0, isMoney: false) }.joined(separator: ", ")
        case .dictionary(let entries): "{\(entries.count.counted("field"))}"
        case .null: "null"
        case .uid(let number): "UID \(number)"
        }
    }
}

extension PropertyListValue {
    fileprivate var isNumber: Bool {
        switch self {
        case .integer, .wideInteger, .real, .single: true
        default: false
        }
    }
}

/// The rows of a SQL statement as those of a table, with all columns in the statement's order.
struct StatementRows: TableRows {
    let count: Int
    let hasOwnOrder = true
    private let rows: SQLRows
    private let host: ScriptHost
    private let places: NameTable<Int>

    init(_ rows: SQLRows, _ host: ScriptHost) {
        (self.rows, self.host) = (rows, host)
        count = rows.count
        var places = NameTable<Int>()
        for (place, name) in rows.columns.enumerated() { places[name] = place }
        self.places = places
    }

    var statement: StatementQuery? {
        guard let text = rows.statement else { return nil }
        // Columns of other tables may have a collation of their own.
        let names = host.sql.names
        return StatementQuery(text, isBinary: names.databases.isEmpty && names.tables.count <= 1)
    }

    func comparison(of name: String) -> ((Int, Int) -> Int)? {
        guard let column = places[name] else { return nil }
        return { [rows] first, second in rows.compare(first, second, column) }
    }

    func names(in shown: Range<Int>) -> [String] { rows.columns }

    func cell(_ row: Int, _ name: String) -> TableCell? {
        guard let column = places[name] else { return nil }
        // Numbers stay on the right in a column that has NULL as well.
        let isNumber = rows.isNumber(row, column) || rows.isNull(row, column)
        return TableCell(text: rows.shownText(row, column), isNumber: isNumber)
    }

    func value(_ row: Int, _ name: String) -> PropertyListValue? {
        guard let column = places[name], !rows.isNull(row, column) else { return nil }
        return rows.withCell(row, column) { cell in
            // A text that is not UTF-8 is none the less no NULL.
            if case .text(let bytes) = cell { return .string(String(decoding: bytes, as: UTF8.self)) }
            return cell.value
        }
    }

    func cell(of value: PropertyListValue, _ name: String) -> TableCell? {
        switch value {
        case .integer(let number): return TableCell(text: String(number), isNumber: true)
        case .real(let number):
            var text: [UInt8] = []
            number.appendShortest(to: &text)
            return TableCell(text: String(decoding: text, as: UTF8.self), isNumber: true)
        case .string(let text): return TableCell(text: text)
        case .data(let bytes): return TableCell(text: bytes.count.counted("byte"))
        default: return nil
        }
    }

    func unit(of name: String) -> PlotUnit { host.items.plotUnit(of: name) }

    func record(_ row: Int, columns: Int) -> String? {
        let fields = rows.columns.enumerated().map { column, name in
            let text = rows.shownText(row, column)
            let isText = !rows.isNumber(row, column) && !rows.isNull(row, column)
            return (name, isText ? RecordText.value(text, limit: 2000) : text)
        }
        return RecordText.text(fields, columns: columns)
    }

}
