import CSV
import ColumnEngine
import PropertyList
import TestSupport
import Testing

@testable import Items

/// Comma-separated values as a spreadsheet reads them.
@Suite("Exports for spreadsheets")
struct SpreadsheetExportTests {
    private func cell(_ text: String) -> String? {
        var text = text
        return text.withUTF8 { SpreadsheetDialect(locale: "C").cell($0) }
    }

    @Test(
        "the locale has the separator and the decimal sign, unless the separator is chosen",
        arguments: [
            ("de_DE.UTF-8", nil, ";", "1,5"), ("de_DE.UTF-8", ",", ",", "1.5"), ("en_US.UTF-8", nil, ",", "1.5"),
            ("C", nil, ",", "1.5"), ("", nil, ",", "1.5"), ("C.UTF-8", ";", ";", "1,5"), ("de_CH", nil, ";", "1.5"),
            ("de_CH", ";", ";", "1.5"), ("es_MX", nil, ",", "1.5"), ("es_ES@euro", nil, ";", "1,5"),
            ("fr", "\t", "\t", "1,5"), ("en_ZA", nil, ";", "1,5"), ("POSIX", nil, ",", "1.5"),
        ] as [(String, Character?, Character, String)])
    func locales(locale: String, chosen: Character?, delimiter: Character, number: String) {
        let dialect = SpreadsheetDialect(locale: locale, delimiter: chosen?.asciiValue)
        #expect(dialect.delimiter == delimiter.asciiValue)
        #expect(dialect.cell(1.5).text == number)
    }

    @Test(
        "what a spreadsheet reads as something else is a formula with the text",
        arguments: [
            "007", "2006.10", "1e5", "1-2", "3/4", "12:30", " 5", "+49 30 1234", "=1+1", "@x", "-x", "\t=1",
            "1.234,50 €",
            "$1,622.00", "(555) 123-4567", "3 Mar 2001", "Mar 3", "12. März", "45 %", "TRUE", "wahr", "#N/A", "#REF!",
            "1 1/2", "12 PM",
        ])
    func computed(text: String) {
        #expect(cell(text) == "=\"\(text)\"")
    }

    @Test(
        "other texts are written as they are",
        arguments: [
            "", "Lamp", "12 chairs", "Room 5", "A-2", "SN-0012", "-", "+", "#1 of 2", "May", "truth", "é", "1.5 m",
            "Teapot, 1900", "{\"w\":1}", "[1]", "日本",
        ])
    func kept(text: String) {
        #expect(cell(text) == text)
    }

    @Test("a text in a formula is whole, however long, and one too long for a formula is refused")
    func long() throws {
        let text = "=" + String(repeating: "ä\"", count: 300)
        let formula = try #require(cell(text))
        #expect(formula.hasPrefix("=\"=ä\"\"ä"))
        #expect(Self.text(of: formula) == text)
        #expect(formula.split(separator: "\"&\"").allSatisfy { $0.utf16.count <= 2 * 255 })
        #expect(cell("=" + String(repeating: "x", count: 9_000)) == nil)
        #expect(cell(String(repeating: "x", count: 9_000))?.count == 9_000)
    }

    /// The value of a formula of texts.
    private static func text(of formula: String) -> String {
        String(formula.dropFirst(2).dropLast()).replacing("\"&\"", with: "").replacing("\"\"", with: "\"")
    }

    @Test("random texts are there, as they are or as the value of a formula")
    func accounting() {
        var foreign = ForeignValues(seed: 38)
        var formulas = 0
        for _ in 0..<2_000 {
            var text = foreign.random.number(3) == 0 ? foreign.pick(["=", "0", "-1", "1/2 ", "\t"]) : ""
            text += foreign.text()
            // Texts that would end a piece are another test's.
            if text.contains("\"&\"") || text.utf8.count > 200 { continue }
            let cell = cell(text) ?? ""
            if cell.hasPrefix("=\"") {
                formulas += 1
                #expect(Self.text(of: cell) == text)
            } else {
                #expect(cell == text)
                #expect(!text.hasPrefix("=") && !text.hasPrefix("\t"))
            }
        }
        #expect(formulas > 100)
    }

    @Test("amounts that are declared as money have two decimals")
    func money() throws {
        let store = ItemStore()
        var paid = FieldDeclaration("paid", .number)
        paid.format = .money
        try store.declare([paid])
        for value: PropertyListValue in [.integer(1_622), .real(12.5), .real(0.125), .integer(12_345_678_901_234)] {
            var fields = ItemFields()
            try fields.set(value, forField: "paid")
            try store.createItem(fields)
        }
        var options = ItemFileOptions(format: .csv)
        (options.spreadsheet, options.columns) = (SpreadsheetDialect(locale: "de_DE"), ["paid"])
        #expect(
            String(decoding: try store.exportItems(options), as: UTF8.self)
                == "\u{FEFF}paid\r\n1622,00\r\n12,50\r\n0,125\r\n\"=\"\"12345678901234,00\"\"\"\r\n")
    }

    @Test("days are days, moments have a blank, and what is cut or rounded is counted")
    func valuesOfAllKinds() throws {
        let store = ItemStore()
        var fields = ItemFields(name: "007")
        fields.dateCreated = ISO8601.parse("2024-01-31")
        try fields.set(.real(0.1 + 0.2), forField: "a")
        try fields.set(.integer(1_234_567_890_123_456), forField: "b")
        try fields.set(.boolean(true), forField: "c")
        try fields.set(.date(try #require(ISO8601.parse("2024-01-31T10:00:00.1234Z"))), forField: "d")
        try fields.set(.date(try #require(ISO8601.parse("1899-12-31T10:00:00Z"))), forField: "e")
        try fields.set(.real(12.5), forField: "f")
        try fields.set(.string(String(repeating: "x", count: 40_000)), forField: "long")
        try store.createItem(fields)
        var options = ItemFileOptions(format: .csv)
        options.spreadsheet = SpreadsheetDialect(locale: "de_DE")
        options.columns = ["name", "dateCreated", "valueInDollars", "a", "b", "c", "d", "e", "f"]
        var remarks: [String] = []
        options.onRemark = { remarks.append($0) }
        #expect(
            String(decoding: try store.exportItems(options), as: UTF8.self)
                == "\u{FEFF}name;dateCreated;valueInDollars;a;b;c;d;e;f\r\n"
                + #""=""007""";2024-01-31;0;0,30000000000000004;"=""1234567890123456""";true;"#
                + "2024-01-31 10:00:00,123;1899-12-31 10:00:00;12,5\r\n")
        #expect(
            remarks == [
                "1 number with more digits than the 15 that a spreadsheet reads",
                "1 date cut to milliseconds, as a spreadsheet has them",
            ])
        options.columns = ["long"]
        _ = try store.exportItems(options)
        #expect(remarks.last == "1 text longer than a cell of a spreadsheet, 32,767 characters")
    }
}
