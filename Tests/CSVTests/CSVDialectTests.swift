import Foundation
import PropertyList
import TestSupport
import Testing

@testable import CSV

/// A text as a table: by what its beginning shows, and by what its columns are.
struct FoundTable {
    let dialect: CSVDialect
    private(set) var names: [String] = []
    private(set) var rows: [[String]] = []
    private(set) var results: [ColumnResult] = []

    /// The file's bytes are decoded as found.
    init(_ bytes: [UInt8], given: CSVDialect.Given = CSVDialect.Given(), nulls: [String] = []) throws {
        dialect = CSVDialect(
            of: Array(bytes.prefix(CSVDialect.headSize)), isWhole: bytes.count <= CSVDialect.headSize, given)
        let encodings: [TextEncoding: String.Encoding] = [
            .utf8: .utf8, .windows1252: .windowsCP1252, .utf16LittleEndian: .utf16LittleEndian,
            .utf16BigEndian: .utf16BigEndian,
        ]
        let text = try #require(String(data: Data(bytes), encoding: encodings[dialect.encoding] ?? .utf8))
        let reader = try CSVReader(bytes: Array(text.utf8), options: dialect.options(hasHeader: given.hasHeader))
        names = try reader.header()?.strings ?? []
        var inference: TableInference?
        var row = CSVRow()
        while try reader.next(into: &row) {
            if inference == nil {
                inference = TableInference(columns: max(names.count, row.count), nulls: CellNulls(nulls))
            }
            inference?.add(row)
            rows.append(try #require(row.strings))
        }
        results = inference?.results(delimiter: dialect.delimiter) ?? []
    }

    var formats: [CellFormat] { results.map(\.format) }

    /// The values of a column; nil for an empty cell, and for one that is not of the format.
    func values(_ column: Int) -> [PropertyListValue?] {
        rows.map { row in
            column < row.count && !row[column].isEmpty
                ? Array(row[column].utf8).withUnsafeBufferPointer { formats[column].value(of: $0) } : nil
        }
    }
}

@Suite("CSV as people have it") struct CSVDialectTests {
    private func table(_ text: String, nulls: [String] = []) throws -> FoundTable {
        try FoundTable(Array(text.utf8), nulls: nulls)
    }

    @Test(
        "the delimiter that most rows have equally often",
        arguments: [
            ("name;price\nLamp;12\nBear;3\n", ";"), ("name|price\nLamp|12\n", "|"), ("a\tb,c\n1\t2\n3\t4\n", "\t"),
            ("name,price\nLamp;x,12\nBear;y,3\n", ","), ("name;price;qty\nLamp;12,50;1.234\nBear;3,00;2\n", ";"),
            ("name,note\n\"a;b;c\",\"d\"\n\"e;f;g\",h\n", ","), ("name\nLamp\nBear, brown\n", ","), ("", ","),
            ("a,b\n1,2\n1;2;3,4\n", ","), ("a;b\n1,5;2,5\n3,5;4,5\n", ";"), ("1,5;2,5\n3,5;4,5\n", ";"),
            ("a,b,\n1,2,\n", ","), ("sep=;\na;b\n", ";"), ("sep=|\r\na|b\r\n", "|"),
        ])
    func delimiter(text: String, delimiter: String) throws {
        #expect(try table(text).dialect.delimiter == delimiter.utf8.first)
    }

    @Test("a title that is plainly one is left out, and said") func titles() throws {
        var found = try table("Report of May\nPrinted by office\n\nname,a\nX,1\nY,2\n")
        #expect(found.names == ["name", "a"])
        #expect(found.dialect.phrase == "3 lines above the header left out (\"Report of May\")")
        found = try table("Inventar;;\r\nStand;;\r\n;;\r\nNr.;Preis (€);Raum\r\n1;65,00 €;Büro\r\n2;40,00 €;Küche\r\n")
        #expect(found.names == ["Nr.", "Preis (€)", "Raum"])
        #expect(found.dialect.phrase == "\";\", 3 lines above the header left out (\"Inventar\")")
        // One column is no title, a row of values no header.
        for text in [
            "name\nLamp\n", "HDR,FILE,22/09/2015\nDET,1,a,b,c\nDET,2,d,e,f\n", "a\n1,2\n3,4\n", "a,b\nx\ny,2\n",
        ] {
            #expect(try table(text).dialect.skippedLines == 0, "\(text)")
        }
    }

