import CSV
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
        let reader = try reader()
        guard let header = try reader.header() else { return }
        let places = try columns(header, row)
        // Missing columns are reported before any row is read.
        try ImportedNames(options, row.names, path).check()
        try inferKinds(of: row, places)
        let rows = try self.reader()
        let names = try (0..<header.count).map { try name($0, of: header) }
        _ = try rows.header()
        var cells = CSVRow()
        row.original = { cells.withTexts(names) }
        var count = 0
        while try rows.next(into: &cells) {
            try report(count, inferred: options.infersKinds ? file.size : 0)
            (row.number, row.line) = (rows.row, rows.line)
            try cells.withUnsafeBytes { bytes in
                let texts = bytes.bindMemory(to: UInt8.self)
                guard cells.count <= places.count else {
                    return try merger.reject(row, .tooManyCells(cells.count, places.count))
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

    private func report(_ count: Int, inferred: Int) throws {
        guard count % ItemFileOptions.reportInterval == 0 else { return }
        // Two passes are reported as one, each as half of the file.
        try options.progress?((inferred + file.position) / (options.infersKinds ? 2 : 1), file.size)
    }

    /// Opens a reader at the beginning of the file.
    private func reader() throws -> CSVReader {
        let text = try TextDecoding(file, options.encoding)
        return try CSVReader(options: CSVOptions(delimiter: options.cellDelimiter)) { buffer throws(CSVError) in
            do { return try text.read(into: buffer) } catch let error as FileError {
                throw CSVError(.unreadable(error.code), row: 0, line: 0, error.message)
            } catch {
                throw CSVError(.notText, row: 0, line: 0, (error as? TextDecoding.Failure)?.message ?? "\(error)")
            }
        }
    }

    private func name(_ cell: Int, of header: CSVRow) throws(StoreError) -> String {
        if let name = header.string(cell) { return name }
        throw StoreError(
            .unreadableFile,
            "\(path): the name of column \(cell + 1) is not UTF-8: say with encoding what the file is", path: path)
    }

    /// The column index of each cell; nil for a column that is left out.
    private func columns(_ header: CSVRow, _ row: ImportedRow) throws -> [Int?] {
        try (0..<header.count).map { cell in
            guard let place = try row.addColumn(try name(cell, of: header)) else { return nil }
            let field = row.columns[place].field
            if row.columns[place].kind == nil { row.setKind(field == .valueInDollars ? .integer : .string, at: place) }
            return place
        }
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
            inferred[column.style.kind, default: []].append(row.columns[column.place].fieldName)
        }
        if inferred.isEmpty || candidates.isEmpty { return }
        let said = ItemFieldKind.allCases.compactMap { kind in
            inferred[kind].map { "\($0.joined(separator: ", ")) \(kind.rawValue)" }
        }
        options.onKinds?("\(path): \(said.joined(separator: "; ")); other columns are text")
    }

    /// Whether a column's kind is inferred: not for a column of the key, nor for a field that already has texts.
    private func isOpen(_ column: ImportedColumn) -> Bool {
        guard column.field.isCustom, column.kind == .string, !options.key.contains(column.fieldName) else {
            return false
        }
        if case .named(let kinds)? = options.kinds, kinds[column.fieldName] != nil { return false }
        return !store.columns.hasTexts(column.field)
    }
}

extension ItemFileOptions {
    /// Whether kinds of columns are inferred from comma-separated values.
    var infersKinds: Bool { kinds != .text }
}

extension StoreError {
    fileprivate static func tooManyCells(_ count: Int, _ names: Int) -> StoreError {
        StoreError(.invalidValue(field: ""), "\(count) cells, and the header has \(names) names")
    }
}

extension CSVRow {
    /// The cells with their columns' names; cells beyond the last column are numbered.
    fileprivate func withTexts(_ names: [String]) -> [(name: String, text: [UInt8])] {
        (0..<count).map { ($0 < names.count ? names[$0] : "\($0 + 1)", Array(self[$0])) }
    }
}
