import FileFormats
import PropertyList

/// Reads the cells of a sheet of an `.ods` file, whose sheets are in one document.
final class OpenDocumentReader: SheetReader {
    /// The sheet whose rows are read.
    enum Wanted {
        /// The first one that is not hidden.
        case visible
        case named(String)
        /// No rows: only the names of all sheets.
        case none
    }

    /// The sheets so far.
    private(set) var sheets: [Spreadsheet.Sheet] = []
    /// The name of the sheet whose rows are read.
    private(set) var sheetName = ""

    private var wanted = Wanted.none
    private var limits = SpreadsheetLimits()

    // MARK: State

    private var hiddenStyles: NameSet = []
    private var tableStyle: String?
    /// The tables within one another: charts and drawings may have some of their own.
    private var tables = 0
    private var isWantedTable = false
    private var isInBody = false
    private var rowRepeats = 1
    private var column = 0
    private var cell: Cell?
    /// The open elements of a cell from one on that is not its text, such as a remark on it.
    private var foreign = 0
    private var paragraphs = 0
    private var isInParagraph = false
    private var value: [UInt8] = []

    /// An open cell.
    private struct Cell {
        enum Kind { case none, number, date, time, boolean, text, error }
        var kind = Kind.none
        var value: [UInt8]?
        var repeats = 1
        var isFormula = false
    }

    convenience init(
        _ content: ZipMemberReader, _ limits: SpreadsheetLimits, wanted: Wanted
    ) throws(FormatError) {
        try self.init(content)
        (self.limits, self.wanted) = (limits, wanted)
    }

    /// Reads up to the sheet; false if there is none.
    func findSheet() throws -> Bool {
        while !isWantedTable, !isAtEnd { if try !resume() { return false } }
        return true
    }

    // MARK: Elements

    override func start(_ name: XMLName, _ attributes: XMLAttributes) {
        if foreign > 0 {
            foreign += 1
        } else if cell != nil {
            startInCell(name, attributes)
        } else if isWantedTable, name.is(Name.cell) || name.is(Name.coveredCell) {
            startCell(attributes)
        } else if isWantedTable, name.is(Name.row) {
            startRow(attributes)
        } else if name.is(Name.table) {
            startTable(attributes)
        } else if isWantedTable, tables == 1, name.is(Name.shapes) {
            foreign = 1
        } else if name.is(Name.changes) {
            foreign = 1
        } else if name.is(Name.spreadsheet) {
            isInBody = true
        } else if name.is(Name.style) {
            tableStyle = attributes.string(Name.styleFamily) == "table" ? attributes.string(Name.styleName) : nil
        } else if name.is(Name.tableProperties), let tableStyle, hiddenStyles.count < 65_536,
            attributes.string(Name.display) == "false"
        {
            hiddenStyles.insert(tableStyle)
        }
    }

    override func end(_ name: XMLName) {
        if foreign > 0 {
            foreign -= 1
        } else if cell != nil {
            if name.is(Name.paragraph) {
                isInParagraph = false
            } else if name.is(Name.cell) || name.is(Name.coveredCell) {
                do { try endCell() } catch { fail(error) }
            }
        } else if name.is(Name.row), isWantedTable {
            endRow()
        } else if name.is(Name.table) {
            tables -= 1
            guard tables == 0, isWantedTable else { return }
            (isWantedTable, isAtEnd) = (false, true)
            suspend()
        }
    }