    @Test("comments") func comments() throws {
        let found = try table("# exported 2024-01-01\nname,a\nX,1\n# mid comment\nY,2\n#1,3\n")
        #expect(found.names == ["name", "a"])
        #expect(found.rows == [["X", "1"], ["Y", "2"], ["#1", "3"]])
        #expect(found.dialect.phrase == "lines that begin with # left out")
        var given = CSVDialect.Given()
        given.comment = Array("//".utf8)
        #expect(try FoundTable(Array("//a\na,b\n//\n/1,2\n//".utf8), given: given).rows == [["/1", "2"]])
    }

    @Test("blanks behind each delimiter") func blanks() throws {
        let found = try table("Tag, COST, NO.\n1001, \"1,735.00\", PC08X\n1002, 199.00, 00012\n")
        #expect(found.names == ["Tag", "COST", "NO."])
        #expect(found.rows == [["1001", "1,735.00", "PC08X"], ["1002", "199.00", "00012"]])
        #expect(found.dialect.phrase == "blanks behind delimiters left out")
        #expect(try !table("a, b\n1,2\n").dialect.skipsBlanks)
    }

    @Test("encodings") func encodings() throws {
        let text = "name,größe\nCafé,1\n"
        for (encoding, name) in [
            (String.Encoding.utf16LittleEndian, TextEncoding.utf16LittleEndian), (.utf16BigEndian, .utf16BigEndian),
            (.windowsCP1252, .windows1252), (.utf8, .utf8),
        ] {
            let found = try FoundTable(Array(try #require(text.data(using: encoding))))
            #expect(found.dialect.encoding == name)
            #expect(found.rows == [["Café", "1"]])
        }
    }

    @Test("skipping, and rows that are read again behind a malformed one", arguments: [1, 2, 3, 65536])
    func recovery(piece: Int) throws {
        let text = Array("a,b\nA,\"big\" one\nB,ok\nC,\"open\nD,1\r\nE,\"x\ny\"\nF,\"z".utf8)
        var options = CSVOptions()
        options.recovers = true
        var given = 0
        let reader = try CSVReader(options: options) { buffer throws(CSVError) in
            let count = min(buffer.count, text.count - given, piece)
            buffer.copyBytes(from: text[given..<given + count])
            given += count
            return count
        }
        var row = CSVRow()
        var rows: [String] = []
        while true {
            do throws(CSVError) {
                guard try reader.next(into: &row) else { break }
                rows.append("\(reader.startLine): \(row.strings?.joined(separator: "|") ?? "")")
            } catch {
                rows.append("\(reader.startLine)! \(String(decoding: try reader.recover(), as: UTF8.self))")
            }
        }
        #expect(rows == ["2! A,\"big\" one", "3: B|ok", "4! C,\"open", "5: D|1", "6: E|x\ny", "8! F,\"z"])
    }
}

@Suite("Kinds of columns") struct ColumnInferenceTests {
    private func result(_ cells: [String], decimal: NumberStyle.Decimal? = nil) -> ColumnResult {
        var column = ColumnInference()
        for cell in cells { Array(cell.utf8).withUnsafeBufferPointer { column.add($0) } }
        return column.result(decimal: decimal)
    }

    private func values(_ cells: [String], _ format: CellFormat) -> [PropertyListValue?] {
        cells.map { Array($0.utf8).withUnsafeBufferPointer { format.value(of: $0) } }
    }

    @Test(
        "numbers",
        arguments: [
            (["1", "-2", "0"], "integer"), (["5.875", "13"], "real"), (["13.0", "0.0"], "real"),
            (["1.50", "2.25", "10.00"], "real: 2 decimals"), (["2006.10", "2006.1"], "string"), (["007"], "string"),
            (["12.50", "3"], "string"), (["12,50", "3,00"], "real: decimal comma, 2 decimals"),
            (["12,5", "3"], "real: decimal comma"),
            (["1.234,50", "12,00"], "real: decimal comma, thousands by points, 2 decimals"),
            (["1,622.00", "5.00"], "real: thousands by commas, 2 decimals"),
            (["1,622,000", "5"], "integer: thousands by commas"),
            (["$1,622.00", "$5.00"], "real: thousands by commas, without $, 2 decimals"),
            (["65,00 €", "40,00 €"], "real: decimal comma, without €, 2 decimals"),
            (["45 %", "5 %"], "integer: without %"),
            (["$5", "€5"], "string"), (["1,234", "5,678"], "string"), (["1.234", "2"], "real"), (["-0"], "string"),
            (["-0.00"], "string"), (["1,2,3"], "string"), (["+49 170"], "string"),
            (["EUR 12,50", "EUR 1,00"], "real: decimal comma, without EUR, 2 decimals"),
            (["1e5"], "string"), (["0123456789"], "string"), (["52", "259313.61210529655"], "real"),
            (["12.345.678"], "integer: decimal comma, thousands by points"),
            // One sign before three digits shows nothing, in whichever way the others end.
            (["1.250", "2", "3.500"], "string"), (["1,250", "2", "3,500"], "string"), (["$1.250", "$2"], "string"),
            (["1.234 €", "65 €", "5 €"], "string"), (["1.250", "12,501"], "string"), (["1.250", "2000"], "string"),
            (["1.250", "2", "1.234.567"], "integer: decimal comma, thousands by points"),
            (["1.250", "12,5"], "real: decimal comma, thousands by points"),
            (["1.250", "0.500"], "real: 3 decimals"), (["1.250", "1234.500"], "real: 3 decimals"),
            (["-$5", "$-7"], "string"),
        ])
    func numbers(cells: [String], expected: String) {
        let result = result(cells)
        #expect(result.format.kind.rawValue + (result.assumption.map { ": \($0)" } ?? "") == expected)
    }

    @Test(
        "dates and booleans",
        arguments: [
            (["2024-01-31", "2023-12-01"], "date"), (["02.03.2019", "21.08.2015"], "date: dd.MM.yyyy"),
            (["2.3.2019", "21.8.2015"], "date: d.M.yyyy"), (["02.3.2019", "2.03.2019"], "string"),
            (["8/17/2006", "1/2/2006"], "date: M/d/yyyy"),
            (["10/24/2014", "11/02/2014"], "date: MM/dd/yyyy"), (["31/01/2024", "01/12/2023"], "date: dd/MM/yyyy"),
            (["03/04/2021"], "string"), (["2024/01/31"], "date: yyyy/MM/dd"),
            (["2024-01-31 10:00:00"], "date: yyyy-MM-dd HH:mm:ss"),
            (["31.02.2024"], "string"), (["31.01.2024 09:05"], "date: dd.MM.yyyy HH:mm"),
            (["31.01.2024", "31.01.2024 09:05"], "string"),
            (["31.1.24"], "string"), (["2024-01-31T10:00:00"], "date: yyyy-MM-dd'T'HH:mm:ss"),
            (["true", "false"], "boolean"), (["TRUE", "FALSE"], "boolean: TRUE/FALSE"),
            (["yes", "no"], "boolean: yes/no"),
            (["yes", "No"], "string"), (["ja", "nein"], "string"), (["2024-01-31T10:00:00Z"], "date"),
            (["10:00"], "string"),
        ])
    func others(cells: [String], expected: String) {
        let result = result(cells)
        #expect(result.format.kind.rawValue + (result.assumption.map { ": \($0)" } ?? "") == expected)
    }

    @Test("what is in doubt is said, with the option") func doubts() {
        #expect(
            result(["03/04/2021", "05/06/2021"]).remark("bought")
                == "bought: \"03/04/2021\" fits dd/MM/yyyy and MM/dd/yyyy, as all cells do: text; give date = \"dd/MM/yyyy\" or the other one"
        )
        #expect(result(["1,234", "5,678"]).remark("n")?.contains("decimal = \"comma\"") == true)
        #expect(
            result(["1", "n/a", "2", "n/a"]).remark("n")
                == "n: 2 of 4 cells are not numbers (\"n/a\"): text; give null = \"n/a\""
        )
        #expect(
            result(["1,234", "5,678"], decimal: .comma).format == .real(NumberStyle(decimal: .comma, decimals: nil)))
        #expect(result(["1,234", "5,678"], decimal: .point).format == .integer(NumberStyle(isGrouped: true)))
        #expect(
            result(["1.234", "2"], decimal: .comma).format == .integer(NumberStyle(decimal: .comma, isGrouped: true)))
        #expect(result(["n/a", "-"]).remark("n") == nil)
        #expect(
            result(["41.5", "48.053808600000004", "-7"]).remark("lat")
                == "lat: numbers, but not all in one usual form (\"48.053808600000004\"): text; give types = { [\"lat\"] = \"real\" }"
        )
        #expect(
            result(["1e3", "1012.5", "NA"]).remark("p")?.hasSuffix(
                "text; give types = { [\"p\"] = \"real\" }, null = \"NA\"") == true)
        // What is a number of a thing, or a text like others, is not one.
        for cells in [
            ["1e3", "x"], ["0001", "1e3"], ["$5", "1e3"], ["1e", "2"], ["yes", "1e3"], ["$5", "€5"], ["1.", "2."],
            ["+49170123456"], ["1.2.3", "1.10.2"], ["2024-01"], ["31.01.2024", "31.1.24 8:30"],
        ] {
            #expect(result(cells).format == .text && result(cells).remark("n") == nil, "\(cells)")
        }
    }

    @Test(
        "a text column that a kind or a pattern takes as a whole is said, with the option",
        arguments: [
            (["1.250", "2"], "\"1.250\" may have decimals or thousands behind its point, and no cell shows which"),
            (["2000", "1.250"], "\"1.250\" may have decimals or thousands behind its point, and no cell shows which"),
            (["1,5", "2,50"], "(\"2,50\"): text; give types = { [\"x\"] = \"real\" }, decimal = \"comma\""),
            (["1,5", "2.5"], "x: numbers, but not all in one usual form (\"2.5\"): text; give types"),
            (["2006.10", "2006.1"], "(\"2006.1\"): text; give types = { [\"x\"] = \"real\" }"),
            (["+5", "-3"], "(\"+5\"): text; give types = { [\"x\"] = \"real\" }"), (["5 €", "€5"], "(\"€5\"): text"),
            (["1e+308"], "x: numbers, but not all in one usual form (\"1e+308\"): text; give types"),
            (["12345678901234567890"], "give types = { [\"x\"] = \"number\" }"),
            (["2024-01-31T10:00:00+01:00"], "give types = { [\"x\"] = \"date\" }"),
            (["2024-01-31 10:00:00+00"], "give types = { [\"x\"] = \"date\" }"),
            (["2024-01-31T10:00:00.123"], "give types = { [\"x\"] = \"date\" }"),
            (["2024-01-31", "2024-01-31T10:00:00Z"], "x: dates, but not all in one usual form"),
            (["31.1.24"], "x: \"31.1.24\" fits d.M.yy: text; give date = \"d.M.yy\""),
            (["1/1/2021 3:04 PM"], "fits M/d/yyyy h:mm a and d/M/yyyy h:mm a"),
            (["1/1/2021 3:04 PM", "1/13/2021 3:04 PM"], "fits M/d/yyyy h:mm a: text"),
            (["1/13/2021 15:04", "1/1/2021 3:04"], "fits M/d/yyyy H:mm: text"),
        ])
    func unusual(cells: [String], said: String) {
        let result = result(cells)
        #expect(result.format == .text)
        #expect(result.remark("x")?.contains(said) == true, "\(result.remark("x") ?? "nothing")")
    }

    @Test("no two texts of a column become one value") func pairs() {
        var texts = ["2024-01-31", "2024-01-31T00:00:00Z", "31.01.2024", "31.1.2024", "true", "True", "yes", "-0"]
        texts += [" ", "T"].flatMap { ["2024-01-31\($0)00:00:00", "2024-01-31\($0)00:00", "31.01.2024\($0)00:00"] }
        for number in ["5", "-5", "5.0", "5.00", "5,0", "5,00", "1.234", "1,234", "1234", "1.234,00", "1,234.00"] {
            texts.append(number)
            let (minus, digits) = number.first == "-" ? ("-", String(number.dropFirst())) : ("", number)
            for sign in ["€", "%", "EUR"] {
                for blank in ["", " ", "  ", "\u{A0}"] {
                    texts += [
                        "\(number)\(blank)\(sign)", "\(sign)\(blank)\(number)", "\(minus)\(sign)\(blank)\(digits)",
                    ]
                }
            }
        }
        for one in texts {
            for other in texts where one != other {
                let format = result([one, other]).format
                guard format != .text else { continue }
                let values = values([one, other], format)
                #expect(values[0] != nil && values[1] != nil && values[0] != values[1], "\(one), \(other): \(format)")
            }
        }
    }

    @Test("a plain column decides for one in doubt") func evidence() throws {
        var found = try FoundTable(Array("name;price;qty\nLamp;12,50;1.234\nBear;3,00;2\n".utf8))
        #expect(found.values(1) == [.real(12.5), .real(3)])
        #expect(found.values(2) == [.integer(1234), .integer(2)])
        found = try FoundTable(Array("a;b\n1,234;0.5\n".utf8))
        #expect(found.values(0) == [.integer(1234)])
        // A column that shows no sign decides nothing, and where semicolons separate a point may be between thousands.
        found = try FoundTable(Array("a,b\n1.250,1.234\n2,5\n".utf8))
        #expect(found.formats == [.text, .real(NumberStyle())])
        for (cells, format) in [
            ("1.234;2", CellFormat.text), ("1.234 €;2 €", .text), ("1.234;0.5", .real(NumberStyle())),
            ("1;2", .integer(NumberStyle())),
        ] {
            let rows = cells.replacing(";", with: ";x\n")
            #expect(try FoundTable(Array("a;b\n\(rows);x\n".utf8)).formats[0] == format, "\(cells)")
        }
    }

    @Test("given formats") func given() throws {
        #expect(
            values(["12,50", "1.234,5 €", "3", "$ 7", "-4 %", "1.2"], .real(.given(.comma)))
                == [.real(12.5), .real(1234.5), .real(3), .real(7), .real(-4), nil])
        #expect(
            values(["ja", "Nein", "1", "0", "x", "?"], .boolean(.any)) == [
                .boolean(true), .boolean(false), .boolean(true), .boolean(false), .boolean(true), nil,
            ])
        let style = try DateStyle(pattern: "dd.MM.yy")
        #expect(values(["31.01.24"], .day(style)) == values(["2024-01-31"], .day(nil)))
        #expect(values(["31.01.24"], .day(try DateStyle(pattern: "%d.%m.%y"))) == values(["2024-01-31"], .day(nil)))
        #expect(
            values(["1.2.3", "1,23,4", "12", "1,234", ",5"], .real(NumberStyle(isGrouped: true))) == [
                nil, nil, .real(12), .real(1234), nil,
            ])
    }
}

