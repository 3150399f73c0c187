import Items
import Lua
import Plots
import PredicateFormat
import PropertyList
import SQLite
import Scripting
import Wording

/// The query whose items a table shows, and the entry that makes it.
struct TableQuery {
    let query: ItemQuery
    /// The predicates' texts.
    private let conditions: [String]
    /// Whether the query is named `_`, the last result, since functions are among its conditions.
    private let isResult: Bool
    /// The keys' texts.
    private let order: [(key: String, isDescending: Bool)]

    /// Nil for a query that no short entry makes: one of a part of its items, or in the order of a function.
    init?(_ query: ItemQuery) {
        guard !query.isLimited else { return nil }
        let predicates = query.conditions.compactMap {
            if case .predicate(let predicate) = $0 { predicate } else { nil }
        }
        let isResult = predicates.count < query.conditions.count
        // A further key of the result would be a lesser one.
        if isResult, !query.order.isEmpty { return nil }
        var order: [(key: String, isDescending: Bool)] = []
        for key in query.order {
            switch key.key {
            case .field(let field): order.append((query.store.name(of: field), key.isDescending))
            case .expression(_, let text): order.append((text, key.isDescending))
            case .function: return nil
            }
        }
        self.init(query: query, conditions: isResult ? [] : predicates.map(\.format), isResult: isResult, order: order)
    }

    private init(
        query: ItemQuery, conditions: [String], isResult: Bool, order: [(key: String, isDescending: Bool)]
    ) {
        (self.query, self.conditions, self.isResult, self.order) = (query, conditions, isResult, order)
    }

    /// In the order of a field alone.
    func sorted(_ name: String, descending: Bool) throws -> TableQuery {
        let key = ItemSortKey(try query.store.key(name), isDescending: descending)
        return TableQuery(
            query: query.reordered(by: key), conditions: conditions, isResult: isResult, order: [(name, descending)])
    }

    /// The items with a value of a field; nil if no predicate finds them.
    func filtered(_ name: String, _ value: PropertyListValue?) throws -> TableQuery? {
        guard let (predicate, text) = Self.predicate(name, value) else { return nil }
        return TableQuery(
            query: try query.filter(predicate), conditions: conditions + [text], isResult: isResult, order: order)
    }

    /// How often each value of a field is there, and the entry that counts them.
    func counts(_ name: String) throws -> (counts: [(value: PropertyListValue?, count: Int)], text: String) {
        let unordered = TableQuery(
            query: query.reordered(by: nil), conditions: conditions, isResult: isResult, order: [])
        let counts = try unordered.query.counts([name]).map { (value: $0.values.first ?? nil, count: $0.count) }
        // Rows of counts have these names.
        let isTaken = name == "count" || name == "share"
        let key = Self.literal(name)
        return (
            counts,
            unordered.text + (isTaken ? ":groupBy(\(key)):sorted(\"count\", \"descending\")" : ":counts(\(key))")
        )
    }

    /// The entry.
    var text: String {
        var text = isResult ? "_" : "items:query(\(conditions.first.map(Self.literal) ?? ""))"
        for condition in isResult ? conditions[...] : conditions.dropFirst() {
            text += ":where(\(Self.literal(condition)))"
        }
        for (key, isDescending) in order {
            text += ":sorted(\(Self.literal(key))\(isDescending ? ", \"descending\"" : ""))"
        }
        return text
    }

    /// The condition that a field has a value, and its text; nil if there is none.
    private static func predicate(
        _ name: String, _ value: PropertyListValue?
    ) -> (FormatPredicate, String)? {
        let canonical = FormatPredicate(.comparing(PredicateKeyPath(name), .equal, value ?? .null))
        var text = canonical.format
        // Single quotes are no escapes in the entry's own.
        if case .string(let string)? = value, !string.unicodeScalars.contains(where: needsEscape) {
            text = text.replacing("\"\(string)\"", with: "'\(string)'")
        }
        guard let predicate = try? FormatPredicate(format: text), predicate == canonical else { return nil }
        return (predicate, text)
    }

    private static func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "'" || scalar == "\"" || scalar == "\\" || VisibleText.isHidden(scalar)
    }

    private static func literal(_ text: String) -> String { LuaString(text).quoted() }
}

/// A table in the pager, as it is after the steps that were taken there.
struct TableView {
    var table: TableText
    /// The query of the rows; nil for rows that are sorted and chosen in memory.
    private var query: TableQuery?
    /// The statement of the rows, which are sorted and chosen in memory; nil if no statement names them.
    private var statement: StatementQuery?
    /// The steps taken in memory, for users.
    private var steps: [String] = []
    /// The entry or the steps that show the same; nil before the first.
    private(set) var title: String?
    /// Whether the title is an entry.
    private(set) var isEntry = false
    /// The field by which the last step sorted it.
    private(set) var order: (name: String, isDescending: Bool)?

