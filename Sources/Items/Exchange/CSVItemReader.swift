package import CSV
import ColumnEngine
import FileFormats
import Files
import PropertyList

/// Reads the rows of comma-separated values twice: once to infer the kinds of columns, and once to merge the rows.
///
/// A single pass with a revised guess would save a tenth of an import, but host functions would see values that turn
/// out to be texts.
struct CSVItemReader {
    private let store: ItemStore
    private let options: ItemFileOptions
    private let path: String
    private let file: ImportFile
    private let nulls: CellNulls

    init(_ store: ItemStore, _ options: ItemFileOptions, _ path: String, _ file: ImportFile) {
        (self.store, self.options, self.path, self.file) = (store, options, path, file)
        nulls = CellNulls(options.nulls)
    }

    func read(_ row: ImportedRow, _ merger: ItemMerger) throws {
        let form = try CSVForm(file, options)
        guard let header = try form.header() else { return }
        let names = try header.names.indices.map { try name($0, of: header) }
        let places = try columns(form, header, names, row, merger)
        // Missing columns are reported before any row is read.
        try ImportedNames(options: options, columns: row.names, path: path).check()
        let kinds = CSVColumnKinds(store: store, options: options, path: path, form: form)
        let watched = try kinds.infer(row, places, merger)
        remarkHeader(form, header, names, places, row, merger)
        merger.beginRejects(names, hasHeader: form.hasHeader, delimiter: form.delimiter, preamble: form.preamble)
        try readRows(form, names, places, row, merger, watched)
    }

    private func readRows(
        _ form: CSVForm, _ names: [String], _ places: [Int?], _ row: ImportedRow, _ merger: ItemMerger,
        _ watched: OtherKinds
    ) throws {
        let rows = try form.reader(recovers: true)
        _ = try rows.header()
        var cells = CSVRow()
        row.original = { OriginalRow(cells: cells.withTexts(names)) }
        var watched = watched
        var (count, reasons) = (0, 0)
        while true {
            do throws(CSVError) { guard try rows.next(into: &cells) else { break } } catch {
                try refuse(error, rows, row, merger)
                count += 1
                continue
            }
            try form.report(count, isFirstPass: false)
            (row.number, row.line) = (rows.row, rows.startLine)
            var width = cells.count
            if !form.hasHeader, form.isReason(cells, columns: places.count) {
                width -= 1
                reasons += 1
            }
            try cells.withUnsafeBytes { bytes in
                let texts = bytes.bindMemory(to: UInt8.self)
                guard width <= places.count, !cells.hasZero else {
                    return try merger.refuse(row, error(of: cells, names, isFirst: count == 0))
                }
                for cell in 0..<places.count {
                    guard let place = places[cell] else { continue }
                    guard cell < width else {
                        row.cells[place] = .missing
                        continue
                    }
                    let range = cells.range(of: cell)
                    if range.isEmpty {
                        row.cells[place] = .empty
                        continue
                    }
                    let text = UnsafeBufferPointer(rebasing: texts[range])
                    row.cells[place] = nulls.contains(text) ? .empty : .text(text)
                }
                if !watched.isEmpty { watched.add(row) }
                try merger.take(row)
            }
            count += 1
        }
        watched.remark(merger)
        merger.remark(.leftOut, reasons > 0 ? 1 : 0, "the reasons of \(reasons.counted("row")): left out")
    }

    /// Rejects a row that is malformed, or too long, and goes on at the next line.
    private func refuse(_ error: CSVError, _ rows: CSVReader, _ row: ImportedRow, _ merger: ItemMerger) throws {
        guard error.isOfRow else { throw error }
        (row.number, row.line) = (rows.row, rows.startLine)
        let original = row.original
        defer { row.original = original }
        let line = try rows.recover()
        row.original = { OriginalRow(line: line) }
        try merger.refuse(row, StoreError(.unreadableFile, "line \(row.line): \(error.reason)", cause: error))
    }