    override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        if isInParagraph, foreign == 0 { append(bytes) }
    }

    private func startTable(_ attributes: XMLAttributes) {
        tables += 1
        guard tables == 1, isInBody, sheets.count < 65_536 else { return }
        let name = attributes.string(Name.tableName) ?? ""
        let isHidden = attributes.string(Name.tableStyle).map { hiddenStyles.contains($0) } ?? false
        sheets.append(Spreadsheet.Sheet(name: name, isHidden: isHidden, member: "content.xml"))
        isWantedTable =
            switch wanted {
            case .none: false
            case .visible: !isHidden
            case .named(let wanted): name.lowercased() == wanted.lowercased()
            }
        if isWantedTable {
            sheetName = name
            suspend()
        }
    }

    private func startRow(_ attributes: XMLAttributes) {
        rowRepeats = Self.count(attributes[Name.rowsRepeated])
        row.removeAll()
        column = 0
    }

    private func endRow() {
        let (first, last) = (row.number + 1, row.number + rowRepeats)
        // The rest of a sheet is empty rows, of which there may be millions.
        guard !row.cells.isEmpty else {
            row.number = last
            return
        }
        guard last <= limits.rows else {
            return fail(FormatError(.tooLarge, "the sheet has more than \(limits.rows.grouped) rows"))
        }
        _ = row.finish()
        row.number = first
        repeats = rowRepeats - 1
        suspend()
    }

    private func startCell(_ attributes: XMLAttributes) {
        var next = Cell(repeats: Self.count(attributes[Name.columnsRepeated]))
        value.removeAll(keepingCapacity: true)
        paragraphs = 0
        isInParagraph = false
        if Self.count(attributes[Name.columnsSpanned]) > 1 || Self.count(attributes[Name.rowsSpanned]) > 1 {
            mergedRanges += 1
        }
        if let type = attributes[Name.valueType] {
            let given: UnsafeBufferPointer<UInt8>?
            switch type.first {
            case UInt8(ascii: "f"), UInt8(ascii: "p"), UInt8(ascii: "c"):
                (next.kind, given) = (.number, attributes[Name.value])
            case UInt8(ascii: "d"): (next.kind, given) = (.date, attributes[Name.dateValue])
            case UInt8(ascii: "t"): (next.kind, given) = (.time, attributes[Name.timeValue])
            case UInt8(ascii: "b"): (next.kind, given) = (.boolean, attributes[Name.booleanValue])
            default: (next.kind, given) = (.text, attributes[Name.stringValue])
            }
            next.value = given.map { Array($0.prefix(limits.cellBytes)) }
        }
        if attributes.string(Name.calculatedType) == "error" { next.kind = .error }
        next.isFormula = attributes[Name.formula] != nil
        cell = next
    }

    private func startInCell(_ name: XMLName, _ attributes: XMLAttributes) {
        if !isInParagraph {
            guard name.is(Name.paragraph) else {
                foreign = 1
                return
            }
            if paragraphs > 0 { value.append(UInt8(ascii: "\n")) }
            paragraphs += 1
            isInParagraph = true
        } else if name.is(Name.spaces) {
            append([UInt8](repeating: 0x20, count: min(Self.count(attributes[Name.spaceCount]), limits.cellBytes)))
        } else if name.is(Name.tab) {
            append(CollectionOfOne(UInt8(ascii: "\t")))
        } else if name.is(Name.lineBreak) {
            append(CollectionOfOne(UInt8(ascii: "\n")))
        } else if name.is(Name.annotation) || name.is(Name.rubyText) || name.isLocal("note") || name.isLocal("frame") {
            foreign = 1
        }
    }

    private func append(_ bytes: some Collection<UInt8>) {
        value.append(contentsOf: bytes)
        if value.count > limits.cellBytes {
            fail(error("its text has more than \(limits.cellBytes.grouped) bytes", .tooLarge))
        }
    }

    // MARK: Values

    private func endCell() throws(FormatError) {
        guard let cell else { return }
        self.cell = nil
        defer { column += cell.repeats }
        guard let content = try content(of: cell) else {
            if cell.isFormula, cell.kind == .none { unvaluedFormulas.add(column: column, row: row.number + 1) }
            return
        }
        guard column + cell.repeats <= limits.columns else {
            throw FormatError(
                .tooLarge, "row \(row.number + 1): it has more than \(limits.columns.grouped) columns")
        }
        for place in column..<(column + cell.repeats) { row.append(content, at: place) }
        if row.length > limits.rowBytes {
            throw FormatError(
                .tooLarge, "row \(row.number + 1): its texts have more than \(limits.rowBytes.grouped) bytes")
        }
    }

    private func content(of cell: Cell) throws(FormatError) -> SheetCell? {
        let given = cell.value ?? []
        switch cell.kind {
        case .error: return .error(row.add(value))
        case .number:
            if let number = given.withUnsafeBufferPointer({ SheetCell(number: $0) }) { return number }
            throw error(SheetCell.numberError(given))
        case .boolean:
            if let flag = SheetCell(boolean: given) { return flag }
            throw error(SheetCell.damage(given, "true or false"))
        case .date:
            if let date = ISO8601.parse(String(decoding: given, as: UTF8.self)) {
                return given.count == 10 ? .day(date) : .moment(date)
            }
            unreadDates.add(column: column, row: row.number + 1)
            return .text(row.add(given))
        case .time:
            return .time(row.add((Self.time(given) ?? String(decoding: given, as: UTF8.self)).utf8))
        case .text, .none:
            let text = cell.value ?? value
            return text.isEmpty ? nil : .text(row.add(text))
        }
    }

    /// `10:30:00` for a duration such as `PT10H30M00S`, with all digits of its seconds, at least three if there are some;
    /// nil for another text.
    private static func time(_ text: [UInt8]) -> String? {
        guard text.starts(with: "PT".utf8), text.count < 64 else { return nil }
        var rest = text.dropFirst(2)
        var (seconds, fraction) = (0, "")
        for (unit, length) in [("H", 3600), ("M", 60), ("S", 1)] {
            guard let end = rest.firstIndex(of: unit.utf8[unit.startIndex]) else { continue }
            let parts = rest[..<end].split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == 0x2E || $0 == 0x2C }
            guard let first = parts.first, let number = Array(first).withUnsafeBufferPointer(DecimalText.integer),
                0..<1_000_000_000 ~= number
            else { return nil }
            if parts.count > 1 {
                guard unit == "S", !parts[1].isEmpty, parts[1].allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
                fraction = String(decoding: parts[1], as: UTF8.self)
            }
            seconds += Int(number) * length
            rest = rest[(end + 1)...]
        }
        guard rest.isEmpty else { return nil }
        while fraction.last == "0" { fraction.removeLast() }
        if !fraction.isEmpty { fraction += String(repeating: "0", count: max(0, 3 - fraction.utf8.count)) }
        return SerialDate.time(seconds, fraction: fraction)
    }

    /// A number of repetitions: 1 without one, and for one that is none.
    private static func count(_ text: UnsafeBufferPointer<UInt8>?) -> Int {
        guard let text, let count = DecimalText.integer(text), count > 0 else { return 1 }
        return Int(min(count, 1 << 30))
    }

    private func error(_ what: String, _ code: FormatError.Code = .corrupt) -> FormatError {
        FormatError(code, "cell \(CellName.text(column: column, row: row.number + 1)): \(what)")
    }
}

