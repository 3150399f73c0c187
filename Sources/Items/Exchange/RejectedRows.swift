import CSV
import ColumnEngine
import PropertyList

/// A row as the file has it.
struct OriginalRow {
    /// Names and texts, by column.
    var cells: [(name: String, text: [UInt8])] = []
    /// The line of a row that cannot be read as one.
    var line: [UInt8]?
    /// The record of a format that has values.
    var record: PropertyListValue?

    /// The row by the names of its columns, as a function for rejected rows gets it.
    func texts(_ options: ItemFileOptions) -> PropertyListFields {
        var texts: PropertyListFields = [:]
        for (name, text) in line.map({ [("line", $0)] }) ?? cells where !text.isEmpty {
            guard let name = options.name(for: name) else { continue }
            texts[name] = String(validating: text, as: UTF8.self).map { .string($0) } ?? .data(text)
        }
        return texts
    }
}

/// The rejected rows of an import and the reasons, in the input's format: to be corrected, and imported as they are.
struct RejectedRows {
    /// The name of the last column, which has the reasons.
    static let reason = "error"
    /// The key of the reason in a record: no field has such a name.
    static let reasonKey = "$error"
    /// What the reason begins with in a file whose columns have no names.
    static let prefix = "error: "

    private let options: ItemFileOptions
    /// The names of the columns in their order, and the lines above them.
    private var columns: [String] = []
    private var hasHeader = true
    private var preamble: [UInt8] = []
    private var delimiter: UInt8
    private var rows: [(row: OriginalRow, message: String)] = []

    init(_ options: ItemFileOptions) { (self.options, delimiter) = (options, options.cellDelimiter) }

    /// Takes over the form of the input.
    mutating func begin(_ names: [String], hasHeader: Bool, delimiter: UInt8, preamble: [UInt8]) {
        (columns, self.hasHeader, self.delimiter, self.preamble) = (names, hasHeader, delimiter, preamble)
    }

    mutating func append(_ row: OriginalRow, _ message: String) { rows.append((row, message)) }

    /// - Throws: `CSVError` for an invalid delimiter; `JSONError` and `PropertyListError` for values beyond the format.
    func bytes() throws -> [UInt8] {
        if rows.isEmpty { return [] }
        switch options.format {
        case .json:
            return try PropertyListValue.array(rows.map { Self.record($0.row, $0.message) }).json(isPretty: true)
        case .jsonLines: return try lines()
        case .propertyList:
            return try PropertyListValue.array(rows.map { Self.record($0.row, $0.message) }).encoded(as: .xml)
        default: return encoded(try table())
        }
    }

    private static func record(_ row: OriginalRow, _ message: String) -> PropertyListValue {
        guard var fields = row.record?.fields else {
            return .fields([reasonKey: .string(message), "value": row.record ?? .null])
        }
        fields[reasonKey] = .string(message)
        return .fields(fields)
    }

    /// A line that is not JSON is followed by its reason, which an import passes over.
    private func lines() throws(JSONError) -> [UInt8] {
        var bytes: [UInt8] = []
        for (row, message) in rows {
            if let line = row.line { bytes += line + [UInt8(ascii: "\n")] }
            let record = row.line == nil ? Self.record(row, message) : .fields([Self.reasonKey: .string(message)])
            bytes += try record.json() + [UInt8(ascii: "\n")]
        }
        return bytes
    }

    private func table() throws(CSVError) -> [UInt8] {
        var names = columns
        var places: [[UInt8]: Int] = [:]
        for (place, name) in names.enumerated() { places[Array(name.utf8)] = place }
        var cells: [[(place: Int, text: [UInt8])]] = []
        let width = columns.isEmpty ? .max : columns.count
        for (row, _) in rows {
            cells.append(
                row.cells.prefix(width).map { name, text in
                    let key = Array(name.utf8)
                    let place = places[key] ?? names.count
                    if place == names.count {
                        names.append(name)
                        places[key] = place
                    }
                    return (place, text)
                })
        }
        // The last column of a file of rejected rows is the reason of the time before.
        if names.last == Self.reason { names.removeLast() }
        var writer = try CSVWriter(delimiter: delimiter)
        if hasHeader { writer.appendRow(names + [Self.reason]) }
        var bytes = preamble
        for (index, (row, message)) in rows.enumerated() {
            let reason = hasHeader ? message : Self.prefix + message
            if let line = row.line {
                // As it was, which no writer of cells does.
                bytes += writer.take() + line + [delimiter]
                writer.append(reason)
                writer.endRow()
                continue
            }
            var texts = [[UInt8]](repeating: [], count: names.count)
            for cell in cells[index] where cell.place < names.count { texts[cell.place] = cell.text }
            for text in texts { writer.append(text) }
            // Cells beyond the header, as they were.
            if row.cells.count > width { for cell in row.cells[width...] { writer.append(cell.text) } }
            writer.append(reason)
            writer.endRow()
        }
        return bytes + writer.take()
    }

    /// The text in the encoding that was given for the input.
    private func encoded(_ text: [UInt8]) -> [UInt8] {
        let string = String(decoding: text, as: UTF8.self)
        func units(_ isBigEndian: Bool) -> [UInt8] {
            string.utf16.flatMap {
                isBigEndian ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)]
            }
        }
        switch options.encoding {
        case .utf8?, .automatic?, nil: return text
        case .utf16?: return [0xFF, 0xFE] + units(false)
        case .utf16LittleEndian?: return units(false)
        case .utf16BigEndian?: return units(true)
        case .latin1?, .windows1252?: return string.unicodeScalars.map { TextDecoding.byte(windows1252: $0) ?? 0x3F }
        }
    }
}