    /// The reason why a row is not a row of the file: it is too long, or has bytes of zero.
    private func error(of cells: CSVRow, _ names: [String], isFirst: Bool) -> StoreError {
        var message: String
        if cells.count > names.count {
            message = "\(cells.count) cells, and the header has \(names.count.counted("name"))"
            let blank = (0..<cells.count).first { cells[$0].first == 0x20 && cells[$0].dropFirst().first == 0x22 }
            if let blank {
                message += "; cell \(blank + 1) has a blank before its quote, which quotes nothing there"
            } else if options.header == .firstRow,
                names.count == 1 || isFirst && (names[0].hasPrefix("#") || cells.count > names.count + 1)
            {
                message +=
                    "; lines above the header are left out by \(OptionWords.choose("skip = 1", "--skip 1", json: "\"skip\": 1")), comments by \(OptionWords.option("comment", "#"))"
            }
        } else {
            let cell = (0..<cells.count).first { cells[$0].contains(0) } ?? 0
            message = "the cell of \(names[cell]) has a byte of zero; \(ForeignFile.utf16Advice)"
        }
        return StoreError(.invalidValue(field: ""), message)
    }

    private func name(_ cell: Int, of header: CSVHeader) throws(StoreError) -> String {
        if let name = String(validating: header.names[cell], as: UTF8.self) { return name }
        throw StoreError(
            .unreadableFile, "\(path): the name of column \(cell + 1) is not UTF-8: \(ColumnReading.encodingAdvice)",
            path: path)
    }

    // MARK: Columns

    /// The column index of each cell; nil for a column that is left out.
    private func columns(
        _ form: CSVForm, _ header: CSVHeader, _ names: [String], _ row: ImportedRow, _ merger: ItemMerger
    ) throws -> [Int?] {
        // A map may name the first column without a name, or leave all of them out.
        let mapped: Set<Int> =
            switch form.hasHeader ? options.names[""] : nil {
            case nil: []
            case .some(nil): Set(header.unnamed)
            case .some(.some): Set(header.unnamed.prefix(1))
            }
        let unnamed = form.hasHeader ? header.unnamed.filter { !mapped.contains($0) } : []
        let empty = try emptyColumns(unnamed, form)
        var leftOut = Set(empty)
        let reasons = form.hasHeader ? reasons(names) : nil
        if let reasons { leftOut.insert(reasons) }
        // A file that has many of the items: their columns are read as wholes, in one pass.
        if options.updates, file.size / 16 > merger.formerCount, !store.columns.recordsReads() {
            let fields = names.compactMap { options.name(for: $0) }.compactMap(store.existingField(named:))
            store.columns.prepareColumns(fields.filter(store.columns.isCustom))
        }
        let places: [Int?] = try names.indices.map { cell in
            if leftOut.contains(cell) { return nil }
            return try row.addColumn(mapped.contains(cell) ? "" : names[cell])
        }
        merger.remark(
            .leftOut, reasons == nil ? 0 : 1,
            "the last column, \(RejectedRows.reason), has the reasons of rejected rows: left out (\(OptionWords.choose("map = { error = \"reason\" }", "--map error=reason", json: "\"map\": {\"error\": \"reason\"}")) keeps it)"
        )
        merger.remark(.leftOut, empty.count, header.sentence(empty, "neither a name nor a cell: left out"))
        // What the caller renames or leaves out is known to him.
        let nonEmpty = unnamed.filter { !leftOut.contains($0) && options.names[names[$0]] == nil }
        merger.remark(.unnamed, nonEmpty.count, header.sentence(unnamed: nonEmpty))
        let renamed = header.renamed.filter { options.names[names[$0]] == nil }
        merger.remark(.renamed, renamed.count, header.sentence(renamed: renamed))
        return places
    }

    /// The column with the reasons of a file of rejected rows.
    private func reasons(_ names: [String]) -> Int? {
        guard names.count > 1, names.last == RejectedRows.reason, options.names[RejectedRows.reason] == nil,
            store.columns.existingField(named: RejectedRows.reason).map({ store.columns.cellKinds($0) == 0 }) ?? true
        else { return nil }
        return names.count - 1
    }

    /// Those of the columns that have no cell in any row.
    private func emptyColumns(_ columns: [Int], _ form: CSVForm) throws -> [Int] {
        if columns.isEmpty { return [] }
        var empty = columns
        try form.forEachRow { cells in
            empty.removeAll { $0 < cells.count && !cells.range(of: $0).isEmpty }
            return !empty.isEmpty
        }
        return empty
    }

    /// Says where the first row is plainly no header: it has a title, or values like those of the rows.
    private func remarkHeader(
        _ form: CSVForm, _ header: CSVHeader, _ names: [String], _ places: [Int?], _ row: ImportedRow,
        _ merger: ItemMerger
    ) {
        guard form.hasHeader else { return }
        if header.unnamed.count > 1, header.unnamed.count == names.count - 1, options.names[""] == nil {
            merger.remark(
                .oddHeader, 1,
                "the header has one name, \(names[header.unnamed[0] == 0 ? names.count - 1 : 0]): lines above the header are left out by \(OptionWords.choose("skip = 1", "--skip 1", json: "\"skip\": 1"))"
            )
        }
        let values = names.indices.filter { cell in
            guard let place = places[cell], let kind = row.columns[place].kind, kind != .string else { return false }
            var inference = ColumnInference()
            header.names[cell].withUnsafeBufferPointer { inference.add($0) }
            let named = ItemFieldKind(inference.result().format.kind)
            // Years, as integers, are usual names.
            guard named != .string, cell == 0 || named != .integer else { return false }
            return named == kind || [.integer, .real].contains(named) && [.integer, .real].contains(kind)
        }
        merger.remark(
            .oddHeader, values.isEmpty ? 0 : 1,
            "\(values.map { names[$0] }.listed()) in the header \(values.count == 1 ? "looks like a value" : "look like values"): of a file without a header the first row is read with \(OptionWords.choose("header = false", "--no-header", json: "\"header\": false"))"
        )
    }
}

