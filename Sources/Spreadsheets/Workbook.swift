import FileFormats
import PropertyList

/// The parts of an `.xlsx` file that its sheets share: their names, the formats of numbers, the texts.
final class Workbook {
    private(set) var sheets: [Spreadsheet.Sheet] = []
    private(set) var dates = SerialDate(countsFrom1904: false)
    private var formats: [NumberFormat] = []
    private var textsMember: String?
    private var texts: SharedTexts?

    init(_ archive: ZipReader) throws {
        let root = try Relationships(archive, of: "")
        guard let member = root.first("officeDocument"), let document = try archive.open(member) else {
            throw FormatError(
                .unsupported,
                "it is a ZIP file without a spreadsheet in it, or one that is cut: .xlsx and .ods are read")
        }
        guard !member.lowercased().hasSuffix(".bin") else {
            throw FormatError(.unsupported, "it is a binary workbook (.xlsb): save it as .xlsx")
        }
        let reader = try WorkbookReader(document)
        try reader.readAll()
        guard reader.isWorkbook else {
            throw FormatError(.unsupported, "it is not a spreadsheet but another document of an office program")
        }
        dates = SerialDate(countsFrom1904: reader.countsFrom1904)
        let parts = try Relationships(archive, of: member)
        // Charts have tabs, too.
        sheets = reader.sheets.compactMap { sheet in
            parts.target(sheet.id, kind: "worksheet").map {
                Spreadsheet.Sheet(name: sheet.name, isHidden: sheet.isHidden, member: $0)
            }
        }
        if let member = parts.first("styles"), let document = try archive.open(member) {
            let reader = try StyleReader(document)
            try reader.readAll()
            formats = reader.formats
        }
        textsMember = parts.first("sharedStrings")
    }

    func format(_ style: Int) -> NumberFormat { formats.indices.contains(style) ? formats[style] : .number }

    /// The texts that cells share, read once.
    func sharedTexts(_ archive: ZipReader, _ limits: SpreadsheetLimits) throws -> SharedTexts {
        if let texts { return texts }
        let texts = SharedTexts(limits)
        if let textsMember, let document = try archive.open(textsMember) {
            try SharedTextReader(document, texts).readAll()
        }
        self.texts = texts
        return texts
    }
}

extension XMLReader {
    /// A reader of a member's document.
    convenience init(_ member: ZipMemberReader) throws(FormatError) { try self.init { try member.read(into: $0) } }

    final func readAll() throws { while try resume() {} }
}

/// The other parts that a part of an `.xlsx` file names.
private struct Relationships {
    private var entries: [(id: String, kind: String, target: String)] = []

    /// Reads those of a member; of the file itself if its name is empty.
    init(_ archive: ZipReader, of member: String) throws {
        let slash = member.lastIndex(of: "/")
        let folder = slash.map { String(member[...$0]) } ?? ""
        let name = slash.map { String(member[member.index(after: $0)...]) } ?? member
        guard let document = try archive.open("\(folder)_rels/\(name).rels") else { return }
        let reader = try RelationshipReader(document)
        try reader.readAll()
        entries = reader.entries.map { ($0.id, $0.kind, Self.path($0.target, in: folder)) }
    }

    /// The part of a kind, such as `styles`: the last component of its type's address.
    func first(_ kind: String) -> String? { entries.first { $0.kind == kind }?.target }

    func target(_ id: String, kind: String) -> String? { entries.first { $0.id == id && $0.kind == kind }?.target }

    private static func path(_ target: String, in folder: String) -> String {
        if target.hasPrefix("/") { return String(target.dropFirst()) }
        var parts = folder.split(separator: "/").map(String.init)
        for part in target.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(String(part)) }
        }
        return parts.joined(separator: "/")
    }
}

private final class RelationshipReader: XMLReader {
    var entries: [(id: String, kind: String, target: String)] = []

    override func start(_ name: XMLName, _ attributes: XMLAttributes) {
        guard name.isLocal("Relationship"), entries.count < 65_536, let id = attributes.string("Id"),
            let target = attributes.string("Target"), let type = attributes.string("Type")
        else { return }
        let kind = type.lastIndex(of: "/").map { String(type[type.index(after: $0)...]) } ?? type
        entries.append((id, kind, target))
    }
}

private final class WorkbookReader: XMLReader {
    var isWorkbook = false
    var countsFrom1904 = false
    var sheets: [(name: String, id: String, isHidden: Bool)] = []

