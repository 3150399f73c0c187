import CSV
import Foundation
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// Files in the shapes that people have: each is read with what was assumed said, or with one option.
@Suite("Files as they come")
struct FileShapeTests {
    let store = ItemStore()

    @discardableResult
    private func report(
        _ text: String, _ format: ItemFileFormat = .csv, _ change: (inout ItemFileOptions) -> Void = { _ in }
    ) throws -> ItemImportReport {
        var options = ItemFileOptions(format: format)
        change(&options)
        return try store.importReport(Array(text.utf8), path: "f", options)
    }

    private func line(_ text: String) throws -> [String] {
        var said: [String] = []
        try report(text) { $0.onKinds = { said.append($0) } }
        return said
    }

    private func values(_ field: String) throws -> [PropertyListValue?] {
        try store.allItems.map { try $0.value(forField: field) }
    }

    private func date(_ text: String) throws -> PropertyListValue { .date(try #require(ISO8601.parse(text))) }

    // MARK: Numbers, dates, words

    @Test("numbers, money and dates as people write them, with what was assumed in the one line") func styles() throws {
        let said = try line(
            """
            Inventar Musterweg 1;;;;
            ;;;;
            Nr;name;Preis;Menge;Gekauft am
            0001;Lampe;65,00 €;1;02.03.2019
            0002;Teppich;1.234,50 €;4;21.08.2015

            """)
        #expect(
            said == [
                "f: \";\", 2 lines above the header left out (\"Inventar Musterweg 1\"); Menge integer; Preis real (decimal comma, thousands by points, without €, 2 decimals); Gekauft am date (dd.MM.yyyy); other columns are text"
            ])
        #expect(try values("Preis") == [.real(65), .real(1234.5)])
        #expect(try values("Gekauft am") == [date("2019-03-02"), date("2015-08-21")])
        #expect(try values("Nr") == [.string("0001"), .string("0002")])
    }

    @Test("money and other days fit the fields of every item") func domain() throws {
        try report("name,valueInDollars,dateCreated\nDesk,\"$1,622.00\",3/18/2026\nLamp,$9.00,12/1/2025\n")
        #expect(try store.allItems.map { try $0.valueInDollars } == [1622, 9])
        #expect(try values("dateCreated") == [date("2026-03-18"), date("2025-12-01")])
    }

    @Test("a comma that may be before decimals, or between thousands") func commas() throws {
        let doubted = try report("name,n\nA,\"1,234\"\nB,\"5,678\"\n")
        #expect(doubted.description.contains("n: \"1,234\" may have decimals or thousands behind its comma"))
        #expect(try values("n") == [.string("1,234"), .string("5,678")])
        try report("name,m\nA,\"1,234\"\nB,\"5,678\"\n") { $0.decimal = .comma }
        #expect(try values("m").suffix(2) == [.real(1.234), .real(5.678)])
        try report("name,k\nA,\"1,234\"\nB,\"5,678\"\n") { $0.decimal = .point }
        #expect(try values("k").suffix(2) == [.integer(1234), .integer(5678)])
        // A kind alone does not say which.
        let error = try #require(throws: StoreError.self) {
            try report("name,j\nA,\"1,234\"\n") { $0.kinds = .named(["j": .real]) }
        }
        #expect(error.message.contains("decimal = \"comma\""))
    }

    @Test("kinds that are given take the usual forms; others reject the row") func given() throws {
        let report = try report(
            "name,price,paid,bought\nA,\"$1,200.50\",ja,31.01.2024\nB,12,0,01.02.2024\nC,x,1,01.02.2024\n"
        ) {
            $0.kinds = .named([
                "price": .real, "paid": .boolean,
                "bought": ItemColumnKind(.date, dateStyle: try? DateStyle(pattern: "dd.MM.yyyy")),
            ])
            $0.skipsRow = { _, _, _ in true }
        }
        #expect((report.created, report.rejected) == (2, 1))
        #expect(try values("price") == [.real(1200.5), .real(12)])
        #expect(try values("paid") == [.boolean(true), .boolean(false)])
        #expect(try values("bought") == [date("2024-01-31"), date("2024-02-01")])
        #expect(String(decoding: report.rejects, as: UTF8.self).contains("price takes a number: \"\"x\"\" is not one"))
    }

