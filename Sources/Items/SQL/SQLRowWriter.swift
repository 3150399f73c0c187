import CSV
import PropertyList
import SQLite
import Wording

/// A format in which the rows of a statement are written.
package enum SQLRowFormat: String, CaseIterable, Sendable {
    /// Comma-separated values with a header.
    case csv
    /// The same, separated by tabs.
    case tsv
    /// An array of objects.
    case json
    /// One object per line.
    case jsonLines = "jsonl"
    /// A table of Markdown, as GitHub has it.
    case markdown

    /// The format of a path's extension; nil for another one.
    package init?(path: String) {
        let name = path.lowercased()
        let endings: [(String, SQLRowFormat)] = [
            (".csv", .csv), (".tsv", .tsv), (".json", .json), (".jsonl", .jsonLines), (".ndjson", .jsonLines),
            (".md", .markdown), (".markdown", .markdown),
        ]
        guard let found = endings.first(where: { name.hasSuffix($0.0) })?.1 else { return nil }
        self = found
    }
}

/// Writes the rows of a statement. Every column of every row is written in the statement's order, NULL as null in JSON
/// and as an empty cell elsewhere; blobs are written in Base64.
package struct SQLRowWriter {
    /// The size of a piece, in bytes.
    private static let pieceSize = 1 << 20

    private let rows: SQLRows
    private let format: SQLRowFormat
    /// Whether infinities are written as null.
    private let writesNull: Bool
    /// What the error of such a number advises.
    private let advice: String
    private let write: (UnsafeRawBufferPointer) throws -> Void
    private var text: JSONText
    private var pace = InterruptionPace()
    /// The number of infinities written as null.
    package private(set) var nullCount = 0

    /// - Parameters:
    ///   - rows: the rows.
    ///   - format: the format.
    ///   - writesNull: whether infinities are written as null; else they are an error, as a reader would take them for
    ///     texts.
    ///   - advice: the end of that error's message.
    ///   - write: receives the next bytes of the file.
    package init(
        _ rows: SQLRows, as format: SQLRowFormat, writesNull: Bool = false, advice: String = "",
        write: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) {
        (self.rows, self.format, self.writesNull, self.advice) = (rows, format, writesNull, advice)
        self.write = write
        text = JSONText(format == .json ? .foundation : .compact)
    }

    /// Writes all rows.
    ///
    /// - Throws: `StoreError` with `unwritableValue` for a value that the format does not have, `WorkStopped`, and the
    ///   errors of the function that receives the bytes.
    package mutating func run() throws {
        switch format {
        case .csv, .tsv: try writeCells()
        case .json, .jsonLines: try writeObjects()
        case .markdown: try writeMarkdown()
        }
    }

    private mutating func checkForStop() throws { if pace.isDue() { throw WorkStopped() } }

    private func put(_ bytes: [UInt8]) throws { if !bytes.isEmpty { try bytes.withUnsafeBytes(write) } }

    private func error(_ row: Int, _ column: Int, _ message: String) -> StoreError {
        let name = rows.columns[column]
        return StoreError(.unwritableValue(field: name), "row \((row + 1).grouped), column \(name): \(message)")
    }

    private func validText(
        _ bytes: UnsafeBufferPointer<UInt8>, _ row: Int, _ column: Int
    ) throws(StoreError) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        throw error(row, column, "the text is not UTF-8: cast(… as blob) writes its bytes in Base64")
    }

    // MARK: Cells

    private mutating func writeCells() throws {
        var writer = try CSVWriter(delimiter: UInt8(ascii: format == .tsv ? "\t" : ","))
        for name in rows.columns { writer.append(name) }
        writer.endRow()
        for row in 0..<rows.count {
            try checkForStop()
            for column in rows.columns.indices {
                try rows.withCell(row, column) { cell in
                    switch cell {
                    case .null: writer.append("")
                    case .integer(let number): writer.append(String(number))
                    case .real(let number): writer.append(try text(of: number, row, column))
                    case .text(let bytes): writer.append(bytes)
                    case .blob(let bytes): writer.append(Self.base64(bytes))
                    }
                }
            }
            writer.endRow()
            if writer.bytes.count >= Self.pieceSize { try put(writer.take()) }
        }
        try put(writer.take())
    }

    private mutating func text(of number: Double, _ row: Int, _ column: Int) throws(StoreError) -> [UInt8] {
        guard number.isFinite else {
            nullCount += 1
            if writesNull { return [] }
            throw error(row, column, "a cell has no \(number): it would be read as a text\(advice)")
        }
        var text: [UInt8] = []
        number.appendShortest(to: &text)
        return text
    }

    private static func base64(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        Base64.encode(UnsafeRawBufferPointer(bytes), into: &text)
        return text
    }

    // MARK: Objects

    private mutating func writeObjects() throws {
        let isArray = format == .json
        let level = isArray ? 1 : 0
        let keys = rows.columns.map { name in
            var key = JSONText(isArray ? .foundation : .compact)
            key.key(name)
            return key.take()
        }
        if isArray { text.append("[") }
        for row in 0..<rows.count {
            try checkForStop()
            if isArray { text.next(level, isFirst: row == 0) }
            text.append("{")
            for column in keys.indices {
                text.next(level + 1, isFirst: column == 0)
                text.append(json: keys[column])
                try rows.withCell(row, column) { try append($0, row, column) }
            }
            text.end("}", level)
            if !isArray { text.append("\n") }
            if text.bytes.count >= Self.pieceSize { try put(text.take()) }
        }
        if isArray {
            text.end("]", 0, isEmpty: rows.count == 0)
            text.append("\n")
        }
        try put(text.take())
    }

    private mutating func append(_ cell: SQLiteCell, _ row: Int, _ column: Int) throws(StoreError) {
        switch cell {
        case .null: text.append("null")
        case .integer(let number): text.append(String(number))
        case .real(let number):
            if number.isFinite { return text.real(number) }
            guard writesNull else { throw error(row, column, "JSON has no \(number)\(advice)") }
            nullCount += 1
            text.append("null")
        case .text(let bytes):
            _ = try validText(bytes, row, column)
            text.string(utf8: bytes)
        case .blob(let bytes): text.base64(Array(bytes))
        }
    }

    // MARK: Markdown

    private mutating func writeMarkdown() throws {
        var out: [UInt8] = []
        func endLine(_ cells: [String]) {
            out.append(contentsOf: ("| " + cells.joined(separator: " | ") + " |\n").utf8)
        }
        endLine(rows.columns.map(Markdown.cell))
        endLine(rows.columns.indices.map { rows.isNumeric($0) ? "---:" : "---" })
        for row in 0..<rows.count {
            try checkForStop()
            var cells: [String] = []
            for column in rows.columns.indices {
                try rows.withCell(row, column) { cell in
                    switch cell {
                    case .null: cells.append("")
                    case .integer(let number): cells.append(String(number))
                    case .real(let number):
                        cells.append(String(decoding: try text(of: number, row, column), as: UTF8.self))
                    case .text(let bytes): cells.append(Markdown.cell(try validText(bytes, row, column)))
                    case .blob(let bytes): cells.append(String(decoding: Self.base64(bytes), as: UTF8.self))
                    }
                }
            }
            endLine(cells)
            if out.count >= Self.pieceSize {
                try put(out)
                out = []
            }
        }
        try put(out)
    }
}

/// Texts in a table of Markdown.
private enum Markdown {
    /// A text as a cell that shows it as it is: signs of the language are escaped, a line break is `<br>`.
    static func cell(_ text: String) -> String {
        var cell = ""
        var before: Unicode.Scalar = " "
        let scalars = text.unicodeScalars
        for index in scalars.indices {
            let scalar = scalars[index]
            defer { before = scalar }
            switch scalar {
            case "\n": if before != "\r" { cell += "<br>" }
            case "\r": cell += "<br>"
            case "\\", "|", "`", "*", "[", "<", "~": cell += "\\\(Character(scalar))"
            case "&": cell += "&amp;"
            case "_":
                // Within a word it emphasises nothing.
                let next = scalars.index(after: index)
                let isWithin =
                    before.properties.isAlphabetic && next < scalars.endIndex && scalars[next].properties.isAlphabetic
                cell += isWithin ? "_" : "\\_"
            default: cell.unicodeScalars.append(scalar)
            }
        }
        return cell
    }
}
