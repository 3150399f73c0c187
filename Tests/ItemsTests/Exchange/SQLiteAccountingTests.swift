import PropertyList
import SQLite
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// Of all values of foreign tables, each is an item's value, a date as SQLite itself says it, or counted; and what is
/// exported is read back.
@Suite("SQLite, accounted")
struct SQLiteAccountingTests {
    private static let types = [
        "", "text", "int", "real", "numeric", "blob", "date", "datetime", "timestamp", "boolean",
    ]

    @Test("each value of a table is the item's, or counted, and comes back from an export")
    func values() throws {
        var foreign = ForeignValues(seed: 38)
        let scene = try SQLiteScene()
        let database = try scene.open()
        defer { database.close() }
        // What a crash leaves is no matter here.
        try database.execute("pragma synchronous = off")
        var values = 0
        while values < Accounting.values {
            let types = (0..<1 + foreign.random.number(8)).map { _ in foreign.pick(Self.types) }
            let names = types.indices.map { "c\($0) " + foreign.text().filter { $0 != "\0" } }
            let store = ItemStore()
            let columns = zip(names, types).map { "\(SQLiteDatabase.quoted($0)) \($1)" }.joined(separator: ", ")
            try database.transaction {
                try database.execute("drop table if exists t")
                try database.execute("drop table if exists items")
                try database.execute("create table t(\(columns))")
                let places = types.map { _ in "?" }.joined(separator: ", ")
                for _ in 0..<1 + foreign.random.number(20) {
                    let row = types.map { _ in value(&foreign) }
                    try database.execute("insert into t values(\(places))", row)
                    values += row.count
                }
            }
            var options = ItemFileOptions(format: .sqlite)
            (options.table, options.openDatabase) = ("t", { try scene.open(isReadOnly: true) })
            let report = try store.importItems(ImportFile([]), path: "f", options)
            #expect(report.rejected == 0)
            let others = try check(store, database, names, types)
            #expect(report.count(.otherKinds) == others)
            try checkExport(store, database, scene)
        }
    }

    private func value(_ foreign: inout ForeignValues) -> SQLiteValue {
        switch foreign.random.number(7) {
        case 0: .null
        case 1: .integer(Int64(truncatingIfNeeded: foreign.integer()))
        case 2: .real(foreign.pick([foreign.real(), .infinity, 2_460_340.5, 1_706_695_200.25]))
        case 3: .text(Array(foreign.text().utf8))
        case 4: .blob((0..<foreign.random.number(5)).map { _ in UInt8(truncatingIfNeeded: foreign.random.next()) })
        case 5: .integer(foreign.pick([0, 1, 2, 2024, 1_706_695_200, 2_451_545, -1, 1_706_695_200_000]))
        default:
            .text(
                Array(
                    foreign.pick([
                        "2024-01-31", "2024-01-31 10:00:00", "2024-01-31T10:00:00.123+02:00", "31/01/2024",
                        "2024-02-30",
                        "1906-10-17 09:30", "24:00", "2024",
                    ]).utf8))
        }
    }

    /// Compares the items with the table as SQLite gives it.
    ///
    /// - Returns: the number of values that are not of their column's declared kind.
    private func check(
        _ store: ItemStore, _ database: SQLiteDatabase, _ names: [String], _ types: [String]
    ) throws -> Int {
        var others = 0
        // SQLite's own reading of a date, of texts and of numbers.
        let judged = names.map { name in
            let name = SQLiteDatabase.quoted(name)
            return "\(name), strftime('%Y-%m-%dT%H:%M:%f', \(name), iif(typeof(\(name)) = 'text', '+0 days', 'auto'))"
        }
        let rows = try SQLiteStatement(database, "select \(judged.joined(separator: ", ")) from t")
        for item in store.allItems {
            try #require(try rows.step())
            for (column, type) in types.enumerated() {
                let (cell, imported) = (rows.cell(column * 2), try item.value(forField: names[column]))
                let isOther: Bool
                switch (type, imported) {
                case ("date", .date(let date)?), ("datetime", .date(let date)?), ("timestamp", .date(let date)?):
                    isOther = false
                    guard case .text(let text) = rows.cell(column * 2 + 1),
                        let judged = ISO8601.parse(String(decoding: text, as: UTF8.self))
                    else {
                        Issue.record("SQLite has no date for \(Self.plain(cell) ?? .null)")
                        continue
                    }
                    let distance = judged.secondsSinceReferenceDate - date.secondsSinceReferenceDate
                    #expect(abs(distance) <= 0.001)
                case ("boolean", .boolean(let flag)?):
                    isOther = false
                    #expect(Self.plain(cell) == .integer(flag ? 1 : 0))
                default:
                    isOther = type.hasPrefix("date") || type == "timestamp" || type == "boolean"
                    #expect(imported == Self.plain(cell), "\(type)")
                }
                if isOther, imported != nil { others += 1 }
            }
        }
        return others
    }

    private static func plain(_ cell: SQLiteCell) -> PropertyListValue? {
        switch cell {
        case .null: nil
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let text): .string(String(decoding: text, as: UTF8.self))
        case .blob(let bytes): .data(Array(bytes))
        }
    }

    private func checkExport(_ store: ItemStore, _ database: SQLiteDatabase, _ scene: SQLiteScene) throws {
        let count = try store.query().exportItems(ItemFileOptions(format: .sqlite), into: database)
        #expect(count == store.count)
        let again = ItemStore()
        var options = ItemFileOptions(format: .sqlite)
        (options.table, options.openDatabase) = ("items", { try scene.open(isReadOnly: true) })
        _ = try again.importItems(ImportFile([]), path: "f", options)
        try #require(again.count == store.count)
        for (old, new) in zip(store.allItems, again.allItems) {
            #expect(try old.itemKey == new.itemKey)
            for name in try old.customFieldNames {
                let (before, after) = (try old.value(forField: name), try new.value(forField: name))
                if before == after { continue }
                // SQLite itself has no sign of zero.
                if case (.real(0)?, .real(0)?) = (before, after) { continue }
                // A column of mixed kinds has no declared kind: SQLite has no booleans, and dates are texts there.
                switch (before, after) {
                case (.boolean(let flag)?, .integer(let number)?): #expect(number == (flag ? 1 : 0))
                case (.date(let date)?, .string(let text)?): #expect(text == date.exchangeText)
                case (.date(let date)?, .date(let other)?): #expect(date.exchangeText == other.exchangeText)
                default: Issue.record("\(name): \(before ?? .null) came back as \(after ?? .null)")
                }
            }
            #expect(try new.customFieldNames.count == old.customFieldNames.count)
        }
    }
}