    override func start(_ name: XMLName, _ attributes: XMLAttributes) {
        if name.isLocal("workbook") {
            isWorkbook = true
        } else if name.isLocal("workbookPr") {
            countsFrom1904 = ["1", "true", "on"].contains(attributes.string("date1904"))
        } else if name.isLocal("sheet"), sheets.count < 65_536, let title = attributes.string("name") {
            let id =
                attributes.string("http://schemas.openxmlformats.org/officeDocument/2006/relationships id")
                ?? attributes.string("http://purl.oclc.org/ooxml/officeDocument/relationships id")
            let isHidden = attributes.string("state").map { $0 != "visible" } ?? false
            sheets.append((title, id ?? "", isHidden))
        }
    }
}

/// Reads what the styles of cells mean for their numbers.
private final class StyleReader: XMLReader {
    /// By the style's number.
    var formats: [NumberFormat] = []
    private var custom: [Int: NumberFormat] = [:]
    private var isInCellFormats = false

    override func start(_ name: XMLName, _ attributes: XMLAttributes) {
        if name.isLocal("numFmt"), let number = attributes["numFmtId"].flatMap(DecimalText.integer),
            let code = attributes["formatCode"], custom.count < 65_536
        {
            custom[Int(number)] = NumberFormat(code: code.prefix(1024))
        } else if name.isLocal("cellXfs") {
            isInCellFormats = true
        } else if isInCellFormats, name.isLocal("xf"), formats.count < 1 << 20 {
            let number = Int(attributes["numFmtId"].flatMap(DecimalText.integer) ?? 0)
            formats.append(custom[number] ?? NumberFormat(builtIn: number))
        }
    }

    override func end(_ name: XMLName) { if name.isLocal("cellXfs") { isInCellFormats = false } }
}

/// The texts that cells share, in one buffer.
final class SharedTexts {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var halved: Set<Int> = []
    private let limits: SpreadsheetLimits

    init(_ limits: SpreadsheetLimits) { self.limits = limits }

    /// A text; nil for a number that there is not.
    subscript(number: Int) -> ArraySlice<UInt8>? {
        guard ends.indices.contains(number) else { return nil }
        return bytes[(number == 0 ? 0 : ends[number - 1])..<ends[number]]
    }

    /// Whether a text has half a character, for which it has the place of an empty one.
    func isHalved(_ number: Int) -> Bool { halved.contains(number) }

    /// Adds a text; nil for one with half a character.
    func append(_ text: [UInt8]?) throws(FormatError) {
        if text == nil { halved.insert(ends.count) }
        let text = text ?? []
        guard bytes.count + text.count <= limits.sharedBytes, ends.count < limits.sharedTexts else {
            throw FormatError(
                .tooLarge,
                "its cells share more than \(limits.sharedTexts.grouped) texts, or than \(limits.sharedBytes.grouped) bytes of them: save the sheet as CSV and import that"
            )
        }
        bytes += text
        ends.append(bytes.count)
    }
}

private final class SharedTextReader: XMLReader {
    private var texts = SharedTexts(SpreadsheetLimits())
    private var collector = TextCollector()

    convenience init(_ member: ZipMemberReader, _ texts: SharedTexts) throws(FormatError) {
        try self.init(member)
        self.texts = texts
    }

    override func start(_ name: XMLName, _ attributes: XMLAttributes) {
        if name.isLocal("si") { collector.begin() } else { collector.start(name) }
    }

    override func end(_ name: XMLName) {
        guard name.isLocal("si") else { return collector.end(name) }
        do { try texts.append(collector.text()) } catch { fail(error) }
    }

    override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        if !collector.take(bytes) { fail(FormatError(.tooLarge, "a text of a cell has more than a megabyte")) }
    }
}

/// Collects the text of a cell from its runs, without what says how it is pronounced.
struct TextCollector {
    private var bytes: [UInt8] = []
    private var isInText = false
    private var isInPhonetic = false
    private let limit = 1 << 20

    mutating func begin() { bytes.removeAll(keepingCapacity: true) }

    mutating func start(_ name: XMLName) {
        if name.isLocal("t") { isInText = true } else if name.isLocal("rPh") { isInPhonetic = true }
    }

    mutating func end(_ name: XMLName) {
        if name.isLocal("t") { isInText = false } else if name.isLocal("rPh") { isInPhonetic = false }
    }

    /// Takes a piece of text; false beyond the limit.
    mutating func take(_ piece: UnsafeBufferPointer<UInt8>) -> Bool {
        guard isInText, !isInPhonetic else { return true }
        bytes.append(contentsOf: piece)
        return bytes.count <= limit
    }