    init(_ table: TableText) { (self.table, query, statement) = (table, table.rows.query, table.rows.statement) }

    private var rows: any TableRows { table.rows }

    /// The query, for a field of the items. The number of an item's pictures is none.
    private func query(for name: String) -> TableQuery? {
        query.flatMap { $0.query.store.fieldNames.contains(name) ? $0 : nil }
    }

    /// In the order of a field; again, in descending order, and so on.
    func sorted(by name: String) throws -> TableView {
        let isDescending = order.map { $0.name == name && !$0.isDescending } ?? false
        var next = self
        next.order = (name, isDescending)
        if let query = query(for: name) {
            let sorted = try query.sorted(name, descending: isDescending)
            if let rows = try rows.rows(of: sorted) { return next.showing(rows, of: sorted) }
        }
        let compare = rows.comparison(of: name) ?? comparison(of: name)
        let places = (0..<rows.count).sorted {
            let order = compare($0, $1)
            return order == 0 ? $0 < $1 : (order < 0) != isDescending
        }
        if self.order != nil { next.steps = next.steps.dropLast() }
        next.statement = statement?.sorted(name, descending: isDescending)
        return next.showing(places, "by \(name)\(isDescending ? ", descending" : "")")
    }

    /// The order of the values of a field.
    private func comparison(of name: String) -> (Int, Int) -> Int {
        var heap = CellHeap()
        let cells = (0..<rows.count).map { rows.value($0, name).map { heap.cell($0) } ?? .absent }
        return { [heap] first, second in
            extendLifetime(heap)
            return CellOrder.compare(cells[first], cells[second])
        }
    }

    /// The rows with the value that a row has.
    func filtered(by name: String, as row: Int) throws -> TableView {
        try filtered(by: name, rows.value(row, name), text: rows.cell(row, name)?.text)
    }

    /// The rows with a value.
    func filtered(by name: String, _ value: PropertyListValue?, text: String?) throws -> TableView {
        var next = self
        next.order = nil
        if let query = query(for: name), let filtered = try query.filtered(name, value),
            let rows = try rows.rows(of: filtered)
        {
            return next.showing(rows, of: filtered)
        }
        let numbers = numbers(of: name, also: value)
        let places = numbers.places.indices.filter { numbers.places[$0] == numbers.other }
        next.statement = statement?.filtered(name, value)
        return next.showing(places, "\(name): \(text ?? "none")")
    }

    /// How often each value of a field is there; `columns` is the width of the screen, for the bars.
    func counted(by name: String, columns: Int) throws -> TableView {
        var counts: [(value: PropertyListValue?, count: Int)] = []
        var next = self
        (next.order, next.query, next.statement) = (nil, nil, nil)
        next.steps.append("counts of \(name)")
        if let query = query(for: name) {
            let (found, text) = try query.counts(name)
            (counts, next.title, next.isEntry) = (found, text, true)
        } else {
            let numbers = numbers(of: name, also: nil)
            var places: [Int?] = Array(repeating: nil, count: numbers.count)
            var totals = [Int](repeating: 0, count: numbers.count)
            for (place, number) in numbers.places.enumerated() {
                if places[Int(number)] == nil { places[Int(number)] = place }
                totals[Int(number)] += 1
            }
            let found = totals.indices.filter { totals[$0] > 0 }
            // A statement has groups of as many rows in the order of their values.
            let compare = rows.comparison(of: name) ?? { $0 - $1 }
            let sorted = found.sorted {
                totals[$0] == totals[$1] ? compare(places[$0] ?? 0, places[$1] ?? 0) < 0 : totals[$0] > totals[$1]
            }
            counts = sorted.map { (value: places[$0].flatMap { rows.value($0, name) }, count: totals[$0]) }
            let entry = statement?.counts(name)
            (next.title, next.isEntry) = (entry ?? next.steps.joined(separator: "; "), entry != nil)
        }
        let found = CountRows(counts, of: name, in: rows, barWidth: columns < 60 ? 12 : 24)
        next.table = TableText(found, in: 0..<min(found.count, 100), chosen: [])
        return next
    }

    /// The number of rows in each range of a field's values, or with each text, drawn; with the entry that draws it.
    func histogram(of name: String, columns: Int) throws -> (lines: [String], title: String) {
        var title = "histogram of \(name)"
        let values: [PropertyListValue?]
        if let query = query(for: name) {
            values = try query.query.values(of: [query.query.store.key(name)]).first ?? []
            title = query.text + ":plot{ x = \(LuaString(name).quoted()) }"
        } else {
            if let statement { title = statement.histogram(name) }
            values = (0..<rows.count).map { rows.value($0, name) }
        }
        let column = PlotColumn(name: name, values: values, unit: rows.unit(of: name)).readingDates
        return (column.histogramLines(width: columns, height: 20), title)
    }

