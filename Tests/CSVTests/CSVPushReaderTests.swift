import Foundation
import TestSupport
import Testing

@testable import CSV

/// What a reader makes of a text: the same, however the bytes come.
private struct Reading: Equatable, CustomStringConvertible {
    var header: [[UInt8]]?
    var rows: [[[UInt8]]] = []
    /// `startLine` and `line` behind each row.
    var lines: [[Int]] = []
    var error: CSVError?

    var description: String {
        "\(header.map(Self.text) ?? "-") \(rows.map(Self.text)) \(lines) \(error.map(\.message) ?? "-")"
    }

    private static func text(_ row: [[UInt8]]) -> String {
        "\(row.map { String(decoding: $0, as: UTF8.self) })"
    }

    private static func cells(_ row: CSVRow) -> [[UInt8]] { (0..<row.count).map { Array(row[$0]) } }

    /// Of the whole text, by the reader that waits for its bytes.
    static func whole(_ text: [UInt8], _ options: CSVOptions) throws -> Reading {
        var reading = Reading()
        let reader = try CSVReader(bytes: text, options: options)
        var row = CSVRow()
        do throws(CSVError) {
            reading.header = try reader.header().map(cells)
            while try reader.next(into: &row) {
                reading.rows.append(cells(row))
                reading.lines.append([reader.startLine, reader.line])
            }
        } catch { reading.error = error }
        return reading
    }

    /// Of pieces that are pushed, with rows taken after each of them.
    static func pushed(_ pieces: [ArraySlice<UInt8>], _ options: CSVOptions) throws -> Reading {
        var reading = Reading()
        let reader = try CSVPushReader(options: options)
        var row = CSVRow()
        do throws(CSVError) {
            for piece in pieces + [nil] {
                if let piece { reader.feed(piece) } else { reader.finish() }
                reading.header = try reader.header().map(cells)
                while try reader.next(into: &row) {
                    reading.rows.append(cells(row))
                    reading.lines.append([reader.startLine, reader.line])
                }
                #expect(row.count == 0)
            }
        } catch { reading.error = error }
        return reading
    }

    /// Of a sequence of rows.
    static func sequence<Bytes: AsyncSequence>(_ rows: CSVRowSequence<Bytes>) async throws -> Reading {
        var reading = Reading()
        var iterator = rows.makeAsyncIterator()
        do {
            reading.header = try await iterator.header().map(cells)
            while let row = try await iterator.next() { reading.rows.append(cells(row)) }
        } catch let error as CSVError { reading.error = error }
        return reading
    }
}

@Suite("CSV by pushes")
struct CSVPushReaderTests {
    private static let alphabet: [String] = [
        "a", "b c", ",", ",", ",", ";", "\"", "\"", "\"\"", "\n", "\r\n", "\r", "\r\n\r\n", " ", "é", "日本", "🎨", "\0",
        "#", "# note", "\"q, \"\"é\"\"\r\n\",", "1234567", "abcdefghi", "\u{feff}",
    ]

    private static func options(_ random: inout TestGenerator) -> CSVOptions {
        var options = CSVOptions(
            delimiter: random.number(4) == 0 ? UInt8(ascii: ";") : UInt8(ascii: ","), hasHeader: random.number(2) == 0)
        if random.number(3) == 0 { options.comment = Array("# ".utf8) }
        if random.number(4) == 0 { options.skippedLines = 1 + random.number(3) }
        options.skipsBlanks = random.number(3) == 0
        if random.number(3) == 0 {
            (options.cellLimit, options.rowLimit, options.columnLimit) = (12, 30, 9)
        }
        return options
    }