@Suite("CSV in each shape, accounted") struct CSVShapeTests {
    /// A table of columns of one kind each, with its values.
    private struct Table {
        var foreign: ForeignValues
        let delimiter: UInt8
        let decimalComma: Bool
        var titles: Int
        let encoding: String.Encoding
        let pattern: Int
        var header: [String] = []
        var cells: [[String]] = []
        var values: [[PropertyListValue?]] = []

        init(_ foreign: ForeignValues) {
            self.foreign = foreign
            delimiter = self.foreign.pick(Array(",;\t|".utf8))
            decimalComma = self.foreign.random.number(2) == 0
            titles = self.foreign.random.number(4)
            encoding = self.foreign.pick([.utf8, .utf16LittleEndian, .utf16BigEndian, .windowsCP1252])
            pattern = self.foreign.random.number(5)
            let kinds =
                ["name"]
                + (0..<1 + self.foreign.random.number(4)).map { _ in
                    self.foreign.pick(["text", "integer", "real", "money", "day", "flag"])
                }
            header = kinds.enumerated().map { "\($1) \($0)" }
            for number in 0..<2 + self.foreign.random.number(30) {
                var row: [String] = []
                var valueRow: [PropertyListValue?] = []
                for kind in kinds {
                    let (text, value) = cell(kind, number)
                    row.append(text)
                    valueRow.append(value)
                }
                cells.append(row)
                values.append(valueRow)
            }
        }

