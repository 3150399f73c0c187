import CSV
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// Cells that could be taken for another value: they are carried exactly, or refused with their row.
@Suite("Cells in doubt")
struct DoubtfulCellTests {
    let store = ItemStore()

    @discardableResult
    private func report(
        _ text: String, _ format: ItemFileFormat = .csv, _ change: (inout ItemFileOptions) -> Void = { _ in }
    ) throws -> ItemImportReport {
        var options = ItemFileOptions(format: format)
        change(&options)
        return try store.importReport(Array(text.utf8), path: "f", options)
    }

    private func message(
        _ text: String, _ format: ItemFileFormat = .csv, _ change: (inout ItemFileOptions) -> Void = { _ in }
    ) throws -> String {
        try #require(throws: StoreError.self) { try report(text, format, change) }.message
    }

    private func values(_ field: String) throws -> [PropertyListValue?] {
        try store.allItems.map { try $0.value(forField: field) }
    }

    private func date(_ text: String) throws -> PropertyListValue { .date(try #require(ISO8601.parse(text))) }

    // MARK: Orders of dates

    private static let bothOrders = "name,d\nA,1/2/2024\nB,13/2/2024\n"

    @Test("a pattern is that of its whole column: a date in another order is refused", arguments: ["d", "dateCreated"])
    func orders(field: String) throws {
        let style = try DateStyle(pattern: "M/d/yyyy")
        let text = Self.bothOrders.replacing(",d", with: ",\(field)")
        var kinds = ""
        let said = try message(text) {
            $0.kinds = .named([field: ItemColumnKind(.date, dateStyle: style)])
            $0.onKinds = { kinds = $0 }
        }
        #expect(kinds.contains("\(field) date (M/d/yyyy)"), "\(kinds)")
        #expect(said == "f, row 3: \(field) takes a date as M/d/yyyy: \"13/2/2024\" is not one")
        // ISO 8601 has an order of its own.
        let iso = "name,\(field)\nA,1/2/2024\nB,2024-02-13\n"
        #expect(
            try message(iso) { $0.kinds = .named([field: ItemColumnKind(.date, dateStyle: style)]) }.contains("row 3"))
    }

    @Test("the pattern of a file is tried first, for whole columns", arguments: [["d"], []])
    func filePattern(given: [String]) throws {
        func change(_ options: inout ItemFileOptions) throws {
            options.dateStyle = try DateStyle(pattern: "M/d/yyyy")
            options.kinds = .named(given.isEmpty ? [:] : ["d": .date])
        }
        try report("name,d\nA,1/2/2024\nB,12/2/2024\n") { try? change(&$0) }
        #expect(try values("d") == [date("2024-01-02"), date("2024-12-02")])
        try report(Self.bothOrders) { try? change(&$0) }
        #expect(try values("d").suffix(2) == [date("2024-02-01"), date("2024-02-13")])
    }

    @Test("a pattern in which texts of ISO 8601 are other dates has none of them beside it")
    func isoOrder() throws {
        for (pattern, day, other) in [("yyyy-dd-MM", "2024-02-01", "2024-01-13"), ("yyyyddMM", "20240201", "20240113")]
        {
            let said = try message("name,dateCreated\nA,\(day)\nB,\(other)\nC,x\n") {
                $0.dateStyle = try? DateStyle(pattern: pattern)
            }
            #expect(said.contains("row 3: dateCreated takes a date as \(pattern): \"\(other)\" is not one"))
        }
    }

    // MARK: Days and moments

    @Test("days are those by the form of their texts: a moment at midnight is a moment")
    func days() throws {
        let pattern = try DateStyle(pattern: "dd.MM.yyyy HH:mm")
        try report(
            "name,day,at,blank,given,plain\nA,2024-01-31,2024-01-31T00:00:00Z,31.01.2024 00:00,31.01.2024 00:00,1/31/2024\n"
        ) { $0.kinds = .named(["given": ItemColumnKind(.date, dateStyle: pattern)]) }
        #expect(["day", "at", "blank", "given", "plain"].map(store.hasDays) == [true, false, false, false, true])
        for field in ["day", "at", "blank", "given", "plain"] {
            #expect(try values(field) == [date("2024-01-31")], "\(field)")
        }
    }

    // MARK: Digits

    private static let surplus = [
        "2024-01-31T10:00:00.123456789Z", "9999-12-31T23:59:59.999999999Z", "2016-06-15T12:30:60Z",
        "2016-12-31T23:59:60+01:00",
    ]

    @Test("a date with digits that none has is no date, whichever way it comes", arguments: surplus)
    func digits(text: String) throws {
        #expect(ISO8601.parse(text) == nil)
        let row = "dateCreated takes a date in ISO 8601: \"\(text)\" is not one"
        #expect(try message("name,dateCreated\nA,\(text)\n").contains(row))
        #expect(try message("[{\"name\":\"A\",\"dateCreated\":\"\(text)\"}]", .json).contains(row))
        #expect(try message("name,d\nA,\(text)\n") { $0.kinds = .named(["d": .date]) }.contains("d takes a date"))
        try report("name,e\nA,\(text)\n")
        #expect(try values("e") == [.string(text)])
        #expect(throws: StoreError.self) { try store.convert("e", to: .date) }
        #expect(throws: (any Error).self) {
            try store.declare([FieldDeclaration("e", .fields(["kind": .string("date")]))], converting: true)
        }
    }

