import CSV
import Foundation
import TestSupport
import Testing

/// The example of `docs/products/csv.md`: the page has the same lines, and what they get and print.
@Suite("CSV: the documented example") struct DocumentedTableTests {
    @Test("a table is read from a descriptor and written, and the page shows what is printed")
    func example() throws {
        let page = try DocumentedText.file("docs/products/csv.md")
        let (source, sink) = (Pipe(), Pipe())
        try source.fileHandleForWriting.write(
            contentsOf: Data(DocumentedText.between("```text\n", "```", in: page).utf8))
        try source.fileHandleForWriting.close()
        let (input, output) = (source.fileHandleForReading.fileDescriptor, sink.fileHandleForWriting)
        var printed: [String] = []
        func print(_ items: Any...) { printed.append(items.map { "\($0)" }.joined(separator: " ")) }

        // Page begins.
        /// Adds what each lamp takes in a year, and gives the rows that it leaves out.
        func addYears(to input: Int32, writing output: FileHandle) throws -> [String] {
            let reader = try CSVReader(fileDescriptor: input)
            guard let header = try reader.header(),
                let watts = (0..<header.count).first(where: { header.string($0) == "watts" })
            else { return ["there is no column watts"] }
            var writer = try CSVWriter(delimiter: UInt8(ascii: ";"), lineEnd: .lf)
            for cell in 0..<header.count { writer.append(header[cell]) }
            writer.append("kWh a year")
            writer.endRow()

            var row = CSVRow()
            var leftOut: [String] = []
            while try reader.next(into: &row) {
                guard row.count == header.count, let number = row.string(watts).flatMap(Double.init) else {
                    leftOut.append("line \(reader.startLine): \(row.count) cells, and no number of watts")
                    continue
                }
                for cell in 0..<row.count { writer.append(row[cell]) }
                writer.append("\(number * 1.095)")
                writer.endRow()
                if writer.bytes.count > 1 << 16 { try output.write(contentsOf: writer.take()) }
            }
            try output.write(contentsOf: writer.take())
            return leftOut
        }

        for line in try addYears(to: input, writing: output) { print(line) }

        do {
            let reader = try CSVReader(bytes: Array("room,lamp\nStudy,\"Desk\nHall,Wall\n".utf8))
            var row = CSVRow()
            while try reader.next(into: &row) { print(row.count, "cells") }
        } catch {
            print(error)
            print(error.code, error.row, error.line)
        }
        // Page ends.

        try output.close()
        let written = try sink.fileHandleForReading.readToEnd() ?? Data()
        let shown = try DocumentedText.between("prints:\n\n```text\n", "```", in: page)
        #expect(String(decoding: written, as: UTF8.self) + printed.joined(separator: "\n") + "\n" == shown)
        let head = """
            import CSV
            import Foundation

            let (input, output): (Int32, FileHandle) = (0, .standardOutput)


            """
        let lines = try DocumentedText.example(in: #filePath)
        #expect(try DocumentedText.between("```swift\n", "```", in: page) == head + lines)
    }

    @Test("the page has the errors as they are said")
    func errors() throws {
        let page = try DocumentedText.file("docs/products/csv.md")
        let quote = try #require(throws: CSVError.self) {
            var row = CSVRow()
            _ = try CSVReader(bytes: Array("\"a\" b".utf8), options: CSVOptions(hasHeader: false)).next(into: &row)
        }
        let delimiter = try #require(throws: CSVError.self) { try CSVWriter(delimiter: UInt8(ascii: "\"")) }
        let descriptor = try #require(throws: CSVError.self) { try CSVReader(fileDescriptor: -1).header() }
        for error in [quote, delimiter, descriptor] { #expect(page.contains("`\(error)`"), "\(error)") }
    }

    @Test("startLine is the first line of the last row")
    func startLine() throws {
        let reader = try CSVReader(bytes: Array("\na,b\n\n\n1,\"2\n3\"\r\n4,5".utf8))
        var row = CSVRow()
        var lines: [Int] = []
        while try reader.next(into: &row) { lines.append(reader.startLine) }
        #expect(lines == [5, 7])
    }
}
