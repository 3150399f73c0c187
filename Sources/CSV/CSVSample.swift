/// The beginning of a text, looked at for its form.
struct CSVSample {
    let text: [UInt8]
    let isWhole: Bool
    private var cached: [UInt8: Rows] = [:]

    init(text: [UInt8], isWhole: Bool) { (self.text, self.isWhole) = (text, isWhole) }

    /// Rows by one delimiter.
    private struct Rows {
        var rows: [CSVRow] = []
        /// The lines on which they begin.
        var lines: [Int] = []
        var malformed = 0

        /// The most frequent number of cells; the larger of two.
        var width: Int {
            var counts: [Int: Int] = [:]
            for row in rows { counts[row.count, default: 0] += 1 }
            return counts.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key ?? 0
        }
    }

    /// The delimiter of a line `sep=;`, which spreadsheets write and read.
    var separatorLine: UInt8? {
        var start = text[...]
        if start.starts(with: CSVByte.byteOrderMark) { start = start.dropFirst(3) }
        guard start.starts(with: "sep=".utf8) else { return nil }
        start = start.dropFirst(4)
        guard let delimiter = start.first, let end = start.dropFirst().first, end == CSVByte.lf || end == CSVByte.cr
        else {
            return nil
        }
        return (try? CSVOptions(delimiter: delimiter).check()) == nil ? nil : delimiter
    }