    /// The field and its value that a row counts; nil in a table of other rows.
    func counted(_ row: Int) -> (name: String, value: PropertyListValue?, text: String?)? {
        var (rows, place) = (rows, row)
        if let chosen = rows as? ChosenRows { (rows, place) = (chosen.rows, chosen.places[row]) }
        guard let counts = rows as? CountRows, place < counts.count else { return nil }
        let (value, text) = counts.counted(place)
        return (counts.name, value, text)
    }

    /// Numbers for the values of a field, and the number of another value.
    private func numbers(of name: String, also other: PropertyListValue?) -> (
        places: [UInt32], other: UInt32, count: Int
    ) {
        var (heap, numbers) = (CellHeap(), KeyNumbers())
        func number(_ value: PropertyListValue?) -> UInt32 {
            let cell = value.map { heap.cell($0) } ?? .absent
            return numbers.number(of: cell) { heap.value($0) ?? .null }
        }
        let places = (0..<rows.count).map { number(rows.value($0, name)) }
        return (places, number(other), numbers.count)
    }

    private func showing(_ rows: any TableRows, of query: TableQuery) -> TableView {
        var next = self
        (next.table, next.query, next.title, next.isEntry) = (table.showing(rows), query, query.text, true)
        return next
    }

    private func showing(_ places: [Int], _ step: String) -> TableView {
        var next = self
        (next.table, next.query, next.isEntry) = (table.showing(ChosenRows(rows, places)), nil, statement != nil)
        next.steps.append(step)
        next.title = statement?.text ?? next.steps.joined(separator: "; ")
        return next
    }
}

/// Some rows of a table, in another order.
private struct ChosenRows: TableRows {
    let rows: any TableRows
    /// For each row, its place among those.
    let places: [Int]

    /// Of chosen rows, it keeps those that they were chosen of.
    init(_ rows: any TableRows, _ places: [Int]) {
        if let chosen = rows as? ChosenRows {
            (self.rows, self.places) = (chosen.rows, places.map { chosen.places[$0] })
        } else {
            (self.rows, self.places) = (rows, places)
        }
    }

    var count: Int { places.count }
    var asked: [String] { rows.asked }

    func names(in shown: Range<Int>) -> [String] {
        // The names of neighbours in the table below, which are read together.
        shown.flatMap { rows.names(in: places[$0]..<places[$0] + 1) }.unique()
    }

    func cell(_ row: Int, _ name: String) -> TableCell? { rows.cell(places[row], name) }
    func isRemoved(_ row: Int) -> Bool { rows.isRemoved(places[row]) }
    func record(_ row: Int, columns: Int) -> String? { rows.record(places[row], columns: columns) }
    func thumbnail(_ row: Int) -> String? { rows.thumbnail(places[row]) }
    func value(_ row: Int, _ name: String) -> PropertyListValue? { rows.value(places[row], name) }
    func unit(of name: String) -> PlotUnit { rows.unit(of: name) }

    func comparison(of name: String) -> ((Int, Int) -> Int)? {
        rows.comparison(of: name).map { compare in { [places] in compare(places[$0], places[$1]) } }
    }

    func cell(of value: PropertyListValue, _ name: String) -> TableCell? { rows.cell(of: value, name) }
}

/// The values of a field as rows: each with its count, its share, and a bar.
struct CountRows: TableRows {
    /// The titles; that of the bars is blank.
    private enum Title: String, CaseIterable { case value, count, share, bar = " " }

    /// The field.
    let name: String
    let asked = Title.allCases.map(\.rawValue)
    private let counts: [(value: PropertyListValue?, count: Int)]
    private let total: Int
    private let most: Int
    /// The width of the longest bar.
    private let barWidth: Int
    /// The table that they are of.
    private let rows: any TableRows

    init(
        _ counts: [(value: PropertyListValue?, count: Int)], of name: String, in rows: any TableRows, barWidth: Int
    ) {
        (self.counts, self.name, self.rows, self.barWidth) = (counts, name, rows, barWidth)
        total = counts.reduce(0) { $0 + $1.count }
        most = counts.lazy.map(\.count).max() ?? 1
    }

    var count: Int { counts.count }

    func names(in rows: Range<Int>) -> [String] { asked }

    /// The value that a row counts.
    func counted(_ row: Int) -> (value: PropertyListValue?, text: String?) {
        let value = counts[row].value
        return (value, value.flatMap { rows.cell(of: $0, name)?.text })
    }

    func cell(_ row: Int, _ name: String) -> TableCell? {
        let (value, count) = counts[row]
        switch Title(exactly: name) {
        case .value?:
            guard let value else { return TableCell(text: "(none)") }
            return rows.cell(of: value, self.name) ?? TableCell(text: "\(value)")
        case .count?: return TableCell(text: count.grouped, isNumber: true)
        case .share?: return TableCell(text: Self.percent(count, of: total), isNumber: true)
        default: return TableCell(text: Self.bar(count, of: most, width: barWidth))
        }
    }

