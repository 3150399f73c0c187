import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items

/// Comma-separated values as other programs write them: carried, or refused with what to do, or said in the report.
@Suite("Foreign CSV")
struct ForeignCSVTests {
    let store = ItemStore()

    private func report(
        _ text: String, _ format: ItemFileFormat = .csv, _ change: (inout ItemFileOptions) -> Void = { _ in }
    ) throws -> ItemImportReport {
        try report(Array(text.utf8), format, change)
    }

    private func report(
        _ bytes: [UInt8], _ format: ItemFileFormat = .csv, _ change: (inout ItemFileOptions) -> Void = { _ in }
    ) throws -> ItemImportReport {
        var options = ItemFileOptions(format: format)
        change(&options)
        return try store.importReport(bytes, path: "f", options)
    }

    private func values(_ field: String) throws -> [PropertyListValue?] {
        try store.allItems.map { try $0.value(forField: field) }
    }

    // MARK: Names of columns

    @Test("a column without a name that has cells is imported by its position, and said")
    func unnamed() throws {
        let report = try self.report("name,,b\nX,secret,1\nY,also,2\n")
        #expect(try values("column2") == [.string("secret"), .string("also")])
        #expect(report.count(.unnamed) == 1)
        #expect(
            report.description
                == "2 created, 0 updated, 0 unchanged, 0 rejected\ncolumn 2 has no name: read as column2")
        let first = try self.report(",name,a\n0,Z,1\n")
        #expect(first.remarks.map(\.description) == ["column 1 has no name: read as column1"])
        #expect(try store.allItems.last?.value(forField: "column1") == .integer(0))
    }

    @Test("a column without a name and any cell is left out, and said", arguments: [nil, ItemFileKinds.text])
    func leftOut(_ kinds: ItemFileKinds?) throws {
        let report = try self.report("name,a,,\nX,1,,\nY,2,\"\",\nZ\n") { $0.kinds = kinds }
        #expect(report.remarks.map(\.description) == ["columns 3, 4 have neither a name nor a cell: left out"])
        #expect(report.count(.leftOut) == 2)
        #expect(store.columns.customFieldsInUse.count == 1)
        // The last row has the only cell.
        let late = try self.report("name,,\nX,,\nY,,late\n") { $0.kinds = kinds }
        #expect((late.count(.leftOut), late.count(.unnamed)) == (1, 1))
        #expect(try store.allItems.last?.value(forField: "column3") == .string("late"))
    }

    @Test("equal names are numbered, past names that are there already")
    func equalNames() throws {
        let report = try self.report("name,a,a,a_2,a,,column6\nX,1,2,3,4,5,6\n")
        for (name, value) in [("a", 1), ("a_3", 2), ("a_2", 3), ("a_4", 4), ("column6_2", 5), ("column6", 6)] {
            #expect(try values(name) == [.integer(Int64(value))], "\(name)")
        }
        #expect((report.count(.renamed), report.count(.unnamed)) == (2, 1))
        #expect(report.description.contains("columns 3, 5 have the name of an earlier one: read as a_3, a_4"))
    }

    @Test("a map finds columns by the names that they got, and what it names is not said")
    func mapped() throws {
        let mapped = try report("name,,Notes,Notes\nX,1,2,3\n") {
            $0.names = ["column2": "id", "Notes_2": nil]
        }
        #expect(mapped.remarks.isEmpty)
        #expect(try values("id") == [.integer(1)])
        #expect(try self.report("name,,\nX,1,2\n") { $0.names = ["": "first"] }.count(.unnamed) == 1)
        #expect(try store.allItems.last?.value(forField: "first") == .integer(1))
        #expect(try self.report("name,,\nY,1,2\n") { $0.names = ["": nil] }.remarks.isEmpty)
        let error = try #require(throws: StoreError.self) { try self.report("[{\"\": 1}]", .json) }
        #expect(error.message.contains("a key of this row has none"))
    }

    // MARK: What is not such a file

    @Test(
        "another delimiter is found, and said",
        arguments: [
            ("name;price\nLamp;12\n", "\";\""), ("name|price\nLamp|12\n", "\"|\""), ("name\tprice\nLamp\t12\n", "tab"),
            ("sep=;\nname;price\nLamp;12\n", "the line \"sep=\" left out, \";\""),
        ] as [(String, String)])
    func delimiters(_ text: String, _ phrase: String) throws {
        var said: [String] = []
        #expect(try report(text) { $0.onKinds = { said.append($0) } }.created == 1)
        #expect(said == ["f: \(phrase); price integer; other columns are text"])
        #expect(try values("price") == [.integer(12)])
    }

    @Test(
        "a delimiter that is given, and does not fit, is refused with another; so is UTF-16 that is cut",
        arguments: [
            ("name;price\nLamp;12\n", "delimiter = \";\""), ("name|price\n", "delimiter = \"|\""),
            ("sep=;\nname;price\n", "remove it"), ("a\0,b\n", "an even number of bytes"),
        ] as [(String, String)])
    func refused(_ text: String, _ advice: String) throws {
        let error = try #require(throws: StoreError.self) { try report(text) { $0.delimiter = UInt8(ascii: ",") } }
        #expect(error.message.contains(advice), "\(error.message)")
        #expect(error.code == .unreadableFile)
        #expect(store.count == 0)
    }

    @Test("a command's messages name its options") func commandWords() throws {
        let error = try #require(throws: StoreError.self) {
            try OptionWords.$areOfCommand.withValue(true) {
                try report("name;price\nLamp;12\n") { $0.delimiter = UInt8(ascii: ",") }
            }
        }
        #expect(error.message.contains("give --delimiter ';', or"), "\(error.message)")
    }

    @Test("a name in quotes may have any character, and a tab-separated file is refused the same way")
    func quotedName() throws {
        #expect(try report("\"a;b\"\n1\n").created == 1)
        #expect(try values("a;b") == [.integer(1)])
        #expect(try report("a,b\n1,2\n", .tsv).created == 1)
        #expect(try store.allItems.last?.value(forField: "b") == .integer(2))
    }

    @Test(
        "bytes that are not a text are named",
        arguments: [
            ([0x1F, 0x8B, 0x08, 0, 0, 0], "it is cut"), ([0x50, 0x4B, 3, 4, 0x14], "give format = \"xlsx\""),
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "unxz"), ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1], "save it as .xlsx"),
            (Array("SQLite format 3\0".utf8), "format = \"sqlite\""),
        ] as [([UInt8], String)])
    func foreign(_ bytes: [UInt8], _ advice: String) throws {
        for format in [ItemFileFormat.csv, .tsv, .jsonLines, .json] {
            let error = try #require(throws: StoreError.self) { try report(bytes, format) }
            #expect(error.message.contains(advice), "\(error.message)")
        }
    }

    private func utf16(_ text: String, isBigEndian: Bool) -> [UInt8] {
        text.utf16.flatMap { isBigEndian ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }

    @Test("UTF-16 without a mark is found, and refused where another encoding is named", arguments: [false, true])
    func markless(_ isBigEndian: Bool) throws {
        let bytes = utf16("name,a\nCafé,1\n", isBigEndian: isBigEndian)
        let error = try #require(throws: StoreError.self) { try report(bytes) { $0.encoding = .utf8 } }
        #expect(error.message.contains("UTF-16, without a mark: give encoding = \"utf-16\""), "\(error.message)")
        let exact: ItemFileEncoding = isBigEndian ? .utf16BigEndian : .utf16LittleEndian
        for encoding in [nil, .utf16, .automatic, exact] {
            _ = try report(bytes) { $0.encoding = encoding }
            #expect(try store.allItems.last?.name == "Café")
        }
        #expect(try report(utf16("[{\"name\":\"Café\"}]", isBigEndian: isBigEndian), .json).created == 1)
        // Without a zero in its header's cells it shows in the rows.
        let greek = utf16("ναμε\nα\n", isBigEndian: isBigEndian)
        _ = try report(greek) { $0.encoding = exact }
        #expect(try store.allItems.last?.value(forField: "ναμε") == .string("α"))
    }

    @Test("bytes of Windows-1252 are found, or refused by row and column; a damaged text in UTF-8 is not one of them")
    func windows() throws {
        let bytes = Array("name,a\nPrice ".utf8) + [0x80, 0x20, 0x96] + Array(",1\n".utf8)
        let error = try #require(throws: StoreError.self) { try report(bytes) { $0.encoding = .utf8 } }
        #expect(error.message.hasPrefix("f, row 2: column 'name' has bytes that are not UTF-8"), "\(error.message)")
        #expect(error.message.contains("encoding = \"windows-1252\""))
        let damaged = Array("name,a\nCafé, ü,1\nB".utf8) + [0xE9] + Array(",1\n".utf8)
        #expect(throws: StoreError.self) { try report(damaged) }
        for encoding in [nil, ItemFileEncoding.latin1, .windows1252, .automatic] {
            _ = try report(bytes) { $0.encoding = encoding }
            #expect(try store.allItems.last?.name == "Price € –")
        }
        let header = try #require(throws: StoreError.self) {
            try report([0x80, 0x2C, 0x61, 0x0A]) { $0.encoding = .utf8 }
        }
        #expect(header.message.contains("column 1 is not UTF-8"))
    }

    // MARK: Rows

    @Test(
        "a row that is not a row of the file is rejected and counted, never cut",
        arguments: [
            ("name,a\nX,1,2\nY,3\n", 2, "3 cells, and the header has 2 names"),
            ("Report of May\nPrinted by office\n\nname,a\n", 3, "2 cells, and the header has 1 name"),
            ("HDR,FILE,22\nDET,0001,a,b,c\n", 2, "lines above the header are left out by skip = 1"),
            ("id,cost\n1, \"1,735.00\"\n", 2, "cell 2 has a blank before its quote"),
            ("name,note\nA,\"big\" one\nB,ok\n", 2, "line 2: text after a closing quote"),
            ("name,note\nB,ok\nA,\"open\nC,1\n", 3, "line 3: the text ends in a quoted cell"),
            ("name,a\nX,1\nY\0,2\n", 3, "the cell of name has a byte of zero"),
        ] as [(String, Int, String)])
    func rejected(_ text: String, _ row: Int, _ reason: String) throws {
        let error = try #require(throws: StoreError.self) { try report(text) }
        #expect(error.message.hasPrefix("f, row \(row): "), "\(error.message)")
        #expect(error.message.contains(reason), "\(error.message)")
        #expect(store.count == 0)
        let skipping = try report(text) { $0.skipsRow = { _, _, _ in true } }
        #expect(skipping.rejected > 0)
        #expect(skipping.created + skipping.rejected == skipping.total)
    }

    @Test("blanks behind all delimiters are no part of the cells; a row is read on at the next line")
    func quotes() throws {
        _ = try report("name, note\nA, \"b\"\n")
        #expect(try values("note") == [.string("b")])
        let report = try report("name,note\nC,\"big\" one\nD,\"x\ny\"\n") { $0.skipsRow = { _, _, _ in true } }
        #expect((report.created, report.rejected) == (1, 1))
        #expect(try values("note").last == .string("x\ny"))
    }

    @Test("tokens, mixed currencies and days that fit two patterns stay the texts that they are, and are said")
    func texts() throws {
        let report = try report("name,n,price,us\nA,1,12.50,01/02/2024\nB,NA,$3.00,12/01/2023\n")
        #expect(try values("n") == [.string("1"), .string("NA")])
        #expect(try values("price") == [.string("12.50"), .string("$3.00")])
        #expect(try values("us") == [.string("01/02/2024"), .string("12/01/2023")])
        #expect(report.count(.doubts) == 2)
        #expect(report.description.contains("n: 1 of 2 cells is not a number (\"NA\"): text; give null = \"NA\""))
        #expect(report.description.contains("us: \"01/02/2024\" fits dd/MM/yyyy and MM/dd/yyyy"))
        #expect(throws: StoreError.self) { try self.report("name,valueInDollars\nLamp,12.50\n") }
    }

    @Test(
        "a first row that looks like values is said",
        arguments: [
            ("5.1,3.5,setosa\n4.9,3.0,setosa\n", true), ("1,Lamp\n2,Bear\n", true),
            ("a,2024-01-31\nb,2024-02-01\n", true),
            ("country,1990,1991\nA,5,6\n", false), ("name,a,2.0x\nX,1,2\n", false), ("Inventory,,\nname,a,b\n", true),
        ] as [(String, Bool)])
    func header(_ text: String, _ isOdd: Bool) throws {
        #expect(try report(text).count(.oddHeader) == (isOdd ? 1 : 0))
    }
}