    /// The delimiter that most rows have equally often; the usual one in doubt.
    mutating func delimiter(usual: UInt8, _ dialect: CSVDialect) -> UInt8 {
        let candidates =
            [usual]
            + [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|")].filter { $0 != usual }
        var best = (delimiter: usual, score: 0.0, width: 0)
        for delimiter in candidates where text.contains(delimiter) {
            let rows = rows(dialect, delimiter, skipsBlanks: false)
            let width = rows.width
            guard width > 1 else { continue }
            // A title above the rows has fewer cells.
            let first = rows.rows.firstIndex { $0.count == width } ?? 0
            let body = rows.rows[(first <= Self.titleLimit ? first : 0)...]
            let total = body.count + rows.malformed + first
            let score = Double(body.count { $0.count == width }) / Double(max(total, 1))
            // The header belongs to the rows: texts may hold any delimiter, and names do not.
            guard score >= 0.5 else { continue }
            let isBetter =
                score > best.score + 0.001
                || score > best.score - 0.001 && best.width > 0 && best.delimiter != usual && width > best.width
            if isBetter || best.width > 0 && isDecimal(best.delimiter, in: rows, score, best.score) {
                best = (delimiter, score, width)
            }
        }
        return best.delimiter
    }

    /// Whether the comma found so far is that of decimals within the cells of another delimiter.
    private func isDecimal(_ found: UInt8, in rows: Rows, _ score: Double, _ best: Double) -> Bool {
        guard found == UInt8(ascii: ","), score >= best - 0.001 else { return false }
        let withComma = rows.rows.filter { row in (0..<row.count).contains { row[$0].contains(found) } }
        return !withComma.isEmpty
            && withComma.allSatisfy { row in
                (0..<row.count).allSatisfy { cell in
                    !row[cell].contains(found)
                        || row[cell].withUnsafeBufferPointer { !CellFacts($0).readings.isDisjoint(with: .commas) }
                }
            }
    }

    /// Whether all cells but the first of each row begin with a blank.
    mutating func hasBlanks(_ dialect: CSVDialect) -> Bool {
        guard dialect.delimiter != 0x20, text.contains(0x20) else { return false }
        let plain = rows(dialect, dialect.delimiter, skipsBlanks: false)
        guard let header = plain.rows.first, header.count > 1, plain.rows.count > 1 else { return false }
        // Most texts show it in their first row.
        guard (1..<header.count).allSatisfy({ header[$0].isEmpty || header[$0].first == 0x20 }) else { return false }
        let skipped = rows(dialect, dialect.delimiter, skipsBlanks: true)
        guard skipped.malformed == 0 else { return false }
        return skipped.rows.allSatisfy { $0.count == header.count } && isEachBlank(dialect.delimiter)
    }

    /// Whether a blank is behind each delimiter outside of quotes that begin a cell.
    private func isEachBlank(_ delimiter: UInt8) -> Bool {
        var isQuoted = false
        var isStart = true
        for (index, byte) in text.enumerated() {
            if isQuoted {
                if byte == CSVByte.quote { isQuoted = false }
            } else if byte == CSVByte.quote, isStart {
                isQuoted = true
                isStart = false
            } else if byte == delimiter {
                if index + 1 < text.count, text[index + 1] != 0x20, text[index + 1] != delimiter,
                    text[index + 1] != CSVByte.lf,
                    text[index + 1] != CSVByte.cr
                {
                    return false
                }
                isStart = true
            } else if byte == CSVByte.lf || byte == CSVByte.cr {
                isStart = true
            } else if byte != 0x20 {
                isStart = false
            }
        }
        return true
    }

    // MARK: Titles

    /// The most rows of a title.
    private static let titleLimit = 20

    /// The lines above a header that are plainly a title: each row of them has one cell, and a row of names follows.
    mutating func titles(_ dialect: CSVDialect) -> (lines: Int, first: String, areComments: Bool)? {
        let rows = rows(dialect, dialect.delimiter, skipsBlanks: dialect.skipsBlanks)
        let width = rows.width
        guard width > 1, let header = rows.rows.firstIndex(where: { !Self.isTitle($0) }),
            1...Self.titleLimit ~= header, rows.rows.count > header + 1
        else { return nil }
        let names = rows.rows[header]
        guard names.count == width, Self.areNames(names) else { return nil }
        let first =
            (0..<header).first { rows.rows[$0].count > 0 && !rows.rows[$0][0].isEmpty }.map { rows.rows[$0][0] } ?? []
        let areComments = rows.rows[..<header].allSatisfy { $0[0].starts(with: "# ".utf8) }
        return (rows.lines[header] - 1, String(decoding: first, as: UTF8.self), areComments)
    }

    /// Whether a row has a text in its first cell at most.
    private static func isTitle(_ row: CSVRow) -> Bool { (1..<max(row.count, 1)).allSatisfy { row[$0].isEmpty } }

    /// Whether cells are names: texts, each another, and no values.
    private static func areNames(_ row: CSVRow) -> Bool {
        let cells = (0..<row.count).map { Array(row[$0]) }
        guard cells.allSatisfy({ !$0.isEmpty }), Set(cells).count == cells.count else { return false }
        return cells.allSatisfy { $0.withUnsafeBufferPointer { CellFacts($0).readings.isEmpty } }
    }

    // MARK: Rows

    private mutating func rows(_ dialect: CSVDialect, _ delimiter: UInt8, skipsBlanks: Bool) -> Rows {
        if !skipsBlanks, let rows = cached[delimiter] { return rows }
        var options = dialect.options(hasHeader: false)
        (options.delimiter, options.skipsBlanks, options.recovers) = (delimiter, skipsBlanks, true)
        var result = Rows()
        guard let reader = try? CSVReader(bytes: text, options: options) else { return result }
        var row = CSVRow()
        reading: while result.rows.count < 4096 {
            do throws(CSVError) {
                guard try reader.next(into: &row) else { break reading }
                result.rows.append(row)
                result.lines.append(reader.startLine)
            } catch {
                result.malformed += 1
                // A quote of the last row may close behind the sample.
                if error.code == .unterminatedQuote && !isWhole || result.malformed > 64 { break reading }
                guard (try? reader.recover()) != nil else { break reading }
            }
        }
        if !isWhole, result.malformed == 0, result.rows.count > 1 {
            result.rows.removeLast()
            result.lines.removeLast()
        }
        if !skipsBlanks { cached[delimiter] = result }
        return result
    }
}
