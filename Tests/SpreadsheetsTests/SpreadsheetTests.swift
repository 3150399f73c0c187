import FileFormats
import Foundation
import PropertyList
import TestSupport
import Testing

@testable import Spreadsheets

/// The rows of a sheet as texts: `number: column=text`.
func rows(_ bytes: [UInt8], _ sheet: String? = nil, _ limits: SpreadsheetLimits = SpreadsheetLimits()) throws
    -> [String]
{
    let rows = try Spreadsheet(ByteSource(bytes), limits: limits).rows(of: sheet)
    var row = SheetRow()
    var result: [String] = []
    while try rows.next(into: &row) {
        let cells = row.cells.map { cell in
            let kind =
                switch cell.content {
                case .text: "t"
                case .integer: "i"
                case .wideInteger: "w"
                case .real: "r"
                case .boolean: "b"
                case .day: "d"
                case .moment: "m"
                case .time: "c"
                case .error: "e"
                }
            return "\(CellName.letters(cell.column))\(kind)=\(String(decoding: row.text(cell.content), as: UTF8.self))"
        }
        result.append("\(row.number): \(cells.joined(separator: "|"))")
    }
    #expect(row.cells.isEmpty)
    return result
}

@Suite("Spreadsheets of other programs") struct SpreadsheetFixtureTests {
    private func fixture(_ name: String) throws -> [UInt8] {
        let text = try String(
            contentsOfFile: "\(Project.root)/Tests/Fixtures/spreadsheets/\(name).base64", encoding: .utf8)
        return Array(try #require(Data(base64Encoded: text, options: .ignoreUnknownCharacters)))
    }

    @Test("openpyxl") func openpyxl() throws {
        let bytes = try fixture("openpyxl.xlsx")
        let sheets = try Spreadsheet(ByteSource(bytes)).sheets()
        #expect(sheets.map(\.name) == ["Tools", "Größe & <Maß>", "hidden"])
        #expect(sheets.map(\.isHidden) == [false, false, true])
        #expect(
            try rows(bytes) == [
                "1: At=name|Bt=n|Ct=price|Dt=on|Et=bought|Ft=seen|Gt=at|Ht=err|It=sum|Jt=note",
                "2: At=Lamp|Bi=3|Cr=39.95|Db=true|Ed=2024-01-31|Fm=2024-01-31T10:00:00.5Z|Gc=10:30:00|He=#N/A|Jt= two  blanks\nlineA",
                "3: At=Bär 👍|Bi=-12|Cr=1e+20|Db=false|Ed=1900-01-01|Fm=1999-12-31T23:59:59Z|Gc=26:30:00|He=#DIV/0!|Jt=abc",
                "5: At=merged|Et=0017",
            ])
        #expect(try rows(bytes, "größe & <maß>") == ["3: Bt=far", "7: XFDi=1"])
        #expect(try rows(bytes, "hidden") == ["1: At=h"])
        let error = #expect(throws: FormatError.self) { try rows(bytes, "Tolls") }
        #expect(error?.message == "it has no sheet 'Tolls'; did you mean 'Tools'?")
    }

    @Test("XlsxWriter, from 1904") func xlsxwriter() throws {
        #expect(
            try rows(try fixture("xlsxwriter.xlsx")) == [
                "1: At=day|Bt=moment|Ct=cost|Dt=text",
                "2: Ad=2024-02-29|Bm=1904-01-02T03:04:05Z|Ci=1622|Dt=x", "3: Cr=405.5|Db=true",
            ])
    }

    @Test("odfpy") func odfpy() throws {
        let bytes = try fixture("odfpy.ods")
        #expect(try Spreadsheet(ByteSource(bytes)).sheets().map(\.name) == ["Werkzeug", "Second"])
        #expect(
            try rows(bytes) == [
                "1: At=name|Bt=n|Ct=bought|Dt=seen|Et=at|Ft=on",
                "2: At=Säge|Br=3.5|Cd=2024-01-31|Dm=2024-01-31T10:00:00Z|Ec=10:30:00|Fb=true",
                "6: At=two  blanks\nline|Bi=7|Ci=7", "7: At=two  blanks\nline|Bi=7|Ci=7",
            ])
        #expect(try rows(bytes, "second") == ["1: At=b"])
    }
}

