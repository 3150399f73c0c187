import CSV
import TestSupport
import Testing

/// The example of bytes in pieces in `docs/products/csv.md`: the page has the same lines, and what they print.
@Suite("CSV: the documented example of pushes") struct DocumentedPushTests {
    @Test("rows of bytes that come in pieces, and the page shows what is printed")
    func example() async throws {
        let page = try DocumentedText.file("docs/products/csv.md")
        var printed: [String] = []
        func print(_ items: Any...) { printed.append(items.map { "\($0)" }.joined(separator: " ")) }

        // Page begins.
        /// Adds up a column of a table that comes over a connection.
        func sum(of name: String, in pieces: AsyncStream<[UInt8]>) async throws -> Double {
            var rows = pieces.csvRows().makeAsyncIterator()
            guard let header = try await rows.header(),
                let column = (0..<header.count).first(where: { header.string($0) == name })
            else { return 0 }
            var sum = 0.0
            while let row = try await rows.next() {
                sum += row.string(column).flatMap(Double.init) ?? 0
            }
            return sum
        }

        let (pieces, connection) = AsyncStream<[UInt8]>.makeStream()
        for piece in ["room,watts\r", "\nStudy,4", "0\r\n\"Ha", "ll\",15"] { connection.yield(Array(piece.utf8)) }
        connection.finish()
        print(try await sum(of: "watts", in: pieces))

        let reader = try CSVPushReader(options: CSVOptions(hasHeader: false))
        var row = CSVRow()
        for piece in [[0x43, 0x61, 0x66, 0xC3], [0xA9, 0x2C, 0x31, 0x0A], [0x42, 0x61, 0x72]] as [[UInt8]] {
            reader.feed(piece)
            while try reader.next(into: &row) { print(row.string(0) ?? "", row.count) }
        }
        reader.finish()
        while try reader.next(into: &row) { print(row.string(0) ?? "", row.count) }
        // Page ends.

        let section = try DocumentedText.between("## Bytes in pieces\n", "\n## ", in: page)
        let shown = try DocumentedText.between("prints:\n\n```text\n", "```", in: section)
        #expect(printed.joined(separator: "\n") + "\n" == shown)
        let lines = try DocumentedText.example(in: #filePath)
        #expect(try DocumentedText.between("```swift\n", "```", in: section) == "import CSV\n\n" + lines)
    }
}