    /// Cells that are mostly well-formed, so that most texts are read to their end, or tokens in any order.
    private static func text(_ random: inout TestGenerator) -> [UInt8] {
        var text = random.number(4) == 0 ? "\u{feff}" : ""
        if random.number(2) == 0 {
            for _ in 0..<random.number(60) { text += alphabet[random.number(alphabet.count)] }
        } else {
            let lineEnd = ["\n", "\r\n", "\r"][random.number(3)]
            for _ in 0..<random.number(12) {
                let cells = (0...random.number(4)).map { _ -> String in
                    let cell = (0..<random.number(4)).map { _ in alphabet[random.number(alphabet.count)] }.joined()
                    return random.number(3) == 0 ? "x" : "\"\(cell.replacingOccurrences(of: "\"", with: "\"\""))\""
                }
                text += cells.joined(separator: ",") + lineEnd
            }
        }
        return Array(text.utf8)
    }

    private static func cut(_ text: [UInt8], at places: [Int]) -> [ArraySlice<UInt8>] {
        let bounds = [0] + places.sorted() + [text.count]
        return zip(bounds, bounds.dropFirst()).map { text[$0..<$1] }
    }

    @Test("random texts, cut anywhere, are what the other reader makes of the whole", arguments: 0..<50)
    func everyCut(round: Int) throws {
        var random = TestGenerator(seed: UInt64(round))
        for _ in 0..<20 {
            let (text, options) = (Self.text(&random), Self.options(&random))
            let whole = try Reading.whole(text, options)
            let bytewise = try Reading.pushed(text.map { [$0][...] }, options)
            #expect(bytewise == whole, "byte by byte: \(String(decoding: text, as: UTF8.self).debugDescription)")
            for _ in 0..<5 {
                let places = (0..<random.number(8)).map { _ in random.number(text.count + 1) }
                let pushed = try Reading.pushed(Self.cut(text, at: places), options)
                #expect(pushed == whole, "\(places): \(String(decoding: text, as: UTF8.self).debugDescription)")
            }
        }
    }

    @Test("each pair of cuts of a text with all that can be cut", arguments: ["\n", "\r\n", "\r"])
    func everyPair(lineEnd: String) throws {
        let sample =
            "\u{feff}title\n# é\n#\nh1,\"h\"\"2\"\n\n\"a\nb\", \"c\"\"\"\n#,\n\"\",x\" y\n\"🎨\", z \"\"\nlast,\"\""
        let text = Array(sample.replacingOccurrences(of: "\n", with: lineEnd).utf8)
        var options = CSVOptions()
        (options.comment, options.skippedLines, options.skipsBlanks) = (Array("# ".utf8), 1, true)
        let whole = try Reading.whole(text, options)
        #expect(whole.error == nil && whole.rows.count == 5 && whole.header == [Array("h1".utf8), Array("h\"2".utf8)])
        for first in 0...text.count {
            for second in first...text.count {
                let pushed = try Reading.pushed(Self.cut(text, at: [first, second]), options)
                if pushed != whole { Issue.record("cut at \(first) and \(second): \(pushed), not \(whole)") }
            }
        }
    }

    @Test("a row comes with its line end, and one without at the end")
    func atOnce() throws {
        let reader = try CSVPushReader(options: CSVOptions(hasHeader: false))
        var row = CSVRow()
        reader.feed("a,\"b".utf8)
        #expect(try !reader.next(into: &row))
        reader.feed("\"\r".utf8)
        #expect(try reader.next(into: &row) && row.strings == ["a", "b"])
        reader.feed("\nlast".utf8)
        #expect(try !reader.next(into: &row))
        reader.finish()
        #expect(try reader.next(into: &row) && row.strings == ["last"])
        #expect(try !reader.next(into: &row) && row.count == 0)
    }

    @Test("an error comes behind the rows before it, and stays")
    func errors() throws {
        let reader = try CSVPushReader(options: CSVOptions(hasHeader: false))
        var row = CSVRow()
        reader.feed("a\n\"b\"c\nd\n".utf8)
        #expect(try reader.next(into: &row) && row.strings == ["a"])
        for _ in 0..<2 {
            let error = #expect(throws: CSVError.self) { try reader.next(into: &row) }
            #expect(error?.code == .textAfterQuote && error?.row == 2 && error?.line == 2)
        }
        #expect(throws: CSVError.self) { try CSVPushReader(options: CSVOptions(delimiter: UInt8(ascii: "\n"))) }
    }

    @Test("a cell that never ends meets its limit before the end, and takes no more memory than it")
    func endless() throws {
        var options = CSVOptions(hasHeader: false)
        options.cellLimit = 1 << 20
        let reader = try CSVPushReader(options: options)
        var row = CSVRow()
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1000)
        var fed = 0
        let error = #expect(throws: CSVError.self) {
            while fed < 1 << 24 {
                reader.feed(piece)
                fed += piece.count
                _ = try reader.next(into: &row)
            }
        }
        #expect(error?.code == .cellTooLong)
        #expect(fed <= options.cellLimit + piece.count)
    }

    @Test("bytes that are not taken are kept for later, each moved once")
    func queue() throws {
        let reader = try CSVPushReader(options: CSVOptions(hasHeader: false))
        var row = CSVRow()
        let line = Array((String(repeating: "x", count: 999) + "\n").utf8)
        for _ in 0..<500 { reader.feed(line) }
        var rows = 0
        while try reader.next(into: &row) {
            #expect(row[0].count == 999)
            rows += 1
            if rows < 700 { reader.feed(line) }
        }
        #expect(rows == 1199)
    }

    // MARK: Sequences

    /// Pieces that come one after the other.
    private struct Pieces<Element: Sendable>: AsyncSequence, Sendable {
        let all: [Element]
        var failure: TestFailure?

        struct Iterator: AsyncIteratorProtocol {
            var rest: ArraySlice<Element>
            let failure: TestFailure?

            mutating func next() async throws -> Element? {
                await Task.yield()
                if rest.isEmpty, let failure { throw failure }
                return rest.popFirst()
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator(rest: all[...], failure: failure) }
    }

    @Test("the rows of a sequence of bytes, or of pieces, are those of the text", arguments: 0..<10)
    func sequences(round: Int) async throws {
        var random = TestGenerator(seed: UInt64(1000 + round))
        for _ in 0..<10 {
            let (text, options) = (Self.text(&random), Self.options(&random))
            var whole = try Reading.whole(text, options)
            whole.lines = []
            #expect(try await Reading.sequence(Pieces(all: text).csvRows(options: options)) == whole)
            let places = (0..<random.number(8)).map { _ in random.number(text.count + 1) }
            let pieces = Pieces(all: Self.cut(text, at: places))
            #expect(try await Reading.sequence(pieces.csvRows(options: options)) == whole)
        }
    }

    @Test("a row comes before the bytes behind it are asked for; the header is apart")
    func noReadAhead() async throws {
        let (stream, bytes) = AsyncStream<UInt8>.makeStream()
        for byte in "name,price\nlamp,14\n".utf8 { bytes.yield(byte) }
        var rows = stream.csvRows().makeAsyncIterator()
        #expect(try await rows.next()?.strings == ["lamp", "14"])
        #expect(try await rows.header()?.strings == ["name", "price"])
        for byte in "bed,90".utf8 { bytes.yield(byte) }
        bytes.finish()
        #expect(try await rows.next()?.strings == ["bed", "90"])
        #expect(try await rows.next() == nil)
        #expect(try await rows.next() == nil)
    }

    @Test("an error of the bytes comes behind the rows that are complete")
    func failure() async throws {
        let pieces = Pieces(all: [Array("a\nb\nc".utf8)], failure: TestFailure("the line is cut"))
        var rows: [[String]] = []
        await #expect(throws: TestFailure.self) {
            for try await row in pieces.csvRows(options: CSVOptions(hasHeader: false)) {
                rows.append(try #require(row.strings))
            }
        }
        #expect(rows == [["a"], ["b"]])
        await #expect(throws: CSVError.self) {
            for try await _ in pieces.csvRows(options: CSVOptions(delimiter: 0x80)) {}
        }
    }
}