    /// The text; nil for one with half a character.
    func text() -> [UInt8]? { Self.text(bytes) }

    /// A text of a file: `_x000D_` in it is a character that XML does not hold. Nil for half a character.
    static func text(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.contains(UInt8(ascii: "_")) else { return bytes }
        // In UTF-16: two escapes make a surrogate pair.
        var units: [UInt16] = []
        var index = 0
        while index < bytes.count {
            if let unit = escape(in: bytes, at: index) {
                units.append(unit)
                index += 7
            } else {
                let end = bytes[(index + 1)...].firstIndex(of: UInt8(ascii: "_")) ?? bytes.count
                units += String(decoding: bytes[index..<end], as: UTF8.self).utf16
                index = end
            }
        }
        return String(validating: units, as: UTF16.self).map { Array($0.utf8) }
    }

    /// The number in `_x0041_`.
    private static func escape(in bytes: [UInt8], at index: Int) -> UInt16? {
        guard index + 7 <= bytes.count, bytes[index] == UInt8(ascii: "_"), bytes[index + 1] == UInt8(ascii: "x"),
            bytes[index + 6] == UInt8(ascii: "_")
        else { return nil }
        var number: UInt16 = 0
        for byte in bytes[(index + 2)..<(index + 6)] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            number = number << 4 | UInt16(digit)
        }
        return number
    }
}

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
        var next = Int64(number + 1)
        if let given = attributes["r"] {
            guard let place = DecimalText.integer(given) else {
                let damage = SheetCell.damage(given, "the number of a row")
                return fail(FormatError(.corrupt, "the row after row \(number): \(damage)"))
            }
            next = place
        }
        guard next > number else {
            return fail(FormatError(.corrupt, "row \(next) comes after row \(number): the file is damaged"))
        }
        guard next <= limits.rows else {
            return fail(FormatError(.tooLarge, "the sheet has more than \(limits.rows.grouped) rows"))
        }
        number = Int(next)
        row.removeAll()
        row.number = number
        column = -1
    }

    private func beginCell(_ attributes: XMLAttributes) {
        column += 1
        if let name = attributes["r"] {
            guard let place = CellName.column(name, row: number) else {
                return fail(error(SheetCell.damage(name, "the name of a cell of this row")))
            }
            column = place
        }
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
        case (UInt8(ascii: "n"), 1): break
        case (UInt8(ascii: "s"), 3): kind = .text
        case (UInt8(ascii: "i"), 9):
            kind = .inlineText
            collector.begin()
        default: fail(error(SheetCell.damage(type, "a type of cells")))
        }
    }

    private func endCell() throws(FormatError) {
        switch kind {
        case .inlineText: try append(text: collector.text())
        // The text of a formula may be empty.
        case _ where value.isEmpty:
            if hasFormula, kind != .text { unvaluedFormulas.add(column: column, row: number) }
            return
        case .sharedText:
            let index = value.withUnsafeBufferPointer(DecimalText.integer)
            guard let texts, let number = index.flatMap({ Int(exactly: $0) }), let text = texts[number] else {
                throw error("it names a shared text that is not in the file, which is cut or damaged")
            }
            try append(text: texts.isHalved(number) ? nil : text)
        case .text: try append(text: TextCollector.text(value))
        case .boolean:
            guard let content = SheetCell(boolean: value) else { throw error(SheetCell.damage(value, "true or false")) }
            row.append(content, at: column)
        case .error: row.append(.error(row.add(value)), at: column)
        case .date:
            let text = String(decoding: value, as: UTF8.self)
            guard let date = ISO8601.parse(text) else {
                unreadDates.add(column: column, row: number)
                return try append(text: value)
            }
            row.append(value.count == 10 ? .day(date) : .moment(date), at: column)
        case .number: try appendNumber()
        }
        if row.length > limits.rowBytes {
            throw FormatError(.tooLarge, "row \(number): its texts have more than \(limits.rowBytes.grouped) bytes")
        }
    }

    /// Adds a cell of a text; nil for one with half a character, which is an error.
    private func append(text: (some Collection<UInt8>)?) throws(FormatError) {
        guard let text else { throw error("its text has half a character (a surrogate in UTF-16 without the other)") }
        if !text.isEmpty { row.append(.text(row.add(text)), at: column) }
    }

    private func appendNumber() throws(FormatError) {
        let format = workbook?.format(style) ?? .number
        guard let content = value.withUnsafeBufferPointer({ SheetCell(number: $0) }) else {
            throw error(SheetCell.numberError(value))
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