@Suite("Spreadsheet cells") struct SpreadsheetCellTests {
    @Test(
        "dates by the format and the epoch",
        arguments: [
            ("yyyy-mm-dd", "1", "d=1900-01-01"), ("yyyy-mm-dd", "59", "d=1900-02-28"),
            ("yyyy-mm-dd", "60", "c=1900-02-29"),
            ("yyyy-mm-dd", "61", "d=1900-03-01"), ("yyyy-mm-dd", "2958465", "d=9999-12-31"),
            ("yyyy-mm-dd", "2958466", "i=2958466"), ("yyyy-mm-dd", "-1", "i=-1"), ("yyyy-mm-dd", "0", "i=0"),
            ("yyyy-mm-dd", "45322.416666666664", "m=2024-01-31T10:00:00Z"), ("h:mm", "0.4375", "c=10:30:00"),
            ("[h]:mm:ss", "1.104166666666667", "c=26:30:00"), ("[$-409]mmm d, yyyy;@", "45322", "d=2024-01-31"),
            ("#,##0.00 &quot;days&quot;", "12.5", "r=12.5"), ("0.00E+00", "12.5", "r=12.5"), ("[Red]0", "3", "i=3"),
            ("mm:ss.0", "0.000707175925925926", "c=00:01:01.100"), ("General", "3.0", "i=3"), ("@", "1E3", "i=1000"),
            ("h:mm AM/PM", "45322.5", "m=2024-01-31T12:00:00Z"), ("0", "12345678901234567", "i=12345678901234567"),
            ("d\\.m\\.yy", "45322", "d=2024-01-31"), ("0.0", "39.950000000000003", "r=39.95"),
        ])
    func formats(code: String, value: String, expected: String) throws {
        let bytes = TinySpreadsheet.xlsx("<row r=\"1\"><c r=\"A1\" s=\"1\"><v>\(value)</v></c></row>", formats: [code])
        #expect(try rows(bytes) == ["1: A\(expected)"])
    }

    @Test("dates counted from 1904") func from1904() throws {
        let cells = ["0", "60", "2957003"].map { "<c s=\"1\"><v>\($0)</v></c>" }.joined()
        let bytes = TinySpreadsheet.xlsx("<row>\(cells)</row>", formats: ["d/m/yyyy"], from1904: true)
        #expect(try rows(bytes) == ["1: Ad=1904-01-01|Bd=1904-03-01|Cd=9999-12-31"])
    }