        private mutating func cell(_ kind: String, _ number: Int) -> (String, PropertyListValue?) {
            if kind != "name", foreign.random.number(10) == 0 { return ("", nil) }
            switch kind {
            case "integer":
                let number = foreign.random.number(100_000) - 50_000
                return ("\(number)", .integer(Int64(number)))
            case "real":
                let number = Double(foreign.random.number(1_000_000)) / 16
                let text = "\(number)"
                return (decimalComma ? text.replacing(".", with: ",") : text, .real(number))
            case "money":
                let cents = foreign.random.number(10_000_000)
                var whole = "\(cents / 100)"
                let group = decimalComma ? "." : ","
                if whole.utf8.count > 3 {
                    whole.insert(contentsOf: group, at: whole.index(whole.endIndex, offsetBy: -3))
                }
                let rest = String("\(100 + cents % 100)".dropFirst())
                return (
                    "\(whole)\(decimalComma ? "," : ".")\(rest)\(decimalComma ? " €" : "")", .real(Double(cents) / 100)
                )
            case "day":
                let (year, month, day) = (
                    1900 + foreign.random.number(150), 1 + foreign.random.number(12), 1 + foreign.random.number(28)
                )
                func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
                let (d, m) = (padded(day), padded(month))
                let text = [
                    "\(year)-\(m)-\(d)", "\(d).\(m).\(year)", "\(m)/\(d)/\(year)", "\(day)/\(month)/\(year)",
                    "\(year)/\(m)/\(d)",
                ][pattern]
                let seconds = CalendarDate.daysSince1970(year: year, month: month, day: day) * 86400
                return (text, .date(PropertyListDate(secondsSince1970: seconds, fraction: "")))
            case "flag":
                let value = foreign.random.number(2) == 0
                return (value ? "yes" : "no", .boolean(value))
            default:
                let text =
                    (kind == "name" ? "Ding \(number) " : "")
                    + foreign.pick(["Büro", "a, b", "x;y", "l1\nl2", "\"q\"", "tab\there", "0017", "1|2", "été"])
                return (text, .string(text))
            }
        }

