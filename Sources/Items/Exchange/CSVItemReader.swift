package import CSV
import ColumnEngine
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

    init(_ store: ItemStore, _ options: ItemFileOptions, _ path: String, _ file: ImportFile) {
        (self.store, self.options, self.path, self.file) = (store, options, path, file)
    }

    func read(_ row: ImportedRow, _ merger: ItemMerger) throws {
        guard let first = try reader().header() else { return }
        let header = try CSVHeader(first, delimiter: options.cellDelimiter)
        let names = try header.names.indices.map { try name($0, of: header) }
        let places = try columns(header, names, row, merger)
        // Missing columns are reported before any row is read.
        try ImportedNames(options, row.names, path).check()
        try inferKinds(of: row, places)
        remarkHeader(header, names, places, row, merger)
        let rows = try self.reader()
        _ = try rows.header()
        var cells = CSVRow()
        row.original = { cells.withTexts(names) }
        var count = 0
        while try rows.next(into: &cells) {
            try report(count, inferred: options.infersKinds ? file.size : 0)
            (row.number, row.line) = (rows.row, rows.line)
            try cells.withUnsafeBytes { bytes in
                let texts = bytes.bindMemory(to: UInt8.self)
                guard cells.count <= places.count, !cells.hasZero else {
                    return try merger.refuse(row, Self.error(of: cells, names, isFirst: count == 0))
                }
                for cell in 0..<places.count {
                    guard let place = places[cell] else { continue }
                    guard cell < cells.count else {
                        row.cells[place] = .missing
                        continue
                    }
                    let range = cells.range(of: cell)
                    row.cells[place] = range.isEmpty ? .empty : .text(UnsafeBufferPointer(rebasing: texts[range]))
                }
                try merger.take(row)
            }
            count += 1
        }
    }

    /// The reason why a row is not a row of the file: it is too long, or has bytes of zero.
    private static func error(of cells: CSVRow, _ names: [String], isFirst: Bool) -> StoreError {
        var message: String
        if cells.count > names.count {
            message = "\(cells.count) cells, and the header has \(names.count.counted("name"))"
            let blank = (0..<cells.count).first { cells[$0].first == 0x20 && cells[$0].dropFirst().first == 0x22 }
            if let blank {
                message += "; cell \(blank + 1) has a blank before its quote, which quotes nothing there"
            } else if names.count == 1 || isFirst && (names[0].hasPrefix("#") || cells.count > names.count + 1) {
                message += "; the header is the first line: remove titles and comments above it"
            }
        } else {
            let cell = (0..<cells.count).first { cells[$0].contains(0) } ?? 0
            message = "the cell of \(names[cell]) has a byte of zero; \(ForeignFile.utf16Advice)"
        }
        return StoreError(.invalidValue(field: ""), message)
    }

    private func report(_ count: Int, inferred: Int) throws {
        guard count % ItemFileOptions.reportInterval == 0 else { return }
        // Two passes are reported as one, each as half of the file.
        try options.progress?((inferred + file.position) / (options.infersKinds ? 2 : 1), file.size)
    }

    /// Opens a reader at the beginning of the file.
    private func reader() throws -> CSVReader {
        try CSVReader(file, options.encoding, CSVOptions(delimiter: options.cellDelimiter))
    }

    private func name(_ cell: Int, of header: CSVHeader) throws(StoreError) -> String {
        if let name = String(validating: header.names[cell], as: UTF8.self) { return name }
        throw StoreError(
            .unreadableFile, "\(path): the name of column \(cell + 1) is not UTF-8: \(FileText.encodingAdvice)",
            path: path)
    }

    // MARK: Columns

    /// The column index of each cell; nil for a column that is left out.
    private func columns(
        _ header: CSVHeader, _ names: [String], _ row: ImportedRow, _ merger: ItemMerger
    ) throws -> [Int?] {
        // A map may name the first column without a name, or leave all of them out.
        let mapped: Set<Int> =
            switch options.names[""] {
            case nil: []
            case .some(nil): Set(header.unnamed)
            case .some(.some): Set(header.unnamed.prefix(1))
            }
        let unnamed = header.unnamed.filter { !mapped.contains($0) }
        let empty = try emptyColumns(unnamed)
        let isEmpty = Set(empty)
        let places: [Int?] = try names.indices.map { cell in
            if isEmpty.contains(cell) { return nil }
            guard let place = try row.addColumn(mapped.contains(cell) ? "" : names[cell]) else { return nil }
            let field = row.columns[place].field
            if row.columns[place].kind == nil {
                row.setKind(store.schema.kind(field)?.kind == .integer ? .integer : .string, at: place)
            }
            return place
        }
        merger.remark(.leftOut, empty.count, header.sentence(empty, "neither a name nor a cell: left out"))
        // What the caller renames or leaves out is known to him.
        let nonEmpty = unnamed.filter { !isEmpty.contains($0) && options.names[exactly: names[$0]] == nil }
        merger.remark(.unnamed, nonEmpty.count, header.sentence(unnamed: nonEmpty))
        let renamed = header.renamed.filter { options.names[exactly: names[$0]] == nil }
        merger.remark(.renamed, renamed.count, header.sentence(renamed: renamed))
        return places
    }

    /// Those of the columns that have no cell in any row.
    private func emptyColumns(_ columns: [Int]) throws -> [Int] {
        if columns.isEmpty { return [] }
        var empty = columns
        let reader = try reader()
        _ = try reader.header()
        var cells = CSVRow()
        while !empty.isEmpty, try reader.next(into: &cells) {
            empty.removeAll { $0 < cells.count && !cells.range(of: $0).isEmpty }
        }
        return empty
    }

    /// Says where the first row is plainly no header: it has a title, or values like those of the rows.
    private func remarkHeader(
        _ header: CSVHeader, _ names: [String], _ places: [Int?], _ row: ImportedRow, _ merger: ItemMerger
    ) {
        if header.unnamed.count > 1, header.unnamed.count == names.count - 1, options.names[""] == nil {
            merger.remark(
                .oddHeader, 1,
                "the header has one name, \(names[header.unnamed[0] == 0 ? names.count - 1 : 0]): the header is the first line, and titles above it have to be removed"
            )
        }
        let values = names.indices.filter { cell in
            guard let place = places[cell], let kind = row.columns[place].kind, kind != .string else { return false }
            let style = header.names[cell].withUnsafeBufferPointer(CanonicalStyle.of)
            // Years, as integers, are usual names.
            guard !style.isEmpty, cell == 0 || !style.contains(.integer) else { return false }
            return style.kind == kind || [.integer, .real].contains(style.kind) && [.integer, .real].contains(kind)
        }
        merger.remark(
            .oddHeader, values.isEmpty ? 0 : 1,
            "\(CSVHeader.list(values.map { names[$0] })) in the header \(values.count == 1 ? "looks like a value" : "look like values"): a file without a header loses its first row to it"
        )
    }

    // MARK: Kinds

    /// Infers the kind of each column from all of its cells.
    private func inferKinds(of row: ImportedRow, _ places: [Int?]) throws {
        guard options.infersKinds else { return }
        var styles: [(cell: Int, place: Int, style: CanonicalStyle, isEmpty: Bool)] = []
        for (cell, place) in places.enumerated() {
            guard let place, isOpen(row.columns[place]) else { continue }
            styles.append((cell, place, .all, true))
        }
        let candidates = styles
        let reader = try reader()
        _ = try reader.header()
        var cells = CSVRow()
        var count = 0
        while !styles.isEmpty, try reader.next(into: &cells) {
            try report(count, inferred: 0)
            count += 1
            cells.withUnsafeBytes { bytes in
                let texts = bytes.bindMemory(to: UInt8.self)
                for index in styles.indices.reversed() where styles[index].cell < cells.count {
                    let range = cells.range(of: styles[index].cell)
                    if range.isEmpty { continue }
                    styles[index].isEmpty = false
                    styles[index].style.formIntersection(.of(UnsafeBufferPointer(rebasing: texts[range])))
                    if styles[index].style.isEmpty { styles.remove(at: index) }
                }
            }
        }
        var inferred: [ItemFieldKind: [String]] = [:]
        for column in styles where !column.isEmpty {
            row.setKind(column.style.kind, at: column.place)
            inferred[column.style.kind, default: []].append(row.columns[column.place].fieldName.shortened(to: 200))
        }
        if inferred.isEmpty || candidates.isEmpty { return }
        let said = ItemFieldKind.allCases.compactMap { kind in
            inferred[kind].map { "\($0.joined(separator: ", ")) \(kind.rawValue)" }
        }
        options.onKinds?("\(path): \(said.joined(separator: "; ")); other columns are text")
    }

    /// Whether a column's kind is inferred: not for a column of the key, nor for a field that already has texts.
    private func isOpen(_ column: ImportedColumn) -> Bool {
        guard store.columns.isCustom(column.field), column.kind == .string, !options.key.contains(column.fieldName)
        else {
            return false
        }
        if case .named(let kinds)? = options.kinds, kinds[column.fieldName] != nil { return false }
        if store.columns.declaration(of: column.field)?.kind.ofTexts != nil { return false }
        return !store.columns.hasTexts(column.field)
    }
}

extension ItemFileOptions {
    /// Whether kinds of columns are inferred from comma-separated values.
    var infersKinds: Bool { kinds != .text }
}

extension CSVReader {
    /// Reads a file in an encoding, from its beginning.
    ///
    /// - Throws: `CSVError`, also for a file that is not a text in the encoding; `FileError`.
    package convenience init(_ file: ImportFile, _ encoding: ItemFileEncoding, _ options: CSVOptions) throws {
        func failure(_ error: any Error) -> CSVError {
            CSVError(.notText, row: 0, line: 0, (error as? TextDecoding.Failure)?.message ?? "\(error)")
        }
        let text: TextDecoding
        do { text = try TextDecoding(file, encoding) } catch let error as TextDecoding.Failure { throw failure(error) }
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
