import FileFormats
import PropertyList

/// Reads the cells of an `.xlsx` file's sheet.
final class WorksheetReader: SheetReader {
    private enum Kind { case number, sharedText, text, inlineText, boolean, error, date }

    private var sheet = Spreadsheet.Sheet(name: "", isHidden: false, member: "")
    private var limits = SpreadsheetLimits()
    private var texts: SharedTexts?
    private var workbook: Workbook?
    private var isInRows = false
    private var number = 0
    private var column = -1
    private var kind = Kind.number
    private var style = 0
    private var isInValue = false
    private var hasFormula = false
    private var value: [UInt8] = []
    private var collector = TextCollector()

    convenience init(
        _ member: ZipMemberReader, _ sheet: Spreadsheet.Sheet, _ texts: SharedTexts, _ workbook: Workbook,
        _ limits: SpreadsheetLimits
    ) throws(FormatError) {
        try self.init(member)
        (self.sheet, self.texts, self.workbook, self.limits) = (sheet, texts, workbook, limits)
    }

    override func start(_ name: XMLName, _ attributes: XMLAttributes) {
        guard isInRows else {
            if name.isLocal("sheetData") { isInRows = true } else if name.isLocal("mergeCell") { mergedRanges += 1 }
            return
        }
        if name.isLocal("c") {
            beginCell(attributes)
        } else if name.isLocal("v") {
            isInValue = true
        } else if name.isLocal("f") {
            hasFormula = true
        } else if name.isLocal("row") {
            beginRow(attributes)
        } else if kind == .inlineText {
            collector.start(name)
        }
    }

    override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        if isInValue {
            value.append(contentsOf: bytes)
            if value.count > limits.cellBytes { fail(tooLong) }
        } else if kind == .inlineText, !collector.take(bytes) {
            fail(tooLong)
        }
    }

    override func end(_ name: XMLName) {
        guard isInRows else { return }
        if name.isLocal("v") {
            isInValue = false
        } else if name.isLocal("c") {
            do { try endCell() } catch { fail(error) }
            kind = .number
        } else if name.isLocal("row") {
            if !row.finish() { return fail(error("two cells are in one place: the file is damaged")) }
            if !row.cells.isEmpty { suspend() }
        } else if name.isLocal("sheetData") {
            isInRows = false
        } else if kind == .inlineText {
            collector.end(name)
        }
    }

    private func beginRow(_ attributes: XMLAttributes) {
        let given = attributes["r"].flatMap(DecimalText.integer)
        let next = given ?? Int64(number + 1)
        guard next > number, next <= limits.rows else {
            return fail(
                FormatError(
                    next > number ? .tooLarge : .corrupt,
                    next > number
                        ? "the sheet has more than \(limits.rows.grouped) rows"
                        : "row \(next) comes after row \(number): the file is damaged"))
        }
        number = Int(next)
        row.removeAll()
        row.number = number
        column = -1
    }

    private func beginCell(_ attributes: XMLAttributes) {
        column = attributes["r"].flatMap(CellName.column) ?? column + 1
        guard column < limits.columns else {
            return fail(FormatError(.tooLarge, "row \(number): it has more than \(limits.columns.grouped) columns"))
        }
        style = Int(attributes["s"].flatMap(DecimalText.integer) ?? 0)
        value.removeAll(keepingCapacity: true)
        (kind, hasFormula) = (.number, false)
        guard let type = attributes["t"] else { return }
        switch (type.first, type.count) {
        case (UInt8(ascii: "s"), 1): kind = .sharedText
        case (UInt8(ascii: "b"), 1): kind = .boolean
        case (UInt8(ascii: "e"), 1): kind = .error
        case (UInt8(ascii: "d"), 1): kind = .date
        case (UInt8(ascii: "s"), _): kind = .text
        case (UInt8(ascii: "i"), _):
            kind = .inlineText
            collector.begin()
        default: break
        }
    }

    private func endCell() throws(FormatError) {
        switch kind {
        case .inlineText: append(text: collector.text())
        // The text of a formula may be empty.
        case _ where value.isEmpty:
            if hasFormula, kind != .text { addUnvaluedFormula(column, number) }
            return
        case .sharedText:
            let index = value.withUnsafeBufferPointer(DecimalText.integer)
            guard let text = index.flatMap({ texts?[Int($0)] }) else {
                throw error("it names a shared text that is not in the file, which is cut or damaged")
            }
            append(text: text)
        case .text: append(text: value)
        case .boolean:
            row.append(.boolean(value.first == UInt8(ascii: "1") || value.first == UInt8(ascii: "t")), at: column)
        case .error: row.append(.error(row.add(value)), at: column)
        case .date:
            let text = String(decoding: value, as: UTF8.self)
            guard let date = ISO8601.parse(text) else { return append(text: value) }
            row.append(value.count == 10 ? .day(date) : .moment(date), at: column)
        case .number: try appendNumber()
        }
        if row.length > limits.rowBytes {
            throw FormatError(.tooLarge, "row \(number): its texts have more than \(limits.rowBytes.grouped) bytes")
        }
    }

    private func append(text: some Collection<UInt8>) {
        if !text.isEmpty { row.append(.text(row.add(text)), at: column) }
    }

    private func appendNumber() throws(FormatError) {
        let format = workbook?.format(style) ?? .number
        guard let content = value.withUnsafeBufferPointer({ SheetCell(number: $0) }) else {
            let shown = VisibleText.line(String(decoding: value.prefix(40), as: UTF8.self))
            throw error("\(shown) is not a number: the file is damaged")
        }
        guard format != .number, let dates = workbook?.dates else { return row.append(content, at: column) }
        let serial: Double =
            switch content {
            case .integer(let number): Double(number)
            case .real(let number): number
            default: -1
            }
        switch dates.meaning(of: serial, as: format) {
        case .day(let date): row.append(.day(date), at: column)
        case .moment(let date): row.append(.moment(date), at: column)
        case .text(let text): row.append(.time(row.add(text.utf8)), at: column)
        case .number: row.append(content, at: column)
        }
    }

    private var tooLong: FormatError {
        error("its text has more than \(limits.cellBytes.grouped) bytes", .tooLarge)
    }

    private func error(_ what: String, _ code: FormatError.Code = .corrupt) -> FormatError {
        FormatError(code, "cell \(CellName.text(column: max(column, 0), row: number)): \(what)")
    }
}

extension SheetCell {
    /// A number by its text; nil for another text. Spreadsheets have reals only, so that a whole one is an integer.
    init?(number text: UnsafeBufferPointer<UInt8>) {
        if let number = DecimalText.integer(text) {
            self = .integer(number)
            return
        }
        guard let number = DecimalText.real(text) else { return nil }
        if abs(number) < 9_007_199_254_740_992, let whole = Int64(exactly: number) {
            self = .integer(whole)
        } else {
            self = .real(number)
        }
    }
}