    @Test("digits that a date has are read, and the last second of a day in UTC is the next one's first")
    func exactDigits() throws {
        for text in [
            "2024-01-31T10:00:00.123456Z", "2024-01-31T10:00:00.12345600000Z", "2001-01-01T00:00:00.000000001Z",
            "9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00.25Z",
        ] {
            let date = try #require(ISO8601.parse(text), "\(text)")
            #expect(ISO8601.nearest(text) == date)
            #expect(ISO8601.parse(date.exchangeText) == date)
        }
        for text in ["2016-12-31T23:59:60Z", "2017-01-01T00:59:60+01:00", "2016-12-31 18:59:60-0500"] {
            #expect(ISO8601.parse(text) == ISO8601.parse("2017-01-01"), "\(text)")
        }
    }

    // MARK: Numbers

    @Test("a decimal sign that is given is the only one")
    func decimals() throws {
        let (points, commas) = ("name,n\nA,1.234\nB,1.5\n", "name,n\nA,1.234\nB,\"1,5\"\n")
        try report(commas.replacing(",n", with: ",free"))
        #expect(try values("free") == [.real(1234), .real(1.5)])
        for (text, sign) in [(commas, NumberStyle.Decimal.point), (points, .comma)] {
            let report = try report(text) { $0.decimal = sign }
            #expect(report.count(.doubts) == 1)
            #expect(try values("n").suffix(2).allSatisfy { if case .string? = $0 { true } else { false } })
            let kinds = ItemFileKinds.named(["m": .real])
            #expect(
                try message(text.replacing(",n", with: ",m")) { ($0.decimal, $0.kinds) = (sign, kinds) }
                    .contains("m takes a number"))
        }
    }

    @Test("what a field does not hold of a taken value is counted: signs beside others, times of days")
    func losses() throws {
        var day = FieldDeclaration("day", .date)
        day.format = .day
        try store.declare([day])
        let text = "name,n,p,day\nA,$5,12%,2024-01-31T10:00:00Z\nB,€6,0.12,2024-01-31T23:30:00-05:00\nC,7,1,x\n"
        let report = try report(text) {
            $0.kinds = .named(["n": .integer, "p": .real])
            $0.skipsRow = { _, _, _ in true }
        }
        #expect(
            report.remarks.map(\.description) == [
                "n: 1 number with $, read without it", "p: 1 number with %, read without it",
                "day: 2 dates lost their times, and are the days in UTC (2024-01-31T10:00:00Z)",
                "n: 1 number with €, read without it",
            ])
        #expect(try values("day") == [date("2024-01-31"), date("2024-02-01")])
        // One style is said in the line of kinds.
        var kinds = ""
        let uniform = try self.report("name,n\nD,$8\nE,$9\n") {
            ($0.kinds, $0.onKinds) = (.named(["n": .integer]), { kinds = $0 })
        }
        #expect(uniform.remarks.isEmpty && kinds.contains("n integer (without $)"))
        let json = try self.report("[{\"name\":\"A\",\"day\":\"2024-01-31T10:00:00Z\",\"n\":\"5 €\"}]", .json) {
            $0.kinds = .named(["n": .integer])
        }
        #expect(json.count(.objects) == 2)
    }

    @Test("whole numbers with an exponent have all digits, and -0 is no integer, also where kinds are given")
    func exponents() throws {
        try report("name,n\nA,123456789012345678e3\nB,9007199254740993e1\nC,1e23\n") {
            $0.kinds = .named(["n": .number])
        }
        #expect(
            try values("n") == [
                .wideInteger(123_456_789_012_345_678_000), .integer(90_071_992_547_409_930), .real(1e23),
            ])
        #expect(
            try message("name,r\nA,123456789012345678e3\n") { $0.kinds = .named(["r": .real]) }
                .contains("none is 123456789012345678e3 exactly"))
        for text in ["-0", "-0.0", "\"-0,0\""] {
            #expect(
                try message("name,z\nA,\(text)\nB,\"1,5\"\n") { $0.kinds = .named(["z": .integer]) }
                    .contains("row 2: z takes an integer"), "\(text)")
        }
        try store.createItem().setValue(.real(-0.0), forField: "y")
        #expect(throws: StoreError.self) { try store.declare([FieldDeclaration("y", .integer)], converting: true) }
    }

    // MARK: Files without records

    @Test(
        "JSON in a file of comma-separated values is said",
        arguments: ["[{\"name\":\"A\"}]", "[\n  {\n \"name\": \"A\"\n}\n]\n", "{\"name\":\"A\"}\n"])
    func json(text: String) throws {
        #expect(try message(text) == "f: it is JSON by its first bytes: give format = \"json\"")
    }

    @Test("an object whose array of records is empty is no item")
    func noRecords() throws {
        let text = "{\"count\":0,\"data\":{\"results\":[]}}"
        #expect(
            try message(text, .json).hasPrefix("f: there are no records, since data.results is empty: give path = "))
        #expect(try report(text, .json) { $0.recordPath = "data.results" }.total == 0)
        try report("{\"name\":\"A\",\"tags\":[]}", .json)
        try report("{\"Title\":\"B\",\"tags\":[]}", .json) { $0.names = ["Title": "name"] }
        #expect(store.count == 2)
    }

    @Test("an option of another format is found") func foreignOptions() {
        let options: [(name: String, format: ItemFileFormat, set: (inout ItemFileOptions) -> Void)] = [
            ("delimiter", .xlsx, { $0.delimiter = 9 }), ("comment", .json, { $0.comment = "#" }),
            ("encoding", .sqlite, { $0.encoding = .latin1 }), ("skip", .jsonLines, { $0.skippedLines = 1 }),
            ("header", .propertyList, { $0.header = .none }), ("null", .json, { $0.nulls = ["-"] }),
            ("sheet", .csv, { $0.sheet = "a" }), ("path", .csv, { $0.recordPath = "a" }),
            ("table", .ods, { $0.table = "a" }),
        ]
        for (name, format, set) in options {
            var options = ItemFileOptions(format: format)
            #expect(options.foreignOption == nil)
            set(&options)
            #expect(options.foreignOption?.name == name)
        }
    }
}