/// The form of a file of comma-separated values: what was given, and what its first bytes show.
struct CSVForm {
    let dialect: CSVDialect
    private let options: ItemFileOptions
    private let file: ImportFile

    init(_ file: ImportFile, _ options: ItemFileOptions) throws {
        (self.file, self.options) = (file, options)
        var given = CSVDialect.Given()
        do {
            let encoding = try TextDecoding.form(of: file, options.encoding)
            // Without an option, the other encodings show in more than the first bytes.
            if options.encoding != nil { given.encoding = encoding }
        } catch let error as TextDecoding.Failure {
            throw CSVError(.notText, row: 0, line: 0, error.message)
        }
        given.delimiter = options.delimiter
        given.skippedLines = options.skippedLines
        given.comment = options.comment.map { Array($0.utf8) }
        given.hasHeader = options.header == .firstRow
        given.usual = options.cellDelimiter
        let head = try file.head(CSVDialect.headSize + 1)
        if ItemFileFormat.isJSON(head) {
            throw CSVError(
                .notText, row: 0, line: 0,
                "it is JSON by its first bytes: give \(OptionWords.option("format", "json"))")
        }
        dialect = CSVDialect(
            of: Array(head.prefix(CSVDialect.headSize)), isWhole: head.count <= CSVDialect.headSize, given)
        text = options.skippedLines ?? 0 > 0 ? head : []
    }

    var delimiter: UInt8 { dialect.delimiter }
    /// Whether the first row has the columns' names.
    var hasHeader: Bool { options.header == .firstRow }

    private let text: [UInt8]

    /// The lines that the caller leaves out, for a file of rejected rows, from which they are left out as well.
    var preamble: [UInt8] {
        guard let count = options.skippedLines, count > 0 else { return [] }
        var lines = String(decoding: text, as: UTF8.self).split(
            maxSplits: count, omittingEmptySubsequences: false, whereSeparator: \.isNewline
        ).prefix(count).map(String.init)
        while lines.count < count { lines.append("") }
        return Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
    }

