import CSV
import ColumnEngine
import PropertyList
import Spreadsheets

/// Reads items from a sheet of a spreadsheet, as a stream. Numbers, days and moments are the cells' own.
struct SheetItemReader {
    let options: ItemFileOptions
    let path: String
    let file: ImportFile

    /// The most rows of a title.
    private static let titleLimit = 20

    func read(_ row: ImportedRow, _ merger: ItemMerger) throws {
        let sheets = try Spreadsheet(file.bytes())
        let rows = try sheets.rows(of: options.sheet)
        var (pending, header) = try head(rows)
        guard let header else {
            let rest = try sheets.sheets().map(\.name).filter { $0 != rows.sheet }
            options.onKinds?("\(path): \(emptySheet(rows.sheet, rest))")
            return
        }
        let columns = columns(header, width: max(header.width, pending.map(\.width).max() ?? 0))
        let names = columns.texts
        let places = try names.map { try row.addColumn($0) }
        try ImportedNames(options: options, columns: row.names, path: path).check()
        remark(columns, merger)
        say(rows.sheet, header)
        merger.beginRejects(
            names, hasHeader: options.header == .firstRow, delimiter: options.cellDelimiter, preamble: [])
        var cells = SheetRow()
        let nulls = CellNulls(options.nulls)
        var faults = CellCount()
        row.original = { OriginalRow(cells: Self.texts(cells, names)) }
        var count = 0
        while true {
            if pending.isEmpty {
                guard try rows.next(into: &cells) else { break }
            } else {
                cells = pending.removeFirst()
            }
            try options.report(count, 0)
            count += 1
            (row.number, row.line) = (cells.number, cells.number)
            row.removeCells()
            guard cells.width <= names.count else {
                let cell = CellName.text(column: cells.width - 1, row: cells.number)
                try merger.refuse(
                    row,
                    StoreError(
                        .invalidValue(field: ""),
                        "the cell \(cell) is beyond the header, which has \(names.count.counted("name"))"))
                continue
            }
            try cells.withUnsafeBytes { texts in
                for cell in cells.cells {
                    guard let place = places[cell.column] else { continue }
                    row.cells[place] = Self.cell(cell.content, texts, nulls)
                    switch cell.content {
                    case .error: faults.add(column: cell.column, row: cells.number)
                    case .day: row.columns[place].isOfDays = row.columns[place].isOfDays ?? true
                    case .moment: row.columns[place].isOfDays = false
                    default: break
                    }
                }
                try merger.take(row)
            }
        }
        merger.remark(
            .otherKinds, faults.count,
            "\(faults.count.counted("cell")) with an error of the spreadsheet, read as text (\(faults.first))")
        merger.remark(
            .otherKinds, rows.unreadDates.count,
            "\(rows.unreadDates.count.counted("cell")) with a date that no date here is, to its last digit, read as text (\(rows.unreadDates.first))"
        )
        merger.remark(
            .objects, rows.unvaluedFormulas.count,
            "\(rows.unvaluedFormulas.count.counted("formula")) without a value in the file (\(rows.unvaluedFormulas.first)): no value here; a spreadsheet program that opens and saves it calculates them"
        )
        merger.remark(
            .objects, rows.mergedRanges,
            "\(rows.mergedRanges.counted("range")) of merged cells: each cell is read as the file has it, and those behind the first are mostly empty"
        )
    }

    /// The beginning of the sheet; nil for an empty one.
    ///
    /// - Throws: as ``read(_:_:)``.
    func sample(_ limit: Int) throws -> TypedSample? {
        let sheets = try Spreadsheet(file.bytes())
        let rows = try sheets.rows(of: options.sheet)
        let (pending, header) = try head(rows)
        guard let header else { return nil }
        let width = max(header.width, pending.map(\.width).max() ?? 0)
        var sample = TypedSample(columns(header, width: width).texts)
        sample.phrase = options.sheet == nil ? "the sheet \(rows.sheet.shortened(to: 60).quoted())" : nil
        var cells = SheetRow()
        func add(_ row: SheetRow) throws {
            for cell in row.cells where cell.column < width {
                let value = Self.value(cell.content) ?? .string(String(decoding: row.text(cell.content), as: UTF8.self))
                sample.add(value, at: cell.column)
            }
        }
        for row in pending { try add(row) }
        var count = pending.count
        while count < limit, try rows.next(into: &cells) {
            if cells.width <= width { try add(cells) }
            count += 1
        }
        return sample
    }

