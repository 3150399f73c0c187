import PredicateFormat
import PropertyList
import SQLite
import TestSupport
import Testing

@testable import Items

/// Parts of fields, numbers that a format does not have, and tables of databases with other tables.
@Suite("Exports")
struct ItemExportTests {
    private let store = ItemStore()

    private func text(_ format: ItemFileFormat, _ change: (inout ItemFileOptions) -> Void) throws -> String {
        var options = ItemFileOptions(format: format)
        change(&options)
        return String(decoding: try store.exportItems(options), as: UTF8.self)
    }

    private func add(_ name: String, _ values: PropertyListFields) throws {
        var fields = ItemFields(name: name, itemKey: name)
        for (name, value) in values { try fields.set(value, forField: name) }
        try store.createItem(fields)
    }

    @Test("a part of a field is a column")
    func nested() throws {
        let size: PropertyListFields = ["w": .integer(3), "deep": .dictionary(["x": .string("a")])]
        try add("A", ["dims": .fields(size), "a.b": .integer(1)])
        try add("B", ["dims": .integer(5)])
        let columns = ["name", "dims.w", "dims.deep.x", "a.b"]
        #expect(try text(.csv) { $0.columns = columns } == "name,dims.w,dims.deep.x,a.b\r\nA,3,a,1\r\nB,,,\r\n")
        #expect(
            try text(.jsonLines) { ($0.columns, $0.names) = (columns, ["dims.w": "width"]) }
                == "{\"name\":\"A\",\"width\":3,\"dims.deep.x\":\"a\",\"a.b\":1}\n{\"name\":\"B\"}\n")
        for name in ["dims.q", "dims.", "dims..w", "nosuch.w", "dims.w.z"] {
            let error = #expect(throws: StoreError.self) { try text(.csv) { $0.columns = [name] } }
            #expect(error?.code == .unknownField(name), "\(name)")
        }
        let error = #expect(throws: StoreError.self) { try text(.csv) { $0.names = ["dims.w": "width"] } }
        #expect(error?.message == "dims.w is a part of a field: it is renamed if it is among the columns")
        #expect(throws: StoreError.self) { try text(.keyedArchive) { $0.columns = ["dims.w"] } }
    }

    @Test("two columns of one name are refused")
    func equalNames() throws {
        try add("A", ["x": .integer(1)])
        for format in [ItemFileFormat.csv, .jsonLines, .propertyList] {
            let error = #expect(throws: StoreError.self) { try text(format) { $0.names = ["x": "name"] } }
            #expect(error?.message == "two columns have the name name: rename one, or leave it out")
        }
    }

    @Test(
        "a number that a format does not have is refused by item and field, or null and counted",
        arguments: [ItemFileFormat.csv, .tsv, .json, .jsonLines])
    func noNumbers(format: ItemFileFormat) throws {
        for (number, name) in [(Double.nan, "nan"), (.infinity, "inf"), (-.infinity, "-inf")] {
            let store = ItemStore()
            var fields = ItemFields(name: "A", itemKey: "k")
            try fields.set(.real(number), forField: "x")
            try fields.set(.array([.real(number), .integer(1)]), forField: "y")
            try store.createItem(fields)
            var options = ItemFileOptions(format: format)
            (options.columns, options.adviceOnNaN) = (["x"], ": advice")
            let error = #expect(throws: StoreError.self) { try store.exportItems(options) }
            let message = error?.message ?? ""
            #expect(message.hasPrefix("item 'A', itemKey k, field x: ") && message.hasSuffix(": advice"), "\(message)")
            #expect(message.contains("no \(name)"))
            var remarks: [String] = []
            (options.columns, options.writesNullForNaN) = (["name", "x", "y"], true)
            options.onRemark = { remarks.append($0) }
            let text = String(decoding: try store.exportItems(options), as: UTF8.self).filter {
                $0 != " " && !$0.isNewline
            }
            #expect(remarks == ["2 numbers NaN or infinite: written as null"])
            switch format {
            case .csv: #expect(text == "name,x,yA,,\"[null,1]\"")
            case .tsv: #expect(text.hasSuffix("A\t\t[null,1]"))
            default: #expect(text.contains("{\"name\":\"A\",\"x\":null,\"y\":[null,1]}"))
            }
        }
    }

    /// Values of which each format lacks some, and the formats that lack them.
    static let foreign: [(PropertyListValue, [ItemFileFormat], String)] = [
        (.wideInteger(Int128(UInt64.max) + 1), [.propertyList], "integers from -2^63 to 2^64-1"),
        (.array([.string("a\0b")]), [.propertyList], "NUL character"),
        (.dictionary(["a\0b": .integer(1)]), [.propertyList], "NUL character"),
        (.array([.null]), [.propertyList], "no null"),
        (
            .dictionary(PropertyListDictionary([(.integer(5), .integer(1))])),
            [.propertyList, .csv, .json, .jsonLines],
            "only texts as keys"
        ),
    ]

    @Test("a value that a format does not have is refused by item and field", arguments: foreign)
    func foreignValues(value: PropertyListValue, formats: [ItemFileFormat], message: String) throws {
        try add("A", ["x": .integer(1)])
        try add("B", ["x": value])
        for format in formats {
            let error = #expect(throws: StoreError.self) { try text(format) { $0.adviceOnNaN = ": advice" } }
            #expect(error?.code == .unwritableValue(field: "x"))
            #expect(error?.message.hasPrefix("item 'B', itemKey B, field x: ") == true, "\(error?.message ?? "")")
            #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
            #expect(error?.message.hasSuffix(": advice") == false, "\(error?.message ?? "")")
        }
    }

    @Test("a field's name that a format does not have is refused by its name")
    func foreignNames() throws {
        try add("A", ["a\0b": .integer(1)])
        let error = #expect(throws: StoreError.self) { try text(.propertyList) { _ in } }
        #expect(error?.message.hasPrefix("item 'A', itemKey A, field a\\0b: ") == true, "\(error?.message ?? "")")
        let scene = try SQLiteScene()
        let database = try scene.open()
        let other = #expect(throws: StoreError.self) {
            try store.query().exportItems(ItemFileOptions(format: .sqlite), into: database)
        }
        #expect(other?.code == .unwritableValue(field: "a\0b"))
        #expect(other?.message.hasPrefix("field a\\0b: ") == true, "\(other?.message ?? "")")
    }

    // MARK: SQLite

    private func declaration(_ database: SQLiteDatabase, _ table: String) throws -> String {
        let statement = try SQLiteStatement(database, "select sql from sqlite_master where name = '\(table)'")
        guard try statement.step(), case .text(let sql) = statement.cell(0) else { return "" }
        return String(decoding: sql, as: UTF8.self)
    }

    private func count(_ database: SQLiteDatabase, _ table: String) throws -> Int64 {
        let statement = try SQLiteStatement(database, "select count(*) from \(table)")
        guard try statement.step(), case .integer(let count) = statement.cell(0) else { return -1 }
        return count
    }

    @Test("types come from the items that are written, not from others, and not from removed ones")
    func types() throws {
        try add("A", ["n": .integer(1), "m": .real(1), "dims": .fields(["w": .real(2)])])
        try add("B", ["n": .string("n/a"), "m": .real(.nan)])
        let scene = try SQLiteScene()
        let database = try scene.open()
        var options = ItemFileOptions(format: .sqlite)
        options.columns = ["itemKey", "valueInDollars", "n", "m", "dims.w"]
        let exact = #""itemKey" TEXT, "valueInDollars" INTEGER, "n" INTEGER, "m" REAL, "dims.w" REAL)"#
        _ = try store.query(FormatPredicate(format: "name == 'A'")).exportItems(options, into: database)
        #expect(try declaration(database, "items").hasSuffix(exact))
        options.writesNullForNaN = true
        _ = try store.query().exportItems(options, into: database)
        #expect(try declaration(database, "items").contains(#""n" , "m" REAL"#))
        try store.removeItem(try #require(store[1]))
        _ = try store.query().exportItems(options, into: database)
        #expect(try declaration(database, "items").hasSuffix(exact))
        _ = try store.query(FormatPredicate(format: "name == 'none'")).exportItems(options, into: database)
        #expect(try declaration(database, "items").contains(#""itemKey" TEXT, "valueInDollars" INTEGER, "n" , "m" "#))
    }

    @Test("a column without values has the type that is declared of its field")
    func declaredTypes() throws {
        let kinds: [FieldDeclaration.Kind] = [.string, .integer, .real, .boolean, .date, .number, .any]
        try store.declare(kinds.map { FieldDeclaration($0.rawValue, $0) })
        try add("A", ["number": .real(1.5)])
        let scene = try SQLiteScene()
        let database = try scene.open()
        var options = ItemFileOptions(format: .sqlite)
        options.columns = kinds.map(\.rawValue)
        _ = try store.query().exportItems(options, into: database)
        #expect(
            try declaration(database, "items").hasSuffix(
                #"("string" TEXT, "integer" INTEGER, "real" REAL, "boolean" BOOLEAN, "date" DATETIME, "number" REAL, "any" )"#
            ))
    }

    @Test("a table is written beside others, in place of an earlier export, and never of a view")
    func tables() throws {
        try add("A", ["n": .real(.nan)])
        let scene = try SQLiteScene()
        try scene.run(
            "create table Things(x)", "insert into Things values(1), (2)", "create table other(x)",
            "insert into other values(7)", "create view v as select x from other")
        let database = try scene.open()
        var options = ItemFileOptions(format: .sqlite)
        var remarks: [String] = []
        (options.table, options.columns) = ("things", ["name"])
        options.onRemark = { remarks.append($0) }
        #expect(try store.query().exportItems(options, into: database) == 1)
        #expect(remarks == ["a table of this name was there, with 2 rows: replaced"])
        #expect(try database.tables() == ["other", "things", "v"])
        #expect(try count(database, "other") == 1 && count(database, "v") == 1)
        options.table = "v"
        #expect(throws: StoreError.self) { try store.query().exportItems(options, into: database) }
        // A value that is refused leaves the table as it was.
        (options.table, options.columns) = ("other", ["n"])
        #expect(throws: StoreError.self) { try store.query().exportItems(options, into: database) }
        #expect(try count(database, "other") == 1)
        #expect(try database.tables() == ["other", "things", "v"])
    }
}