    func value(_ row: Int, _ name: String) -> PropertyListValue? {
        name == Title.value.rawValue ? counts[row].value : .integer(Int64(counts[row].count))
    }

    func cell(of value: PropertyListValue, _ name: String) -> TableCell? { rows.cell(of: value, self.name) }
    func record(_ row: Int, columns: Int) -> String? { nil }

    /// A share with one decimal; one that is no longer seen with it is said to be less.
    static func percent(_ count: Int, of total: Int) -> String {
        guard total > 0 else { return "" }
        let tenths = Int((Double(count) * 1000 / Double(total)).rounded())
        return tenths == 0 && count > 0 ? "<0.1 %" : "\(tenths / 10).\(tenths % 10) %"
    }

    /// A bar, whose length is that of the longest times a share, to an eighth of a column.
    static func bar(_ count: Int, of most: Int, width: Int) -> String {
        TextBar.text(Double(count) / Double(max(1, most)), width: width)
    }
}

/// The statement whose rows a table shows after steps in the pager: that of the entry, as a table of another one.
struct StatementQuery {
    /// The entry's statement, on one line.
    private let statement: String
    /// How values are compared where a column may have another way: the pager compares them byte by byte.
    private let collation: String
    private var conditions: [String] = []
    private var order = ""

    /// The bytes of the longest statement, and of the longest value of a condition.
    private static let longest = 2000, longestValue = 200

    /// Nil for a statement that cannot be a table of another one, or be shown.
    ///
    /// - Parameters:
    ///   - text: the entry.
    ///   - isBinary: whether all of its columns compare texts byte by byte.
    init?(_ text: String, isBinary: Bool) {
        guard text.utf8.count <= Self.longest else { return nil }
        let sql = SQLText(text)
        guard let first = sql.word(0), ["select", "values", "with"].contains(first) else { return nil }
        var (line, end) = ("", 0)
        for (place, token) in sql.tokens.enumerated() {
            if sql.isSymbol(place, ";") { break }
            // A line break or a comment between two tokens is a blank.
            if token.range.lowerBound > end, !line.isEmpty { line += " " }
            line += sql.text(token)
            end = token.range.upperBound
        }
        guard Self.isPlain(line) else { return nil }
        statement = line
        collation = isBinary ? "" : " collate binary"
    }

    /// In the order of a column alone.
    func sorted(_ name: String, descending: Bool) -> StatementQuery? {
        guard let key = key(name) else { return nil }
        var next = self
        next.order = " order by \(key)\(descending ? " desc" : "")"
        return next
    }

    /// The rows with a value of a column; nil if no short condition finds them.
    func filtered(_ name: String, _ value: PropertyListValue?) -> StatementQuery? {
        guard let key = key(name) else { return nil }
        var next = self
        if let value {
            guard let literal = Self.literal(value) else { return nil }
            next.conditions.append("\(key) = \(literal)")
        } else {
            next.conditions.append("\(SQLiteDatabase.quoted(name)) is null")
        }
        return next
    }

    /// The statement that counts how often each value of a column is there, the most frequent first.
    func counts(_ name: String) -> String? {
        guard let key = key(name) else { return nil }
        return "select \(key), count(*) n from (\(statement))\(condition) group by \(key) order by 2 desc, 1"
    }

    /// The entry that draws the histogram of a column.
    func histogram(_ name: String) -> String {
        "sql(\(LuaString(text).quoted())):plot{ x = \(LuaString(name).quoted()) }"
    }

    /// The statement.
    var text: String {
        conditions.isEmpty && order.isEmpty ? statement : "select * from (\(statement))\(condition)\(order)"
    }

    private var condition: String { conditions.isEmpty ? "" : " where " + conditions.joined(separator: " and ") }

    private func key(_ name: String) -> String? {
        Self.isPlain(name) ? SQLiteDatabase.quoted(name) + collation : nil
    }

    private static func literal(_ value: PropertyListValue) -> String? {
        switch value {
        case .integer(let number): return String(number)
        case .real(let number):
            // SQLite writes no infinity.
            return number.isFinite ? "\(number)" : number < 0 ? "-9e999" : "9e999"
        case .string(let text):
            return text.utf8.count <= longestValue && isPlain(text) ? SQLiteDatabase.literal(text) : nil
        default: return nil
        }
    }

    /// Whether a text can be shown as it is. The replacement character may stand for bytes that are not UTF-8.
    private static func isPlain(_ text: String) -> Bool {
        !text.unicodeScalars.contains { VisibleText.isHidden($0) || $0 == "\u{FFFD}" }
    }
}