/// The names of elements and attributes with their namespaces.
private enum Name {
    static let spreadsheet: StaticString = "urn:oasis:names:tc:opendocument:xmlns:office:1.0 spreadsheet"
    static let annotation: StaticString = "urn:oasis:names:tc:opendocument:xmlns:office:1.0 annotation"
    static let valueType: StaticString = "urn:oasis:names:tc:opendocument:xmlns:office:1.0 value-type"
    static let value: StaticString = "urn:oasis:names:tc:opendocument:xmlns:office:1.0 value"
    static let dateValue: StaticString = "urn:oasis:names:tc:opendocument:xmlns:office:1.0 date-value"
    static let timeValue: StaticString = "urn:oasis:names:tc:opendocument:xmlns:office:1.0 time-value"
    static let booleanValue: StaticString = "urn:oasis:names:tc:opendocument:xmlns:office:1.0 boolean-value"
    static let stringValue: StaticString = "urn:oasis:names:tc:opendocument:xmlns:office:1.0 string-value"
    static let table: StaticString = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 table"
    static let row: StaticString = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 table-row"
    static let cell: StaticString = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 table-cell"
    static let coveredCell: StaticString = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 covered-table-cell"
    static let shapes: StaticString = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 shapes"
    static let changes: StaticString = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 tracked-changes"
    static let tableName: StaticString = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 name"
    static let formula: StaticString = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 formula"
    static let tableStyle: StaticString = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 style-name"
    static let display: StaticString = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 display"
    static let rowsRepeated: StaticString = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 number-rows-repeated"
    static let columnsRepeated: StaticString = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 number-columns-repeated"
    static let rowsSpanned: StaticString = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 number-rows-spanned"
    static let columnsSpanned: StaticString = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 number-columns-spanned"
    static let paragraph: StaticString = "urn:oasis:names:tc:opendocument:xmlns:text:1.0 p"
    static let spaces: StaticString = "urn:oasis:names:tc:opendocument:xmlns:text:1.0 s"
    static let spaceCount: StaticString = "urn:oasis:names:tc:opendocument:xmlns:text:1.0 c"
    static let tab: StaticString = "urn:oasis:names:tc:opendocument:xmlns:text:1.0 tab"
    static let lineBreak: StaticString = "urn:oasis:names:tc:opendocument:xmlns:text:1.0 line-break"
    static let rubyText: StaticString = "urn:oasis:names:tc:opendocument:xmlns:text:1.0 ruby-text"
    static let style: StaticString = "urn:oasis:names:tc:opendocument:xmlns:style:1.0 style"
    static let styleName: StaticString = "urn:oasis:names:tc:opendocument:xmlns:style:1.0 name"
    static let styleFamily: StaticString = "urn:oasis:names:tc:opendocument:xmlns:style:1.0 family"
    static let tableProperties: StaticString = "urn:oasis:names:tc:opendocument:xmlns:style:1.0 table-properties"
    static let calculatedType: StaticString =
        "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0 value-type"
}

/// Looks into an `.ods` file's list of members for one that is encrypted.
final class ManifestReader: XMLReader {
    private var hasEncryption = false

    override func start(_ name: XMLName, _ attributes: XMLAttributes) {
        guard name.isLocal("encryption-data") else { return }
        hasEncryption = true
        suspend()
    }

    func isEncrypted() throws -> Bool {
        while !hasEncryption { if try !resume() { return false } }
        return true
    }
}