    /// A cell's value of another kind than text; nil for a text.
    private static func value(_ content: SheetCell) -> PropertyListValue? {
        switch content {
        case .text, .time, .error: nil
        case .integer(let number): .integer(number)
        case .wideInteger(let number): .wideInteger(number)
        case .real(let number): .real(number)
        case .boolean(let flag): .boolean(flag)
        case .day(let date), .moment(let date): .date(date)
        }
    }

    private static func cell(
        _ content: SheetCell, _ texts: UnsafeBufferPointer<UInt8>, _ nulls: CellNulls
    ) -> ImportedCell {
        switch content {
        case .text(let range), .time(let range), .error(let range):
            let text = UnsafeBufferPointer(rebasing: texts[range])
            return text.isEmpty || nulls.contains(text) ? .empty : .text(text)
        default: return value(content).map { .value($0) } ?? .empty
        }
    }

    private static func texts(_ row: SheetRow, _ names: [String]) -> [(name: String, text: [UInt8])] {
        row.cells.map { cell in
            let name = cell.column < names.count ? names[cell.column] : CellName.letters(cell.column)
            return (name, row.text(cell.content))
        }
    }

    // MARK: Columns

    /// The rows at the beginning that are looked at, and the row with the names, which is not among them.
    private func head(_ rows: SheetRows) throws -> (pending: [SheetRow], header: SheetRow?) {
        var pending: [SheetRow] = []
        var cells = SheetRow()
        let skipped = options.skippedLines ?? 0
        let isGiven = options.skippedLines != nil || options.header != .firstRow
        while pending.count < (isGiven ? 1 : Self.titleLimit + 2), try rows.next(into: &cells) {
            if cells.number > skipped { pending.append(cells) }
        }
        guard !pending.isEmpty else { return ([], nil) }
        if options.header != .firstRow { return (pending, pending[0]) }
        // A title is plainly one: one cell, and below it a row of names.
        let first = isGiven ? 0 : pending.firstIndex { $0.cells.count > 1 } ?? 0
        let isHeader =
            first > 0 && first <= Self.titleLimit && pending[..<first].allSatisfy { $0.cells.count == 1 }
            && Self.areNames(pending[first])
        let place = isHeader ? first : 0
        return (Array(pending[(place + 1)...]), pending[place])
    }

    private static func areNames(_ row: SheetRow) -> Bool {
        let names = row.cells.compactMap { cell in
            if case .text(let range) = cell.content { Array(row[range]) } else { nil }
        }
        return names.count == row.cells.count && Set(names).count == names.count
    }

    private func columns(_ header: SheetRow, width: Int) -> CSVHeader {
        switch options.header {
        case .names(let names): return CSVHeader(names: names.map { Array($0.utf8) })
        case .none: return CSVHeader(count: width)
        case .firstRow:
            var names = [[UInt8]](repeating: [], count: header.width)
            for cell in header.cells { names[cell.column] = header.text(cell.content) }
            return CSVHeader(names: names)
        }
    }

    private func remark(_ columns: CSVHeader, _ merger: ItemMerger) {
        func names(_ places: [Int]) -> String { places.map { columns.texts[$0] }.listed() }
        let unnamed = options.header == .none ? [] : columns.unnamed
        merger.remark(
            .unnamed, unnamed.count, "\(unnamed.count.counted("column")) without a name: read as \(names(unnamed))")
        merger.remark(
            .renamed, columns.renamed.count,
            "\(columns.renamed.count.counted("column")) with the name of an earlier one: read as \(names(columns.renamed))"
        )
    }

    /// That a sheet has no rows, and which other ones there are.
    private func emptySheet(_ name: String, _ rest: [String]) -> String {
        func shown(_ name: String) -> String { VisibleText.line(name.shortened(to: 60)) }
        let state = options.skippedLines.map { "has no row behind row \($0)" } ?? "is empty"
        let said = "the sheet \(shown(name).quoted()) \(state)"
        guard let first = rest.first else { return said }
        return "\(said); others: \(rest.map(shown).listed()) (\(OptionWords.option("sheet", first)))"
    }

    private func say(_ sheet: String, _ header: SheetRow) {
        var said: [String] = []
        if options.sheet == nil { said.append("the sheet \(VisibleText.line(sheet.shortened(to: 60)).quoted())") }
        if options.skippedLines == nil, options.header == .firstRow, header.number > 1 {
            said.append("\((header.number - 1).counted("row")) above the header left out")
        }
        if !said.isEmpty { options.onKinds?("\(path): \(said.joined(separator: ", "))") }
    }
}