    @Test(
        "elapsed time is a duration of any length, in both epochs",
        arguments: ["[h]:mm:ss", "[hh]:mm", "[m]:ss", "[ss]", "[Red][H]:MM"])
    func durations(code: String) throws {
        let cells = ["0.5", "1.5", "59.5", "60.5", "1720.25"].map { "<c s=\"1\"><v>\($0)</v></c>" }.joined()
        for from1904 in [false, true] {
            let bytes = TinySpreadsheet.xlsx("<row>\(cells)</row>", formats: [code], from1904: from1904)
            #expect(
                try rows(bytes) == ["1: Ac=12:00:00|Bc=36:00:00|Cc=1428:00:00|Dc=1452:00:00|Ec=41286:00:00"],
                "\(from1904)")
        }
        let duration =
            "<table:table-cell office:value-type=\"time\" office:time-value=\"PT41286H00M00.25S\"/>"
        let table = "<table:table table:name=\"S\"><table:table-row>\(duration)</table:table-row></table:table>"
        #expect(try rows(TinySpreadsheet.ods(table)) == ["1: Ac=41286:00:00.250"])
    }

    @Test(
        "a time of an .ods file has all of its digits",
        arguments: [
            ("PT10H30M00S", "10:30:00"), ("PT10H30M00.5S", "10:30:00.500"),
            ("PT00H00M01.123456789S", "00:00:01.123456789"),
            ("PT1M", "00:01:00"), ("PT26H0M59,9996S", "26:00:59.9996"), ("PT90S", "00:01:30"), ("P1D", "P1D"),
            ("PT1.5H", "PT1.5H"), ("PT1M1H", "PT1M1H"), ("PT1.S", "PT1.S"), ("PT", "00:00:00"),
        ])
    func times(text: String, expected: String) throws {
        let cell = "<table:table-cell office:value-type=\"time\" office:time-value=\"\(text)\"/>"
        let table = "<table:table table:name=\"S\"><table:table-row>\(cell)</table:table-row></table:table>"
        #expect(try rows(TinySpreadsheet.ods(table)) == ["1: Ac=\(expected)"])
    }

    @Test("what is behind a merged cell is read, in both formats") func merged() throws {
        let first =
            "<table:table-cell office:value-type=\"float\" office:value=\"1\" table:number-columns-spanned=\"3\"/>"
        let covered =
            "<table:covered-table-cell office:value-type=\"float\" office:value=\"2\"/><table:covered-table-cell/>"
        let ods = TinySpreadsheet.ods(
            "<table:table table:name=\"S\"><table:table-row>\(first)\(covered)</table:table-row></table:table>")
        let xlsx = TinySpreadsheet.xlsx(
            "<row><c><v>1</v></c><c><v>2</v></c><c/></row>",
            after: "<mergeCells><mergeCell ref=\"A1:C1\"/></mergeCells>")
        for bytes in [ods, xlsx] { #expect(try rows(bytes) == ["1: Ai=1|Bi=2"]) }
    }

    @Test("a date with digits that none has is the text that it is, and counted, in both formats")
    func surplusDigits() throws {
        let text = "2024-01-31T10:00:00.123456789"
        let cell = "<table:table-cell office:value-type=\"date\" office:date-value=\"\(text)\"/>"
        for bytes in [
            TinySpreadsheet.xlsx("<row><c t=\"d\"><v>\(text)</v></c></row>"),
            TinySpreadsheet.ods(
                "<table:table table:name=\"S\"><table:table-row>\(cell)</table:table-row></table:table>"),
        ] {
            #expect(try rows(bytes) == ["1: At=\(text)"])
            let reader = try Spreadsheet(ByteSource(bytes)).rows()
            var row = SheetRow()
            while try reader.next(into: &row) {}
            #expect("\(reader.unreadDates)" == #"CellCount(count: 1, first: "A1")"#)
        }
    }

    @Test("two halves of a character are one, in every kind of text; one half is an error of its cell")
    func halves() throws {
        func cells(_ text: String) -> [UInt8] {
            TinySpreadsheet.xlsx(
                "<row r=\"2\"><c r=\"B2\" t=\"s\"><v>0</v></c><c t=\"str\"><v>\(text)</v></c><c t=\"inlineStr\"><is><t>\(text)</t></is></c></row>",
                texts: "<si><t>\(text)</t></si>")
        }
        #expect(try rows(cells("_xD83D__xDC4D_ _x0041_")) == ["2: Bt=👍 A|Ct=👍 A|Dt=👍 A"])
        for half in ["_xD83D_", "_xDC4D__xD83D_", "a_xDC4D_b"] {
            for (name, row) in [
                ("B2", "<c r=\"B2\" t=\"s\"><v>0</v></c>"), ("C2", "<c r=\"C2\" t=\"str\"><v>\(half)</v></c>"),
                ("D2", "<c r=\"D2\" t=\"inlineStr\"><is><t>\(half)</t></is></c>"),
            ] {
                let bytes = TinySpreadsheet.xlsx("<row r=\"2\">\(row)</row>", texts: "<si><t>\(half)</t></si>")
                let error = #expect(throws: FormatError.self) { try rows(bytes) }
                #expect(error?.message.hasPrefix("sheet S: cell \(name): its text has half a character") == true)
            }
        }
    }

    @Test("kinds of texts, formulas, and places that are left out") func kinds() throws {
        let bytes = TinySpreadsheet.xlsx(
            """
            <row><c t="s"><v>1</v></c><c t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r><rPh><t>no</t></rPh></is></c>\
            <c t="str"><f>A1</f><v>f</v></c><c t="b"><v>1</v></c><c t="d"><v>2024-01-31</v></c><c/><c t="e"><v>#REF!</v></c></row>
            <row r="9"><c r="C9" t="s"><v>0</v></c><c r="A9"><v>1</v></c></row>
            """, texts: "<si><t>_x0009_&amp;_x005F_</t></si><si><t xml:space=\"preserve\"> x </t></si>",
            after: "<mergeCells><mergeCell ref=\"A1:B2\"/></mergeCells>")
        #expect(
            try rows(bytes) == ["1: At= x |Bt=ab|Ct=f|Db=true|Ed=2024-01-31|Ge=#REF!", "9: Ai=1|Ct=\t&_"])
        let reader = try Spreadsheet(ByteSource(bytes)).rows()
        var row = SheetRow()
        while try reader.next(into: &row) {}
        #expect(reader.mergedRanges == 1)
    }

    @Test("formulas whose value the file does not have are counted; the empty text is a value")
    func unvaluedFormulas() throws {
        func formulas(_ bytes: [UInt8]) throws -> String {
            let reader = try Spreadsheet(ByteSource(bytes)).rows()
            var row = SheetRow()
            while try reader.next(into: &row) {}
            return "\(reader.unvaluedFormulas)"
        }
        let sheet = TinySpreadsheet.xlsx(
            """
            <row r="2"><c r="A2"><v>1</v></c><c r="B2"><f>A2*2</f><v></v></c><c r="C2"><f>A2*2</f><v>2</v></c></row>\
            <row r="3"><c r="A3"><v>1</v></c><c r="B3" t="str"><f>""</f><v></v></c><c r="C3"><f>A3</f></c><c r="D3"/></row>
            """)
        #expect(try formulas(sheet) == #"CellCount(count: 2, first: "B2")"#)
        let document = TinySpreadsheet.ods(
            """
            <table:table table:name="T"><table:table-row><table:table-cell office:value-type="float" office:value="1"/>\
            <table:table-cell table:formula="of:=[.A1]"/>\
            <table:table-cell table:formula="of:=[.A1]" office:value-type="float" office:value="1"/></table:table-row></table:table>
            """)
        #expect(try formulas(document) == #"CellCount(count: 1, first: "B1")"#)
    }

    @Test(
        "what is wrong names the sheet and the cell",
        arguments: [
            ("<row><c><v>abc</v></c></row>", "sheet S: cell A1: abc is not a number: the file is damaged"),
            ("<row r=\"2\"><c r=\"B2\" t=\"s\"><v>7</v></c></row>", "sheet S: cell B2: it names a shared text"),
            ("<row r=\"2\"/><row r=\"1\"/>", "sheet S: row 1 comes after row 2: the file is damaged"),
            ("<row r=\"x\"/>", "sheet S: the row after row 0: x is not the number of a row: the file is damaged"),
            ("<row><c/><c r=\"B9\"><v>1</v></c></row>", "sheet S: cell B1: B9 is not the name of a cell of this row"),
            ("<row><c r=\"??\"><v>1</v></c></row>", "sheet S: cell A1: ?? is not the name of a cell of this row"),
            ("<row><c r=\"A\"><v>1</v></c></row>", "sheet S: cell A1: A is not the name of a cell of this row"),
            ("<row><c t=\"x\"><v>1</v></c></row>", "sheet S: cell A1: x is not a type of cells: the file is damaged"),
            ("<row><c t=\"S\"><v>0</v></c></row>", "sheet S: cell A1: S is not a type of cells: the file is damaged"),
            (
                "<row><c r=\"A1\"><v>1</v></c><c r=\"A1\"><v>2</v></c></row>",
                "sheet S: cell A1: two cells are in one place"
            ),
            ("<row r=\"2000000\"/>", "sheet S: the sheet has more than 1,048,576 rows"),
            ("<row><c r=\"XFE1\"><v>1</v></c></row>", "sheet S: row 1: it has more than 16,384 columns"),
            ("<row><c></row>", "sheet S: at line 1, column"),
        ])
    func errors(cells: String, message: String) throws {
        let error = #expect(throws: FormatError.self) { try rows(TinySpreadsheet.xlsx(cells)) }
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }

    @Test(
        "a number has all of its digits, or is refused, in both formats",
        arguments: [
            ("9007199254740993", "i=9007199254740993"), ("9007199254740993.0", "i=9007199254740993"), ("5.0", "i=5"),
            ("12345678901234567890", "w=12345678901234567890"), ("1.2345678901234567E+19", "r=1.2345678901234567e+19"),
            ("0.99999999999999999", "r=1.0"), ("0E-400", "i=0"), ("-0", "r=-0.0"), ("-0.0", "r=-0.0"),
            ("123456789012345678E3", "w=123456789012345678000"), ("9007199254740993E1", "i=90071992547409930"),
            ("9.9999999999999992E+22", "r=1e+23"), ("1E+23", "r=1e+23"),
            (
                "9007199254740993.5",
                "9007199254740993.5 is beyond the numbers here: a cell of text has all of its digits"
            ),
            ("1E-400", "1E-400 is beyond the numbers here"), ("-1E400", "-1E400 is beyond the numbers here"),
            (String(repeating: "9", count: 40), "\(String(repeating: "9", count: 40)) is beyond the numbers here"),
            ("nan", "nan is not a number: the file is damaged"),
        ])
    func digits(text: String, expected: String) throws {
        expect("<c><v>\(text)</v></c>", "float\" office:value=\"\(text)", expected)
    }

    @Test(
        "a boolean is true or false, or the file is damaged, in both formats",
        arguments: [
            ("1", "b=true"), ("true", "b=true"), ("0", "b=false"), ("false", "b=false"),
            ("2", "2 is not true or false: the file is damaged"), ("TRUE", "TRUE is not true or false"),
            ("10", "10 is not true or false"), ("oops", "oops is not true or false"),
        ])
    func booleans(text: String, expected: String) throws {
        expect("<c t=\"b\"><v>\(text)</v></c>", "boolean\" office:boolean-value=\"\(text)", expected)
    }

    @Test("a boolean without a value is not false") func absentBoolean() throws {
        expect("<c><v>1</v></c>", "boolean", " is not true or false: the file is damaged", isOnlyODS: true)
    }

    /// Expects a cell of both formats to be a content, or the error that begins so.
    private func expect(_ xlsx: String, _ ods: String, _ expected: String, isOnlyODS: Bool = false) {
        let cell = "<table:table-cell office:value-type=\"\(ods)\"><text:p>TRUE</text:p></table:table-cell>"
        let table = "<table:table table:name=\"S\"><table:table-row>\(cell)</table:table-row></table:table>"
        for bytes in [TinySpreadsheet.ods(table)] + (isOnlyODS ? [] : [TinySpreadsheet.xlsx("<row>\(xlsx)</row>")]) {
            do {
                #expect(try rows(bytes) == ["1: A\(expected)"])
            } catch {
                let message = (error as? FormatError)?.message ?? "\(error)"
                #expect(message.hasPrefix("sheet S: cell A1: \(expected)"), "\(message)")
            }
        }
    }

    @Test("other files are refused by what they are") func foreign() throws {
        func message(_ bytes: [UInt8]) -> String {
            do { return try rows(bytes).description } catch { return "\(error)" }
        }
        #expect(message([0xD0, 0xCF, 0x11, 0xE0, 1, 2, 3, 4]).contains("save it as .xlsx without a password"))
        #expect(message(Array("name,a\n".utf8)).contains("it is not a spreadsheet"))
        #expect(message(TinySpreadsheet.zip([("a", [1])])).contains("without a spreadsheet"))
        #expect(
            message(TinySpreadsheet.zip([("mimetype", Array("application/vnd.oasis.opendocument.text".utf8))]))
                .contains("opendocument.text"))
    }
}

