import CSV
import Foundation
import TestSupport
import Testing

@Suite("CSV reader")
struct CSVReaderTests {
    @Test(
        "rows and cells",
        arguments: [
            ("", []),
            ("\n\r\n\r", []),
            ("a", [["a"]]),
            ("a,b\nc,d\n", [["a", "b"], ["c", "d"]]),
            ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]),
            ("a,b\rc,d\r", [["a", "b"], ["c", "d"]]),
            ("a,b\r\n\r\nc,d", [["a", "b"], ["c", "d"]]),
            (",\n", [["", ""]]),
            ("a,", [["a", ""]]),
            ("a,\n,b", [["a", ""], ["", "b"]]),
            ("\"\"\n", [[""]]),
            ("\"\"", [[""]]),
            ("\"\",\"\"", [["", ""]]),
            (" a , \"b\" ", [[" a ", " \"b\" "]]),
            ("\"a\"\"b\",\"\"\"\"", [["a\"b", "\""]]),
            ("a\"b,c\"\"d", [["a\"b", "c\"\"d"]]),
            ("\"a,b\r\nc\rd\n\",e", [["a,b\r\nc\rd\n", "e"]]),
            ("\u{feff}a,b", [["a", "b"]]),
            ("\u{feff}\"a\"", [["a"]]),
            ("a,\u{feff}b", [["a", "\u{feff}b"]]),
            ("å,日本\n🎨,", [["å", "日本"], ["🎨", ""]]),
        ] as [(String, [[String]])])
    func rows(text: String, expected: [[String]]) throws {
        #expect(try CSVReader.rows(of: text.utf8) == expected)
    }

    @Test("other delimiters", arguments: [UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|"), 0])
    func delimiters(delimiter: UInt8) throws {
        let text = [UInt8(ascii: "a"), UInt8(ascii: ","), delimiter, UInt8(ascii: "b")]
        #expect(try CSVReader.rows(of: text, options: CSVOptions(delimiter: delimiter)) == [["a,", "b"]])
    }

    @Test("delimiters that cannot be", arguments: ["\"", "\r", "\n"] as [Unicode.Scalar])
    func badDelimiters(delimiter: Unicode.Scalar) throws {
        let error = #expect(throws: CSVError.self) {
            try CSVReader(bytes: [], options: CSVOptions(delimiter: UInt8(ascii: delimiter)))
        }
        #expect(error?.code == .badDelimiter)
    }

    static let malformed: [(String, CSVError.Code, row: Int, line: Int)] = [
        ("a,b\n\"c", .unterminatedQuote, 2, 2),
        ("\"", .unterminatedQuote, 1, 1),
        ("a\r\n\"b\r\nc\r\n", .unterminatedQuote, 2, 4),
        ("a\r\r\r\"b\rc\n\n", .unterminatedQuote, 2, 7),
        ("\"a\"b", .textAfterQuote, 1, 1),
        ("a\n\n\n\"b\n\" ,", .textAfterQuote, 2, 5),
        ("12345678", .cellTooLong, 1, 1),
        ("1\n2\n\"12345678\"", .cellTooLong, 3, 3),
        ("12345,12345,12345", .rowTooLong, 1, 1),
        (",,,,,", .rowTooLong, 1, 1),
    ]

    @Test("what is malformed says where", arguments: malformed)
    func errors(text: String, code: CSVError.Code, row: Int, line: Int) throws {
        var options = CSVOptions(hasHeader: false)
        options.cellLimit = 7
        options.rowLimit = 14
        options.columnLimit = 5
        let error = #expect(throws: CSVError.self) { try CSVReader.rows(of: text.utf8, options: options) }
        #expect(error?.code == code)
        #expect(error?.row == row)
        #expect(error?.line == line)
        #expect(error?.description.hasPrefix("row \(row), line \(line): ") == true)
    }

    @Test("the header comes apart, once")
    func header() throws {
        let reader = try CSVReader(bytes: Array("name,value\nlamp,5\n".utf8))
        #expect(try reader.header()?.strings == ["name", "value"])
        #expect(try reader.header()?.strings == ["name", "value"])
        var row = CSVRow()
        #expect(try reader.next(into: &row))
        #expect(row.strings == ["lamp", "5"])
        #expect(try !reader.next(into: &row))
        #expect(row.count == 0)
        #expect(try !reader.next(into: &row))
        #expect(try CSVReader(bytes: []).header() == nil)
    }

    @Test("cells are bytes, text or not")
    func bytes() throws {
        let reader = try CSVReader(bytes: [0xff, 0x2c, 0x00, 0x2c, 0x22, 0x80, 0x22], options: .init(hasHeader: false))
        var row = CSVRow()
        #expect(try reader.next(into: &row))
        #expect((0..<row.count).map { Array(row[$0]) } == [[0xff], [0x00], [0x80]])
        #expect(row.string(0) == nil)
        #expect(row.string(1) == "\0")
        #expect(row.withUnsafeBytes { Array($0[row.range(of: 2)]) } == [0x80])
        let error = #expect(throws: CSVError.self) { try CSVReader.rows(of: [0x61, 0x2c, 0xff]) }
        #expect(error?.code == .notText)
    }

    @Test("where a piece ends makes no difference", arguments: ["\n", "\r\n", "\r"])
    func everySplit(lineEnd: String) throws {
        let sample = "\u{feff}h1,\"h\"\"2\"\n\n\"a\nb\",\"c\"\"\"\n,\n\"\",x\" y\n\"é\", z \"\"\nlast,\"\""
        let bytes = Array(sample.replacingOccurrences(of: "\n", with: lineEnd).utf8)
        let expected = [
            ["h1", "h\"2"], ["a\(lineEnd)b", "c\""], ["", ""], ["", "x\" y"], ["é", " z \"\""], ["last", ""],
        ]
        for first in 0...bytes.count {
            for second in first...bytes.count {
                #expect(try read(bytes, pieces: [first, second]) == expected, "split at \(first) and \(second)")
            }
        }
    }

    @Test("a row in the buffer is the same as one that comes byte by byte", arguments: 0..<40)
    func everyByte(round: Int) throws {
        var generator = TestGenerator(seed: UInt64(round))
        let alphabet = ["a", ",", ",", "\"", "\n", "\r\n", "\r", " ", "é", "\0", "1234567", "abcdefgh"]
        let text = (0..<300).map { _ in alphabet[generator.number(alphabet.count)] }.joined()
        let bytes = Array(text.utf8)
        func read(_ size: Int) throws -> (rows: [[[UInt8]]], error: CSVError.Code?) {
            var given = 0
            let reader = try CSVReader(options: CSVOptions(hasHeader: false)) { buffer in
                let count = min(size, buffer.count, bytes.count - given)
                buffer.copyBytes(from: bytes[given..<given + count])
                given += count
                return count
            }
            var (row, rows) = (CSVRow(), [[[UInt8]]]())
            do throws(CSVError) {
                while try reader.next(into: &row) { rows.append((0..<row.count).map { Array(row[$0]) }) }
            } catch { return (rows, error.code) }
            return (rows, nil)
        }
        let (whole, bytewise) = (try read(1 << 20), try read(1))
        #expect(whole.rows == bytewise.rows, "\(text.debugDescription)")
        #expect(whole.error == bytewise.error)
    }

    @Test("a cell's limit is its own, and a row's that of its cells")
    func limits() throws {
        func read(_ text: String, _ change: (inout CSVOptions) -> Void) -> CSVError.Code? {
            var options = CSVOptions(hasHeader: false)
            change(&options)
            do throws(CSVError) {
                let reader = try CSVReader(bytes: Array(text.utf8), options: options)
                var row = CSVRow()
                while try reader.next(into: &row) {}
            } catch { return error.code }
            return nil
        }
        #expect(read("1234,1234,1234\n", { $0.cellLimit = 4 }) == nil)
        #expect(read("1234,12345,1234\n", { $0.cellLimit = 4 }) == .cellTooLong)
        #expect(read("1,2,3,4,5,6\n", { ($0.cellLimit, $0.rowLimit) = (4, 6) }) == nil)
        #expect(read("1,2,3,4,5,6\n", { ($0.cellLimit, $0.rowLimit) = (4, 5) }) == .rowTooLong)
        #expect(read("1,2,3\n", { $0.columnLimit = 3 }) == nil)
        #expect(read("1,2,3,4\n", { $0.columnLimit = 3 }) == .rowTooLong)
    }

    private func read(_ bytes: [UInt8], pieces: [Int]) throws -> [[String]] {
        var bounds = [0] + pieces + [bytes.count]
        let reader = try CSVReader(options: CSVOptions(hasHeader: false)) { buffer in
            // An empty piece would be the end.
            while bounds.count > 1 && bounds[0] == bounds[1] { bounds.removeFirst() }
            guard bounds.count > 1 else { return 0 }
            let piece = bytes[bounds[0]..<bounds[1]]
            buffer.copyBytes(from: piece)
            bounds.removeFirst()
            return piece.count
        }
        var row = CSVRow()
        var rows: [[String]] = []
        while try reader.next(into: &row) { rows.append(try #require(row.strings)) }
        return rows
    }

    @Test("a failing source is an error")
    func unreadable() throws {
        let reader = try CSVReader(fileDescriptor: -1)
        var row = CSVRow()
        let error = #expect(throws: CSVError.self) { try reader.next(into: &row) }
        #expect(error?.code == .unreadable(EBADF))
    }

    /// What Python's reader, an independent one, makes of a file: the rows' count and a digest of every cell with its
    /// length.
    private static let digest = """
        import csv, hashlib, sys
        h, n = hashlib.sha256(), 0
        for row in csv.reader(open(sys.argv[1], newline="", encoding="utf-8")):
            n += 1
            h.update(b"%d;" % len(row))
            for cell in row:
                cell = cell.encode()
                h.update(b"%d:%s" % (len(cell), cell))
        print(n, h.hexdigest())
        """

    @Test(
        "a museum's objects read as Python reads them",
        .enabled(if: Project.shared != nil, Comment(rawValue: Project.sharedIsAbsent)))
    func museum() throws {
        let path = try #require(Project.sharedData("carnegie.csv"))
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let reader = try CSVReader(fileDescriptor: descriptor, options: CSVOptions(hasHeader: false))
        var row = CSVRow()
        var stream: [UInt8] = []
        var count = 0
        while try reader.next(into: &row) {
            count += 1
            stream += Array("\(row.count);".utf8)
            for cell in 0..<row.count { stream += Array("\(row[cell].count):".utf8) + row[cell] }
        }
        #expect(count == 28_144)
        let sum = try run("sha256sum", input: stream).stdout.prefix(64)
        #expect(try run("python3", ["-c", Self.digest, path]).stdout == "\(count) \(sum)\n")
    }
}
