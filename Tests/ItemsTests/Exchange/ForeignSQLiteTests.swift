import Foundation
import PropertyList
import SQLite
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// A database in a file, and imports from it.
struct SQLiteScene {
    let folder: TemporaryDirectory
    let path: String
    let store = ItemStore()

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.path + "/a.sqlite"
        try Data().write(to: URL(fileURLWithPath: path))
    }

    func open(isReadOnly: Bool = false) throws -> SQLiteDatabase {
        let real = try #require(realpath(path, nil))
        defer { free(real) }
        return try SQLiteDatabase(path: String(cString: real), temporaryFolder: folder.path, isReadOnly: isReadOnly)
    }

    func run(_ statements: String...) throws {
        let database = try open()
        defer { database.close() }
        for statement in statements { try database.execute(statement) }
    }

    func report(_ change: (inout ItemFileOptions) -> Void = { _ in }) throws -> ItemImportReport {
        var options = ItemFileOptions(format: .sqlite)
        options.openDatabase = { try open(isReadOnly: true) }
        change(&options)
        return try store.importItems(ImportFile([]), path: "f", options)
    }

    func values(_ field: String) throws -> [PropertyListValue?] {
        try store.allItems.map { try $0.value(forField: field) }
    }
}

/// Tables as other programs keep them.
@Suite("Foreign SQLite")
struct ForeignSQLiteTests {
    let scene: SQLiteScene

    init() throws { scene = try SQLiteScene() }

    private func date(_ text: String) -> PropertyListValue { ISO8601.parse(text).map { .date($0) } ?? .null }