    /// Opens a reader at the beginning of the file.
    func reader(recovers: Bool = false) throws -> CSVReader {
        var format = dialect.options(hasHeader: hasHeader)
        format.recovers = recovers
        return try CSVReader(format) { try TextDecoding(file, form: dialect.encoding) }
    }

    /// The columns' names; nil for an empty file.
    func header() throws -> CSVHeader? {
        let reader = try reader()
        switch options.header {
        case .firstRow:
            return try reader.header().map { row throws(CSVError) in try CSVHeader(row, delimiter: delimiter) }
        case .names(let names): return CSVHeader(names: names.map { Array($0.utf8) })
        case .none:
            var first = CSVRow()
            guard try reader.next(into: &first) else { return nil }
            return CSVHeader(count: isReason(first, columns: first.count - 1) ? first.count - 1 : first.count)
        }
    }

    /// Whether a row of a file without a header has the reason of its rejection behind its cells.
    func isReason(_ cells: CSVRow, columns: Int) -> Bool {
        columns > 0 && cells.count == columns + 1 && cells[columns].starts(with: RejectedRows.prefix.utf8)
    }

    /// Calls a body with each row that is one until it returns false, without the header.
    func forEachRow(_ body: (CSVRow) throws -> Bool) throws {
        let reader = try reader(recovers: true)
        _ = try reader.header()
        var cells = CSVRow()
        while true {
            do throws(CSVError) { guard try reader.next(into: &cells) else { return } } catch {
                guard error.isOfRow else { throw error }
                _ = try reader.recover()
                continue
            }
            guard try body(cells) else { return }
        }
    }

    /// Reports progress: two passes are one, each half of the file.
    func report(_ count: Int, isFirstPass: Bool) throws {
        guard count % ItemFileOptions.reportInterval == 0 else { return }
        let inferred = isFirstPass || !options.infersKinds ? 0 : file.size
        try options.progress?((inferred + file.position) / (options.infersKinds ? 2 : 1), file.size)
    }
}

extension CSVError {
    /// Whether it is that of one row, behind which reading goes on.
    fileprivate var isOfRow: Bool {
        [.textAfterQuote, .unterminatedQuote, .cellTooLong, .rowTooLong].contains(code)
    }
}

extension CSVReader {
    /// Reads a file in an encoding, from its beginning.
    ///
    /// - Throws: `CSVError`, also for a file that is not a text in the encoding; `FileError`.
    package convenience init(_ file: ImportFile, _ encoding: ItemFileEncoding, _ options: CSVOptions) throws {
        try self.init(options) { try TextDecoding(file, encoding) }
    }

    fileprivate convenience init(_ options: CSVOptions, _ open: () throws -> TextDecoding) throws {
        func failure(_ error: any Error) -> CSVError {
            if let error = error as? FormatError {
                return CSVError(error.code == .stopped ? .stopped : .notText, row: 0, line: 0, error.message)
            }
            return CSVError(.notText, row: 0, line: 0, (error as? TextDecoding.Failure)?.message ?? "\(error)")
        }
        let text: TextDecoding
        do { text = try open() } catch let error as FileError { throw error } catch { throw failure(error) }
        try self.init(options: options) { buffer throws(CSVError) in
            do { return try text.read(into: buffer) } catch let error as FileError {
                throw CSVError(.unreadable(error.code), row: 0, line: 0, error.message)
            } catch {
                throw failure(error)
            }
        }
    }
}

extension CSVRow {
    /// The cells with their columns' names; cells beyond the last column are numbered.
    fileprivate func withTexts(_ names: [String]) -> [(name: String, text: [UInt8])] {
        (0..<count).map { ($0 < names.count ? names[$0] : "\($0 + 1)", Array(self[$0])) }
    }
}