        var bytes: [UInt8] {
            get throws {
                var writer = try CSVWriter(delimiter: delimiter)
                for title in 0..<titles {
                    writer.append("Titel \(title)")
                    writer.endRow()
                }
                for row in [header] + cells { writer.appendRow(row) }
                let text = String(decoding: writer.take(), as: UTF8.self)
                return Array(try #require(text.data(using: encoding)))
            }
        }
    }

    @Test("a table comes back equal, or its column stays text and is named") func shapes() throws {
        var foreign = ForeignValues(seed: 38)
        var values = 0
        var doubts = 0
        while values < Accounting.values * 4 {
            let table = Table(foreign)
            foreign = table.foreign
            let bytes = try table.bytes
            let found = try FoundTable(bytes)
            let context =
                "\(table.titles) titles, \(table.encoding), \(Character(Unicode.Scalar(table.delimiter))), \(found.dialect)\n\(String(data: Data(bytes), encoding: table.encoding)?.prefix(400) ?? "")"
            #expect(found.dialect.delimiter == table.delimiter, "\(context)")
            #expect(found.names == table.header, "\(context)")
            guard found.rows == table.cells else {
                Issue.record("other cells: \(context)")
                continue
            }
            for column in table.header.indices {
                values += table.values.count
                let expected = table.values.map { $0[column] }
                let got = found.values(column)
                if got == expected { continue }
                if found.formats[column] == .text,
                    got == table.cells.map({ $0[column].isEmpty ? nil : .string($0[column]) })
                {
                    // A column of empty cells, or one in doubt.
                    doubts += 1
                    #expect(
                        found.results[column].doubt != nil || expected.allSatisfy { $0 == nil },
                        "\(table.cells.map { $0[column] })")
                    continue
                }
                // A whole number in a column of reals, or the other way: the values are equal.
                let same = zip(got, expected).allSatisfy { got, expected in
                    switch (got, expected) {
                    case (.integer(let whole), .real(let real)): Double(whole) == real
                    case (.real(let real), .integer(let whole)): Double(whole) == real
                    default: got == expected
                    }
                }
                #expect(same, "\(found.formats[column]) \(table.cells.map { $0[column] })")
            }
        }
        #expect(doubts * 20 < values)
    }
}