    @Test("a pattern for all dates leaves the columns that are none") func pattern() throws {
        try report("name,a,b,n\nA,03/04/2021,2021-04-03,5\n") { $0.dateStyle = try? DateStyle(pattern: "dd/MM/yyyy") }
        #expect(try values("a") == [date("2021-04-03")])
        #expect(try values("b") == [date("2021-04-03")])
        #expect(try values("n") == [.integer(5)])
        try report("name,c\nA,2024-01-31 10:00:00\n")
        #expect(try values("c").last == date("2024-01-31T10:00:00Z"))
    }

    @Test("texts that stand for no value") func nulls() throws {
        let report = try report("name,n,NA\nA,1,x\nB,NA,y\nC,-,NA\n") { $0.nulls = ["NA", "-"] }
        #expect(try values("n") == [.integer(1), nil, nil])
        #expect(try values("NA") == [.string("x"), .string("y"), nil])
        #expect(report.remarks.isEmpty)
    }

    // MARK: Lines and columns

    @Test("lines above the header, comments, and files without a header") func lines() throws {
        try report("Title, with a comma\nname,a\n// note\nX,1\n") { ($0.skippedLines, $0.comment) = (1, "//") }
        #expect(try values("a") == [.integer(1)])
        try report("5.1,setosa\n4.9,versicolor\n") { $0.header = .none }
        #expect(try values("column1").suffix(2) == [.real(5.1), .real(4.9)])
        try report("Lamp,12\nBear,x,\n") {
            ($0.header, $0.skipsRow) = (.names(["name", "price"]), { _, _, _ in true })
        }
        #expect(store.count == 4)
    }

    @Test("columns that only look alike have names and kinds of their own") func lookAlikes() throws {
        let (one, two) = ("caf\u{E9}", "cafe\u{301}")
        try report("name,\(one),\(two)\nA,1,2\n") {
            $0.names = [one: "first", two: "second"]
            $0.kinds = .named(["first": .string, "second": .real])
        }
        #expect(try values("first") == [.string("1")])
        #expect(try values("second") == [.real(2)])
        try report("name,\(one),\(two)\nB,1,2\n") {
            $0.names = [one: nil]
            $0.kinds = .named([two: .string])
        }
        #expect(try values(two) == [nil, .string("2")])
        #expect(try values(one).allSatisfy { $0 == nil })
        #expect(throws: StoreError.self) { try report("name,\(one)\nC,1\n") { $0.names = [two: "first"] } }
    }