@Suite("Hostile spreadsheets") struct HostileSpreadsheetTests {
    @Test("entities are not expanded, and no other file is read") func entities() throws {
        for doctype in ["<!DOCTYPE a [<!ENTITY x \"y\">]>", "<!DOCTYPE a SYSTEM \"file:///etc/passwd\">"] {
            let content = doctype + "<a/>"
            let file = TinySpreadsheet.zip([
                ("mimetype", Array("application/vnd.oasis.opendocument.spreadsheet".utf8)),
                ("content.xml", Array(content.utf8)),
            ])
            let error = #expect(throws: FormatError.self) { try rows(file) }
            #expect(error?.code == .unsupported)
        }
    }

    @Test("a sheet of 2^20 × 2^14 empty cells takes no time and no memory") func empties() throws {
        let empty =
            "<table:table-row table:number-rows-repeated=\"1048576\"><table:table-cell table:number-columns-repeated=\"16384\"/></table:table-row>"
        #expect(try rows(TinySpreadsheet.ods("<table:table table:name=\"a\">\(empty)</table:table>")) == [])
        let far = (1...50).map { "<row r=\"\($0)\"><c r=\"XFD\($0)\"><v>1</v></c></row>" }.joined()
        #expect(try rows(TinySpreadsheet.xlsx(far)).count == 50)
    }