@Suite("CSV of people, from the shared cases", .enabled(if: Project.shared != nil, "needs ../shared/cases"))
struct CSVCaseTests {
    @Test(
        "each file's form and kinds",
        arguments: [
            ("d01-semicolon-silent.csv", "\";\"", "string integer"), ("d03-pipe.csv", "\"|\"", "string integer"),
            ("d18-comment.csv", "lines that begin with # left out", "string integer"),
            ("d19-preamble.csv", "3 lines above the header left out (\"Report of May\")", "string integer"),
            ("d21-decimal-comma.csv", "\";\"", "string real integer"), ("d23-currency.csv", "", "string real integer"),
            ("days.csv", "", "string date"), ("e02-cp1252.csv", "windows-1252", "string integer"),
            ("e04-utf16le-nobom.csv", "utf-16", "string integer"),
            (
                "inventar.csv",
                "windows-1252, \";\", 3 lines above the header left out (\"Inventar Haushalt Musterweg 1\")",
                "string string string date real integer string string"
            ),
            ("prices.csv", "", "string real integer"),
            (
                "snipe.csv", "blanks behind delimiters left out",
                "integer string date string real string string string"
            ),
            ("t10-bool-01.csv", "", "string integer"),
        ])
    func cases(name: String, phrase: String, kinds: String) throws {
        let path = "\(try #require(Project.shared))/cases/csv/\(name)"
        let found = try FoundTable(Array(Data(contentsOf: URL(fileURLWithPath: path))))
        #expect(found.dialect.phrase ?? "" == phrase)
        #expect(found.results.map(\.format.kind.rawValue).joined(separator: " ") == kinds)
    }
}