    @Test("rejected rows are imported again as they are, once they are corrected") func rejects() throws {
        let skipping: (inout ItemFileOptions) -> Void = { $0.skipsRow = { _, _, _ in true } }
        let first = try report("name;valueInDollars;note\nA;1;\nB;two;\"x;y\"\nC;\"3\" 4;\n") { skipping(&$0) }
        let rejects = String(decoding: first.rejects, as: UTF8.self)
        #expect(
            rejects
                == "name;valueInDollars;note;error\r\nB;two;\"x;y\";\"valueInDollars takes an integer: \"\"two\"\" is not one\"\r\nC;\"3\" 4;;\"line 4: text after a closing quote; in a quoted cell write a quote as two quotes\"\r\n"
        )
        let corrected = rejects.replacing("two", with: "2").replacing("\"3\" 4", with: "34")
        let second = try report(corrected) { skipping(&$0) }
        #expect((second.created, second.rejected) == (2, 0))
        #expect(second.count(.leftOut) == 1)
        #expect(try values("error") == [nil, nil, nil])
        #expect(try store.allItems.map { try $0.valueInDollars } == [1, 2, 34])
        #expect(try values("note") == [nil, .string("x;y"), nil])
    }

    @Test(
        "rejected records of JSON are as they were, with the last reason", arguments: [ItemFileFormat.json, .jsonLines])
    func rejectedRecords(_ format: ItemFileFormat) throws {
        let records = [
            #"{"$error":"x", "name":true,"n":1.0 }"#, #"{"name":false,"e":1e2,"w":9007199254740993.0}"#,
            #"{ "a":1,"a":2,"name":"\u0041", "$error" : "y","name":[] }"#,
        ]
        let isJSON = format == .json
        let text =
            isJSON
            ? "{\"all\":[\(records.joined(separator: ",")),{\"name\":\"B\"}]}" : records.joined(separator: "\n")
        let first = try report(text, format) { $0.skipsRow = { _, _, _ in true } }
        #expect((first.created, first.rejected) == (isJSON ? 1 : 0, 3))
        let rejects = String(decoding: first.rejects, as: UTF8.self)
        for kept in [
            #"{"name":true,"n":1.0, "$error": "name"#,
            #"{"name":false,"e":1e2,"w":9007199254740993.0, "$error": "name"#,
            #"{ "a":1,"a":2,"name":"\u0041","name":[], "$error": "name"#,
        ] { #expect(rejects.contains(kept), "\(rejects)") }
        let again = try report(rejects, format) { $0.skipsRow = { _, _, _ in true } }
        #expect(again.created == 0 && again.rejects == first.rejects)
    }

    @Test("a rejected record is found by the keys that lead to it, and copied only if it is asked for")
    func rejectedPlaces() throws {
        let records = #"[ {"name": "A", "t":"]}\\\""},7 , {"n":1e0,"name":true}]"#
        let within = records.replacing("7 ,", with: "")
        let wrapped = #"{"a]\"": [1, {}, true, false, null], "data": [0], "d\u0061ta": {"x.y":"# + within + "}}"
        for (text, rejected) in [(records, 2), ("\u{FEFF}" + records, 2), (wrapped, 1)] {
            let said = try report(text, .json) { $0.skipsRow = { _, _, _ in true } }
            #expect((said.created, said.rejected) == (1, rejected))
            let rejects = String(decoding: said.rejects, as: UTF8.self)
            #expect(rejects.contains(#"{"n":1e0,"name":true, "$error": "name"#), "\(rejects)")
            let unasked = try report(text, .json) {
                $0.skipsRow = { _, _, _ in true }
                $0.keepsRejects = false
            }
            #expect(unasked.rejected == rejected && unasked.rejects.isEmpty)
        }
    }

    @Test("rejected records of a property list keep parts of a second, and what XML lacks")
    func rejectedPropertyList() throws {
        let date = PropertyListValue.date(PropertyListDate(secondsSinceReferenceDate: 0.25))
        for extra in [date, .string("\u{1}"), .null, .integer(1)] {
            let record = PropertyListValue.fields(["name": .boolean(true), "extra": extra])
            var options = ItemFileOptions(format: .propertyList)
            options.skipsRow = { _, _, _ in true }
            let report = try store.importReport(
                PropertyListValue.array([record]).encoded(as: .binary), path: "f", options)
            guard case .array(let records) = try PropertyListValue(decoding: report.rejects) else {
                Issue.record("no array")
                return
            }
            #expect(records.first?.fields?["extra"] == extra)
            #expect(report.rejects.starts(with: "<?xml".utf8) == (extra == .integer(1)))
        }
    }

    @Test("what a property list has otherwise than it is read is said") func damagedPropertyList() throws {
        let report = try report(
            "<plist><array>\n<dict><key>name</key><string>A</string>\n<key>d</key><date>2023-02-29T00:00:00Z</date><key>name</key><string>B</string></dict></array></plist>",
            .propertyList)
        #expect(
            report.remarks.map(\.description) == [
                "line 3: no calendar has the date “2023-02-29T00:00:00Z”; it reads as 2023-03-01T00:00:00Z",
                "line 2: the key “name” stands twice in a dictionary; the last counts",
            ])
    }

    @Test("rejected rows keep the lines left out, and files without a header") func rejectedForms() throws {
        func change(_ options: inout ItemFileOptions) {
            options.skipsRow = { _, _, _ in true }
            (options.skippedLines, options.header) = (1, .names(["name", "valueInDollars"]))
        }
        let first = try report("from the shop\nA,1\nB,two\n", .csv, change)
        let text = String(decoding: first.rejects, as: UTF8.self)
        #expect(text.hasPrefix("from the shop\r\nB,two,\"error: valueInDollars"))
        let second = try report(text.replacing("B,two", with: "B,2"), .csv, change)
        #expect((second.created, second.rejected) == (1, 0))
        #expect(try store.allItems.map { try $0.valueInDollars } == [1, 2])
        let lines = try report("{\"name\":\"C\"}\n{\"name\":true,\"n\":1}\n{\"name\":\n", .jsonLines) {
            $0.skipsRow = { _, _, _ in true }
        }
        #expect((lines.created, lines.rejected) == (1, 2))
        let corrected = String(decoding: lines.rejects, as: UTF8.self)
            .replacing("\"name\":true", with: "\"name\":\"D\"").replacing("{\"name\":\n", with: "{\"name\":\"E\"}\n")
        #expect(try report(corrected, .jsonLines).created == 2)
        #expect(try store.allItems.map { try $0.name } == ["A", "B", "C", "D", "E"])
        #expect(try values("$error").allSatisfy { $0 == nil })
    }

    // MARK: Again

    @Test("an update that would change nothing but kinds changes nothing, and another kind is said") func kindsAlone()
        throws
    {
        func again(_ text: String) throws -> ItemImportReport {
            try report(text) { ($0.key, $0.updates) = (["sku"], true) }
        }
        #expect(try again("sku,n,d,b\n1,5,31.01.2024,true\n2,6.5,02.03.2023,false\n").created == 2)
        let second = try again("sku,n,d,b\n1,5,31.01.2024,true\n2,6.5,x,false\n4,n/a,01.02.2023,?\n")
        #expect((second.created, second.updated, second.unchanged) == (1, 1, 1))
        #expect(second.description.contains("n: 1 of 3 cells is not a number (\"n/a\"): text; it was real"))
        #expect(second.count(.formerKinds) == 3)
        #expect(try values("n") == [.real(5), .real(6.5), .string("n/a")])
        // What is text stays text, and is not changed by a number that reads the same.
        let third = try again("sku,n\n1,5\n4,7\n")
        #expect((third.updated, third.unchanged) == (1, 1))
        #expect(try values("n") == [.real(5), .real(6.5), .string("7")])
    }

    /// Values of each kind that some formats write as another.
    private static let exported: PropertyListFields = [
        "tags": .array([.string("x"), .data([0, 1]), .null]), "none": .array([]),
        "dims": .dictionary(["w": .real(2), "at": .date(PropertyListDate(secondsSinceReferenceDate: 0.25))]),
        "blob": .data([0, 1]), "digits": .data([0xD7, 0x6D, 0xF8]),
        "wide": .wideInteger(Int128(UInt64.max)), "least": .wideInteger(Int128(Int64.min) - 1),
        "large": .integer(.max), "single": .single(0.1), "flag": .boolean(true),
        "day": .date(PropertyListDate(secondsSinceReferenceDate: 86400)), "n": .real(5), "t": .string("[1]"),
    ]

    @Test(
        "an export that is imported again by key changes nothing, with whatever values, and says nothing",
        arguments: [ItemFileFormat.csv, .tsv, .json, .jsonLines, .sqlite, .keyedArchive])
    func exportAgain(_ format: ItemFileFormat) throws {
        var fields = ItemFields(name: "A")
        for (name, value) in Self.exported { try fields.set(value, forField: name) }
        try store.createItem(fields)
        var options = ItemFileOptions(format: format)
        (options.key, options.updates) = (["name"], true)
        let scene = try SQLiteScene()
        var bytes: [UInt8] = []
        if format == .sqlite {
            let database = try scene.open()
            _ = try store.query().exportItems(options, into: database)
            options.openDatabase = { database }
        } else {
            bytes = try store.exportItems(options)
        }
        // A boolean of SQLite is a number but for its column's kind.
        for kinds in format == .sqlite ? [.inferred] : [ItemFileKinds.inferred, .text] {
            options.kinds = kinds
            if format == .sqlite { options.openDatabase = { try scene.open() } }
            let report = try store.importReport(bytes, path: "f", options)
            #expect((report.created, report.updated, report.unchanged) == (0, 0, 1), "\(format) \(report)")
            #expect(report.count(.formerKinds) == 0, "\(report)")
            for (name, value) in Self.exported { #expect(try values(name) == [value], "\(format) \(name)") }
        }
    }

    @Test(
        "an array, a dictionary, data and a wide integer that become another value are said, whatever file brings it",
        arguments: [ItemFileFormat.csv, .jsonLines])
    func collectionsReplaced(_ format: ItemFileFormat) throws {
        let former: [(PropertyListValue, String)] = [
            (.array([.string("x")]), "array"),
            (.dictionary(["w": .integer(2)]), "dictionary"), (.data([0, 1]), "data"),
            (.wideInteger(Int128(UInt64.max)), "number"),
        ]
        for (place, (value, kind)) in former.enumerated() {
            let store = ItemStore()
            for name in ["A", "B"] {
                var fields = ItemFields(name: name)
                try fields.set(value, forField: "x")
                try store.createItem(fields)
            }
            var options = ItemFileOptions(format: format)
            (options.key, options.updates) = (["name"], true)
            let text = format == .csv ? "name,x\nA,y\n" : "{\"name\":\"A\",\"x\":\"y\"}\n"
            let report = try store.importReport(Array(text.utf8), path: "f", options)
            #expect((report.updated, report.count(.formerKinds)) == (1, 1), "\(place)")
            let isByColumn = format == .csv && kind == "number"
            let what = isByColumn ? "1 of 1 cells is not a number (\"y\"): text" : "1 of 2 values is a text (\"y\")"
            #expect(report.description.hasSuffix("x: \(what); it was \(kind)"), "\(report)")
            #expect(try store.allItems.map { try $0.value(forField: "x") } == [.string("y"), value])
        }
    }

    @Test("rows without a key are new items, and counted") func keyless() throws {
        let report = try report("id,name\n,a\n1,b\n") { ($0.key, $0.updates) = (["id"], true) }
        #expect((report.created, report.count(.withoutKey)) == (2, 1))
        #expect(report.description.contains("1 row without id: a new item, again with each import"))
    }

    @Test("no column that is the name is said, with those that could be") func noName() throws {
        let report = try report("Item,Room\nLamp,Study\n")
        #expect(report.description.contains("no column is the name of the items: give map = { [\"Item\"] = \"name\" }"))
        #expect(try self.report("name\nLamp\n").count(.noName) == 0)
    }

    // MARK: Compressed files and spreadsheets

    private func bytes(_ base64: String) throws -> [UInt8] {
        Array(try #require(Data(base64Encoded: base64, options: .ignoreUnknownCharacters)))
    }

    @Test("a file compressed by gzip is its content; a damaged one is refused") func gzip() throws {
        #expect(ItemFileFormat(path: "a.csv.gz") == .csv && ItemFileFormat(path: "a.jsonl.gz") == .jsonLines)
        var packed = try bytes("H4sIALBFB2sC/8tLzE3VSeSK0DHkAgBjSkT6CwAAAA==")
        #expect(try store.importReport(packed, path: "f", ItemFileOptions(format: .csv)).created == 1)
        #expect(try values("a") == [.integer(1)])
        packed.removeLast(12)
        let error = try #require(throws: StoreError.self) {
            try store.importReport(packed, path: "f", ItemFileOptions(format: .csv))
        }
        #expect(error.message.hasPrefix("f: the compressed file"), "\(error.message)")
        #expect(store.count == 1)
    }

    private func sheet(
        _ name: String, _ format: ItemFileFormat, _ change: (inout ItemFileOptions) -> Void = { _ in }
    ) throws -> ItemImportReport {
        let path = "\(Project.root)/Tests/Fixtures/spreadsheets/\(name).base64"
        let bytes = try bytes(try String(contentsOfFile: path, encoding: .utf8))
        var options = ItemFileOptions(format: format)
        change(&options)
        return try store.importReport(bytes, path: name, options)
    }

    @Test("numbers, days and moments of a sheet are the cells' own") func sheets() throws {
        var said: [String] = []
        let report = try sheet("openpyxl.xlsx", .xlsx) { $0.onKinds = { said.append($0) } }
        #expect(said == ["openpyxl.xlsx: the sheet \"Tools\""])
        #expect((report.created, report.count(.otherKinds), report.count(.objects)) == (3, 2, 2))
        #expect(report.remarks.contains { $0.description.hasPrefix("1 formula without a value in the file (I2): ") })
        #expect(try values("bought").first == date("2024-01-31"))
        #expect(try values("price").prefix(2) == [.real(39.95), .real(1e20)])
        #expect(try values("n").prefix(2) == [.integer(3), .integer(-12)])
        #expect(try values("bought").last == .string("0017"))
        let nulls = try sheet("openpyxl.xlsx", .xlsx) { ($0.nulls, $0.sheet) = (["#N/A", "#DIV/0!"], "tools") }
        #expect(nulls.created == 3)
        #expect(try values("err").suffix(3) == [nil, nil, nil])
        #expect(try sheet("odfpy.ods", .ods).created == 3)
        said = []
        let empty = try sheet("openpyxl.xlsx", .xlsx) {
            ($0.sheet, $0.skippedLines, $0.onKinds) = ("hidden", 5, { said.append($0) })
        }
        let others = "Tools, Größe & <Maß> (sheet = \"Tools\")"
        #expect(said == ["openpyxl.xlsx: the sheet \"hidden\" has no row behind row 5; others: \(others)"])
        #expect(empty.total == 0)
        let error = try #require(throws: StoreError.self) { try sheet("odfpy.ods", .ods) { $0.sheet = "Werkzeuge" } }
        #expect(error.message.contains("it has no sheet 'Werkzeuge'; did you mean 'Werkzeug'?"), "\(error.message)")
    }

    // MARK: JSON

    @Test(
        "the shapes of JSON",
        arguments: [
            (#"[{"name":"A"},{"name":"B"}]"#, 2), (#"{"name":"A","parts":[{"x":1},{"x":2}]}"#, 1),
            (#"{"count":2,"results":[{"name":"A"},{"name":"B"}]}"#, 2), (#"{"name":"A"}{"name":"B"}"#, 2),
            ("{\"name\":\"A\"}\n{\"name\":\"B\"}\n", 2), (#"{"data":{"items":[{"name":"A"}]},"n":1}"#, 1),
        ])
    func json(_ text: String, _ count: Int) throws {
        #expect(try report(text, .json).created == count)
        #expect(try values("name").first == .string("A"))
    }

    @Test("several arrays are refused by name, and one is chosen") func paths() throws {
        let text = #"{"data":{"a":[{"name":"A"}],"b":[{"name":"B"}]}}"#
        let error = try #require(throws: StoreError.self) { try report(text, .json) }
        #expect(error.message.contains("data.a, data.b): give path = \"data.a\""), "\(error.message)")
        #expect(try report(text, .json) { $0.recordPath = "data.b" }.created == 1)
        #expect(try values("name") == [.string("B")])
        let missing = try #require(throws: StoreError.self) { try report(text, .json) { $0.recordPath = "data.c" } }
        #expect(missing.message.contains("it has nothing at data.c"))
        #expect(try report("[{\"name\":\"C\"},{\"name\":\"D\"}]\n", .jsonLines).created == 2)
    }

    @Test("numbers are texts in a field of texts, and a field that gets other kinds is said") func otherKinds() throws {
        let first = try report(#"[{"name":123,"x":1},{"name":18446744073709551615,"x":2.5}]"#, .json)
        #expect(try values("name") == [.string("123"), .string("18446744073709551615")])
        #expect(first.remarks.isEmpty)
        let second = try report(#"[{"name":"A","x":"two"}]"#, .json)
        #expect(second.remarks.map(\.description) == ["x: 1 of 3 values is a text (\"two\"); it was real"])
    }
}