    @Test("SQLite's own dates in columns declared as dates are dates, and what is none is counted")
    func dates() throws {
        try scene.run(
            "create table t(name text, d date, dt datetime, e datetime, j date, b boolean, c bool)",
            "insert into t values('A','2024-01-31','2024-01-31 10:00:00',1706695200,2460340.4999999999999,1,'true')",
            "insert into t values('B','31/01/2024','2024-01-31T10:00:00+02:00',1706695200000,'x',2,0)")
        let report = try scene.report()
        #expect(try scene.values("d") == [date("2024-01-31"), .string("31/01/2024")])
        #expect(try scene.values("dt") == [date("2024-01-31T10:00:00Z"), date("2024-01-31T08:00:00Z")])
        #expect(try scene.values("e") == [date("2024-01-31T10:00:00Z"), .integer(1_706_695_200_000)])
        #expect(try scene.values("j") == [date("2024-01-31T00:00:00Z"), .string("x")])
        #expect(try scene.values("b") == [.boolean(true), .integer(2)])
        #expect(try scene.values("c") == [.string("true"), .boolean(false)])
        #expect(report.count(.otherKinds) == 5)
        #expect(
            report.remarks[0].description
                == "1 value of d is not of the declared kind date, and kept as it is (row 2: \"31/01/2024\")")
    }

    @Test(
        "a date is as SQLite reads it, to the last digit, or no date",
        arguments: [
            ("'2024-01-31 10:00'", "2024-01-31T10:00:00Z"), ("'2024-01-31 10:00:00.250'", "2024-01-31T10:00:00.25Z"),
            ("'2024-01-31T10:00:00.123456'", "2024-01-31T10:00:00.123456Z"),
            ("'2024-01-31 10:00:00Z'", "2024-01-31T10:00:00Z"),
            ("'2024-01-31 10:00:00.123456789'", nil), ("'2016-12-31 23:59:60'", "2017-01-01T00:00:00Z"),
            ("'2016-06-15 12:30:60'", nil), ("'2024'", nil), ("'now'", nil),
            ("'10:00:00'", nil), ("'2024-02-30'", nil), ("2024", nil), ("0", nil), ("2451545", "2000-01-01T12:00:00Z"),
            ("1706695200.5", "2024-01-31T10:00:00.5Z"), ("-86400", "1969-12-31T00:00:00Z"), ("9e18", nil),
            ("253402300800", nil), ("x'00'", nil),
        ] as [(String, String?)])
    func forms(_ sql: String, _ wanted: String?) throws {
        try scene.run("create table t(name text, d timestamp)", "insert into t values('A', \(sql))")
        let report = try scene.report()
        if let wanted {
            #expect(try scene.values("d") == [date(wanted)])
            #expect(report.remarks.isEmpty)
        } else {
            #expect(report.count(.otherKinds) == 1)
            if case .date? = try scene.values("d")[0] { Issue.record("\(sql) is a date") }
        }
    }

    @Test("texts stay texts where the caller says so, and numbers in other columns are numbers")
    func plain() throws {
        try scene.run("create table t(name text, d date, n int)", "insert into t values('A', '2024-01-31', 1706695200)")
        #expect(try scene.report { $0.kinds = .text }.remarks.isEmpty)
        #expect(try scene.values("d") == [.string("2024-01-31")])
        _ = try scene.report { $0.kinds = .named(["d": .string]) }
        #expect(try scene.values("d")[1] == .string("2024-01-31"))
        #expect(try scene.values("n")[0] == .integer(1_706_695_200))
    }

    @Test("several tables are named with the option, and a view is imported by its name")
    func tables() throws {
        try scene.run(
            "create table base(name text, n int)", "insert into base values('A', 1), ('B', 2)",
            "create view v as select name, n * 10 as n10 from base where n > 1")
        let error = try #require(throws: StoreError.self) { try scene.report() }
        #expect(error.message.contains("(base, v)"))
        #expect(error.message.contains("table = \"base\""))
        #expect(try scene.report { $0.table = "v" }.created == 1)
        #expect(try scene.values("n10") == [.integer(20)])
    }

    @Test(
        "full text, R-trees and generated columns are imported; a view of a virtual table says what to name instead",
        arguments: [
            (["create virtual table t using fts3(name, b)", "insert into t values('A', 'b')"], "name"),
            (["create virtual table t using fts4(name)", "insert into t values('A')"], "name"),
            (["create virtual table t using fts5(name, prefix='2')", "insert into t values('A')"], "name"),
            (["create virtual table t using rtree(i, low, high)", "insert into t values(1, 2, 3)"], "low"),
            (["create table t(a, name as (upper(a)) stored)", "insert into t(a) values('a')"], "name"),
        ])
    func virtualTables(_ statements: [String], _ field: String) throws {
        for statement in statements { try scene.run(statement) }
        #expect(try scene.report { $0.table = "t" }.created == 1)
        #expect(try scene.values(field)[0] == (field == "name" ? .string("A") : .real(2)))
        try scene.run("create view v as select \(field) as \(field) from t")
        do { #expect(try scene.report { $0.table = "v" }.created == 1) } catch let error as StoreError {
            #expect(error.message.hasSuffix("name the table itself"), "\(error.message)")
        }
    }

    @Test("damaged databases are imported or refused, and closed")
    func damaged() throws {
        try scene.run(
            "create virtual table f using fts5(name)", "insert into f values('A')",
            "create table t(a, name as (upper(a)) virtual)", "create index i on t(name)", "insert into t(a) values('a')"
        )
        let whole = try Data(contentsOf: URL(fileURLWithPath: scene.path))
        var generator = TestGenerator(seed: 36)
        for round in 0..<60 {
            var damaged = whole
            for _ in 0..<20 { damaged[generator.number(damaged.count)] = UInt8(generator.number(256)) }
            try damaged.write(to: URL(fileURLWithPath: scene.path))
            do { _ = try scene.report { $0.table = round % 2 == 0 ? "t" : "f" } } catch {
                #expect(error is SQLiteError || error is StoreError, "\(error)")
            }
        }
    }

    @Test("JSON is the text that it is, and a number for a name its text")
    func others() throws {
        try scene.run("create table t(name text, tags json)", "insert into t values('A', '[\"x\",\"y\"]')")
        _ = try scene.report()
        #expect(try scene.values("tags") == [.string("[\"x\",\"y\"]")])
        try scene.run("drop table t", "create table t(name, sn int)", "insert into t values('A', 5), (7, 6)")
        _ = try scene.report()
        #expect(try scene.values("name").suffix(2) == [.string("A"), .string("7")])
        #expect(try scene.values("sn").suffix(2) == [.integer(5), .integer(6)])
    }

    @Test("text that is not UTF-8 is refused by row and column, and a column without a name has its position")
    func bytes() throws {
        try scene.run("create table t(name text, \"\" int)", "insert into t values('A', 1), (cast(x'ff' as text), 2)")
        let error = try #require(throws: StoreError.self) { try scene.report() }
        #expect(
            error.message.hasPrefix("f, row 2: column 'name' has bytes that are not UTF-8: store"), "\(error.message)")
        let report = try scene.report { $0.skipsRow = { _, _, _ in true } }
        #expect((report.created, report.rejected, report.count(.unnamed)) == (1, 1, 1))
        #expect(try scene.values("column2") == [.integer(1)])
    }

    @Test("a value that SQLite would make NULL is refused, by item and field")
    func notANumber() throws {
        let item = try scene.store.createItem()
        try item.setValue(.real(.nan), forField: "n")
        let error = try #require(throws: StoreError.self) {
            try scene.store.query().exportItems(ItemFileOptions(format: .sqlite), into: try scene.open())
        }
        let expected = "itemKey \(try item.itemKey), field n: SQLite would keep nan as NULL, which is not a value"
        #expect(error.message.hasPrefix("item ") && error.message.hasSuffix(expected), "\(error.message)")
    }
}
