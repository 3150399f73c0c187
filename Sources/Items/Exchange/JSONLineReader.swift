import ColumnEngine
import PropertyList

/// Reads items from JSON Lines, one object per line, as a stream.
struct JSONLineReader {
    /// Maximum length of a line, in bytes.
    private static let lineLimit = 64 << 20

    private let options: ItemFileOptions
    private let path: String
    private let file: ImportFile

    init(_ options: ItemFileOptions, _ path: String, _ file: ImportFile) {
        (self.options, self.path, self.file) = (options, path, file)
    }

    func read(_ row: ImportedRow, _ merger: ItemMerger) throws {
        let text = try TextDecoding(file, options.encoding)
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { chunk.deallocate() }
        var line: [UInt8] = []
        while true {
            let count = try text.read(into: chunk)
            if count == 0 { break }
            var rest = UnsafeRawBufferPointer(rebasing: chunk[..<count])[...]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                line.append(contentsOf: rest[..<end])
                rest = rest[(end + 1)...]
                try take(&line, row, merger)
            }
            line.append(contentsOf: rest)
            guard line.count <= Self.lineLimit else {
                throw StoreError(
                    .unreadableFile, "\(path), line \(row.number + 1): it has more than \(Self.lineLimit) bytes",
                    path: path)
            }
        }
        try take(&line, row, merger)
    }

    private func take(_ line: inout [UInt8], _ row: ImportedRow, _ merger: ItemMerger) throws {
        defer { line.removeAll(keepingCapacity: true) }
        row.line += 1
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { return }
        row.number = row.line
        if row.line % 64 == 0 { try options.progress?(file.position, file.size) }
        let values: [PropertyListValue]
        do throws(JSONError) {
            values = try PropertyListValue.values(json: line, repeated: &merger.repeatedKeys, order: &merger.keyOrder)
        } catch {
            // A row is a line.
            let place = error.column.map { "column \($0): " } ?? ""
            let (copy, failure) = (line, StoreError(.unreadableFile, "not JSON: \(place)\(error.reason)"))
            row.original = { OriginalRow(line: copy) }
            return try merger.refuse(row, failure)
        }
        for value in values {
            guard case .array(let records) = value else {
                // The reason of the line before, in a file of rejected rows.
                if let keys = value.fields?.keys, keys.count == 1, keys.first == RejectedRows.reasonKey { continue }
                try merger.takeJSON(value, row)
                continue
            }
            for record in records { try merger.takeJSON(record, row) }
        }
    }
}