    @Test("a cell that is repeated over a whole sheet ends at the limit") func repeated() throws {
        let cell =
            "<table:table-cell office:value-type=\"string\" table:number-columns-repeated=\"16384\"><text:p>x</text:p></table:table-cell>"
        let row = "<table:table-row table:number-rows-repeated=\"1048576\">\(cell)</table:table-row>"
        var limits = SpreadsheetLimits()
        limits.cells = 1 << 20
        let error = #expect(throws: FormatError.self) {
            let rows = try Spreadsheet(
                ByteSource(TinySpreadsheet.ods("<table:table table:name=\"a\">\(row)</table:table>")), limits: limits
            ).rows()
            var row = SheetRow()
            while try rows.next(into: &row) {}
        }
        #expect(error?.code == .tooLarge)
    }

    @Test("shared texts, long texts, long tags and deep elements have limits") func limits() throws {
        var limits = SpreadsheetLimits()
        limits.sharedTexts = 1000
        let many = TinySpreadsheet.xlsx("", texts: String(repeating: "<si/>", count: 1001))
        #expect(throws: FormatError.self) { try rows(many, nil, limits) }
        #expect(try rows(TinySpreadsheet.xlsx("", texts: String(repeating: "<si><t>a</t></si>", count: 100_000))) == [])
        let long = String(repeating: "a", count: 1 << 21)
        for rows in [
            "<row><c t=\"str\"><v>\(long)</v></c></row>", "<row><c t=\"inlineStr\"><is><t>\(long)</t></is></c></row>",
            "<row x=\"\(long)\"/>", "<!--\(long)-->", String(repeating: "<a>", count: 1000),
        ] {
            let error = #expect(throws: FormatError.self) { try SpreadsheetsTests.rows(TinySpreadsheet.xlsx(rows)) }
            #expect(error?.code == .tooLarge || error?.code == .unsupported, "\(error?.message ?? "")")
        }
    }

    @Test("an interruption ends the reading") func interruption() throws {
        let bytes = TinySpreadsheet.xlsx((1...5000).map { _ in "<row><c><v>1</v></c></row>" }.joined())
        var isDue = false
        let rows = try Spreadsheet(ByteSource(bytes), isStopped: { isDue }).rows()
        var row = SheetRow()
        #expect(try rows.next(into: &row))
        isDue = true
        let error = #expect(throws: FormatError.self) { while try rows.next(into: &row) {} }
        #expect(error?.code == .stopped)
    }

    @Test("changed bytes are errors or rows, and nothing else", arguments: [1, 2, 3] as [UInt64]) func fuzz(
        seed: UInt64
    ) throws {
        var random = TestGenerator(seed: seed)
        let ods = TinySpreadsheet.ods(
            "<table:table table:name=\"a\"><table:table-row><table:table-cell office:value-type=\"float\" office:value=\"1.5\"/><table:table-cell><text:p>a<text:s text:c=\"3\"/>b</text:p></table:table-cell></table:table-row></table:table>"
        )
        let xlsx = TinySpreadsheet.xlsx(
            "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c s=\"1\"><v>45000.5</v></c></row>",
            texts: "<si><t>a</t></si>",
            formats: ["d.m.yy h:mm"])
        for _ in 0..<300 {
            var bytes = random.number(2) == 0 ? ods : xlsx
            for _ in 0..<1 + random.number(3) {
                bytes[random.number(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            _ = try? rows(bytes)
        }
    }
}
