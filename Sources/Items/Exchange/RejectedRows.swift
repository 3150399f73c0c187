import CSV
import ColumnEngine
import Files
import PropertyList

/// A row as the file has it.
struct OriginalRow {
    /// Names and texts, by column.
    var cells: [(name: String, text: [UInt8])] = []
    /// The line of a row that cannot be read as one.
    var line: [UInt8]?
    /// The record of a format that has values.
    var record: PropertyListValue?
    /// The record's text in a JSON file, without an earlier reason.
    var text: [UInt8]?

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
            let records = try rows.map { try Self.text($0.row, $0.message) }
            return Array("[\n".utf8) + records.joined(separator: Array(",\n".utf8)) + Array("\n]\n".utf8)
        case .jsonLines: return try lines()
        case .propertyList:
            let records = PropertyListValue.array(rows.map { Self.record($0.row, $0.message) })
            let binary = try records.encoded(as: .binary)
            // XML can be corrected by hand, and does not have all values.
            let (xml, loss) = (try? BinaryPropertyListReader(binary).xmlSayingLoss()) ?? (binary, nil)
            return loss == nil ? xml : binary
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

    /// The text of a record with the reason as its last member.
    private static func text(_ row: OriginalRow, _ message: String) throws(JSONError) -> [UInt8] {
        guard let text = row.text, let end = text.lastIndex(of: UInt8(ascii: "}")),
            let last = text[..<end].lastIndex(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) })
        else { return try record(row, message).json() }
        let separator = text[last] == UInt8(ascii: "{") ? "" : ", "
        let reason = "\(separator)\(JSONText.quoted(reasonKey)): \(JSONText.quoted(message))"
        return text[...last] + Array(reason.utf8) + text[(last + 1)...]
    }

    /// A line that is not JSON is followed by its reason, which an import passes over.
    private func lines() throws(JSONError) -> [UInt8] {
        var bytes: [UInt8] = []
        for (row, message) in rows {
            if let line = row.line { bytes += line + [UInt8(ascii: "\n")] }
            let reason = PropertyListValue.fields([Self.reasonKey: .string(message)])
            bytes += try row.line == nil ? Self.text(row, message) : reason.json()
            bytes.append(UInt8(ascii: "\n"))
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

extension ItemMerger {
    /// Says how many of the new items are equal to ones that were there: a file that was imported twice without a key.
    ///
    /// - Throws: `WorkStopped`.
    func remarkRepeated(_ row: ImportedRow) throws {
        // In a serializable transaction a read of all items would conflict with every other host's changes.
        guard !hasKey, report.created > 0, formerCount > 0, !row.columns.isEmpty, !store.columns.recordsReads() else {
            return
        }
        // Of a small file and a large collection the comparison would take longer than the import.
        guard formerCount <= max(1 << 18, report.created * 16) else { return }
        var items = RepeatedItems(store.columns, row.columns.map(\.field))
        let count = try items.count(created: report.created)
        let title = row.place(of: ItemField(rawValue: 0)).map { row.columns[$0].fieldName }
        let key =
            title ?? items.distinctive.flatMap { field in row.columns.first { $0.field == field }?.fieldName } ?? ""
        remark(
            .repeated, count,
            "\(count.counted("new item")) \(count == 1 ? "is" : "are") equal to \(count == 1 ? "one that was" : "ones that were") there: with \(OptionWords.option("key", key)) an import finds those again"
        )
    }
}

/// Compares new items with those that were there, by the fields of a file.
///
/// One field, of many different values, tells most of the other items apart; of the others all fields are hashed.
struct RepeatedItems {
    private let columns: ColumnStore
    private let fields: [ItemField]
    private let seed = UInt64.random(in: .min ... .max)
    /// The field with the most values among the first new items.
    private(set) var distinctive: ItemField?

    init(_ columns: ColumnStore, _ fields: [ItemField]) {
        (self.columns, self.fields) = (columns, fields.filter { $0 != columns.keyField })
    }

    /// The number of new items, the last ones, that are equal to one of the others. O(items) for one field.
    ///
    /// - Throws: `WorkStopped`.
    mutating func count(created: Int) throws -> Int {
        let rows = columns.slots.filter { $0 != ItemOrder.hole }
        let (former, new) = (rows.dropLast(created), rows.suffix(created))
        guard !former.isEmpty, let first = try mostDistinctive(new.prefix(500)) else { return 0 }
        distinctive = first
        columns.prepareColumns([first])
        var pace = InterruptionPace()
        var values: Set<UInt64> = []
        for row in new {
            if pace.isDue() { throw WorkStopped() }
            values.insert(hash(row, first, seed))
        }
        var known: Set<UInt64> = []
        for row in former {
            if pace.isDue() { throw WorkStopped() }
            guard values.contains(hash(row, first, seed)) else { continue }
            if known.isEmpty { columns.prepareColumns(fields) }
            known.insert(hash(row))
        }
        if known.isEmpty { return 0 }
        var count = 0
        for row in new {
            if pace.isDue() { throw WorkStopped() }
            if known.contains(hash(row)) { count += 1 }
        }
        return count
    }

    private func mostDistinctive(_ rows: ArraySlice<UInt32>) throws -> ItemField? {
        let counts = fields.map { field in Set(rows.map { hash($0, field, seed) }).count }
        return counts.max().flatMap { most in counts.firstIndex(of: most) }.map { fields[$0] }
    }

    /// The hash of all fields: of two items with different values the same one in 2^64 cases.
    private func hash(_ row: UInt32) -> UInt64 { fields.reduce(seed) { hash(row, $1, $0) } }

    private func hash(_ row: UInt32, _ field: ItemField, _ seed: UInt64) -> UInt64 {
        let cell = columns.cell(row, field)
        if cell.isText { return cell.withText { Checksum.hash(UnsafeRawBufferPointer($0), seed: seed) } }
        switch columns.value(cell) {
        case nil: return Self.mix(seed, 1, 0)
        case .integer(let number)?: return Self.mix(seed, 2, UInt64(bitPattern: number))
        case .real(let number)?: return Self.mix(seed, 3, number.bitPattern)
        case .date(let date)?: return Self.mix(seed, 4, date.secondsSinceReferenceDate.bitPattern)
        case .boolean(let flag)?: return Self.mix(seed, 5, flag ? 1 : 0)
        case let value?: return Self.mix(seed, 6, UInt64(bitPattern: Int64(value.hashValue)))
        }
    }

    private static func mix(_ seed: UInt64, _ kind: UInt64, _ bits: UInt64) -> UInt64 {
        let product = (seed ^ bits).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15 &+ kind << 1)
        return product.high ^ product.low &+ kind
    }
}
