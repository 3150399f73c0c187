package import FileFormats
internal import PropertyList

/// A spreadsheet in a file, `.xlsx` or `.ods`: its sheets, and their rows as streams.
///
/// What a cell shows by a formula is read as it was saved; nothing is calculated. Formats decide what is a date; the other
/// looks of a cell do not count. A sheet is not in memory: a row is, and the texts that an `.xlsx` file shares. Messages
/// name the sheet and the cell; the caller adds the file. One thread owns it.
package final class Spreadsheet {
    /// A sheet, as its tab shows it.
    package struct Sheet: Hashable, Sendable {
        package let name: String
        package let isHidden: Bool
        /// The member with its cells.
        let member: String
    }

    let archive: ZipReader
    let limits: SpreadsheetLimits
    let isStopped: () -> Bool
    private var workbook: Workbook?
    private var listed: [Sheet]?

    /// Opens a spreadsheet.
    ///
    /// - Parameters:
    ///   - source: the file, which is read at any place.
    ///   - limits: what it may have.
    ///   - isStopped: looked at every 64 KiB and every 1,024 rows; true ends the reading with an error.
    /// - Throws: `FormatError` for another file, and for one that is encrypted or damaged; errors of the source.
    package init(
        _ source: ByteSource, limits: SpreadsheetLimits = SpreadsheetLimits(),
        isStopped: @escaping () -> Bool = { Interruption.isDue }
    ) throws {
        (self.limits, self.isStopped) = (limits, isStopped)
        var head = [UInt8](repeating: 0, count: 8)
        let count = try head.withUnsafeMutableBytes { try source.read(0, $0) }
        guard !head.starts(with: [0xD0, 0xCF, 0x11, 0xE0]) else {
            throw FormatError(
                .unsupported,
                "it is a spreadsheet of an older format (.xls), or one with a password: save it as .xlsx without a password"
            )
        }
        guard ZipReader.isZip(head[..<count]) else {
            throw FormatError(.corrupt, "it is not a spreadsheet: .xlsx and .ods are ZIP files, and this is not one")
        }
        archive = try ZipReader(source, limits: limits.expansion, isStopped: isStopped)
        if let type = try archive.open("mimetype")?.contents(limit: 4096) {
            try checkDocument(type)
        } else {
            workbook = try Workbook(archive)
        }
    }

    private func checkDocument(_ type: [UInt8]) throws {
        guard type.starts(with: "application/vnd.oasis.opendocument.spreadsheet".utf8) else {
            let name = String(decoding: type.prefix(100), as: UTF8.self)
            throw FormatError(
                .unsupported, "it is not a spreadsheet but a document of the kind \(VisibleText.line(name))")
        }
        if let manifest = try archive.open("META-INF/manifest.xml") {
            let names = try ManifestReader(manifest)
            if try names.isEncrypted() {
                throw FormatError(.unsupported, "it is encrypted by a password: save it without one")
            }
        }
    }

    /// The sheets in their order. Those of an `.ods` file are found by reading all of it.
    ///
    /// - Throws: `FormatError`; errors of the source.
    package func sheets() throws -> [Sheet] {
        if let workbook { return workbook.sheets }
        if let listed { return listed }
        let reader = try OpenDocumentReader(content(), limits, wanted: .none)
        while try reader.resume() {}
        listed = reader.sheets
        return reader.sheets
    }

    /// The rows of a sheet.
    ///
    /// - Parameter name: the sheet's name, in any case; nil for the first one that is not hidden.
    /// - Returns: the rows with a content, in order.
    /// - Throws: `FormatError` with `missing` if there is none of the name; errors of the source.
    package func rows(of name: String? = nil) throws -> SheetRows {
        guard let workbook else {
            let reader = try OpenDocumentReader(
                content(), limits, wanted: name.map { .named($0) } ?? .visible)
            guard try reader.findSheet() else { throw missing(name, reader.sheets) }
            return SheetRows(reader.sheetName, reader, limits, isStopped)
        }
        let wanted = name?.lowercased()
        guard
            let sheet = workbook.sheets.first(where: { wanted == nil ? !$0.isHidden : $0.name == name })
                ?? workbook.sheets.first(where: { $0.name.lowercased() == wanted })
        else { throw missing(name, workbook.sheets) }
        guard let member = try archive.open(sheet.member) else {
            throw FormatError(.corrupt, "the sheet \(sheet.shownName) is not in the file, which is cut or damaged")
        }
        let texts = try workbook.sharedTexts(archive, limits)
        let reader = try WorksheetReader(member, sheet, texts, workbook, limits)
        return SheetRows(sheet.name, reader, limits, isStopped)
    }

    private func content() throws -> ZipMemberReader {
        if let content = try archive.open("content.xml") { return content }
        throw FormatError(.corrupt, "it has no content.xml: the file is cut or damaged")
    }

    private func missing(_ name: String?, _ sheets: [Sheet]) -> FormatError {
        let names = sheets.map(\.name)
        let end = names.map { $0.shortened(to: 60) }.listed()
        guard let name else {
            return FormatError(
                .missing, names.isEmpty ? "it has no sheet" : "all of its sheets are hidden: give one by name (\(end))")
        }
        let hint = NearestNames.hint(for: name, among: names)
        return FormatError(
            .missing, VisibleText.line("it has no sheet '\(name)'\(hint.isEmpty ? "; it has \(end)" : hint)"))
    }
}

extension Spreadsheet.Sheet {
    /// The name in messages.
    var shownName: String { VisibleText.line(name.shortened(to: 60)) }
}

/// What a spreadsheet may have. Programs that people use have no more than the default rows, columns and bytes of a cell.
package struct SpreadsheetLimits: Sendable, Hashable {
    /// How far each member of the file may expand.
    package var expansion = ExpansionLimits()
    /// The number of the last row.
    package var rows = 1 << 20
    /// The number of columns.
    package var columns = 1 << 14
    /// The number of cells with a content that a sheet gives, repeated ones counted each time.
    package var cells = 1 << 28
    /// The bytes of a cell's text.
    package var cellBytes = 1 << 20
    /// The bytes of a row's texts.
    package var rowBytes = 64 << 20
    /// The number of texts that cells share.
    package var sharedTexts = 1 << 23
    /// The bytes of the texts that cells share; they are in memory.
    package var sharedBytes = 512 << 20

    package init() {}
}

/// What gives rows, one a step.
class SheetReader: XMLReader {
    /// The current row, complete when `nextRow` has returned true.
    final var row = SheetRow()
    /// How many more times the row is given.
    final var repeats = 0
    /// The ranges of cells that are shown as one; the content is in the first of each.
    final var mergedRanges = 0
    /// The formulas without a value, as programs write them that calculate nothing.
    final var unvaluedFormulas = CellCount()
    /// The cells whose date is none, or has digits that no date here has: they are texts.
    final var unreadDates = CellCount()
    /// Whether behind the current row no other one comes.
    final var isAtEnd = false
}

/// The rows of a sheet that have a content, as a stream.
package final class SheetRows {
    /// The sheet's name.
    package let sheet: String
    private let reader: SheetReader
    private let limits: SpreadsheetLimits
    private let isStopped: () -> Bool
    private var cells = 0
    private var steps = 0

    init(_ sheet: String, _ reader: SheetReader, _ limits: SpreadsheetLimits, _ isStopped: @escaping () -> Bool) {
        (self.sheet, self.reader, self.limits, self.isStopped) = (sheet, reader, limits, isStopped)
    }

    /// The number of ranges of merged cells: all of them are known behind the last row.
    package var mergedRanges: Int { reader.mergedRanges }

    /// The formulas whose value the file does not have; likewise.
    package var unvaluedFormulas: CellCount { reader.unvaluedFormulas }

    /// The cells whose date is none here, which are texts; likewise.
    package var unreadDates: CellCount { reader.unreadDates }

    /// Reads the next row with a content.
    ///
    /// - Returns: false, and an empty row, at the end.
    /// - Throws: `FormatError`; errors of the source.
    package func next(into row: inout SheetRow) throws -> Bool {
        steps += 1
        if steps % 1024 == 0, isStopped() { throw FormatError(.stopped, Interruption.message) }
        do {
            if reader.repeats > 0 {
                reader.repeats -= 1
                row.number += 1
                reader.row.number = row.number
                try count(row)
                return true
            }
            guard try reader.resume(), !reader.isAtEnd else {
                row.removeAll()
                return false
            }
            swap(&row, &reader.row)
            reader.row.number = row.number
            try count(row)
            return true
        } catch let error as FormatError {
            throw error.at("sheet \(VisibleText.line(sheet.shortened(to: 60)))")
        }
    }

    private func count(_ row: SheetRow) throws(FormatError) {
        cells += row.cells.count
        guard cells <= limits.cells else {
            throw FormatError(.tooLarge, "row \(row.number): the sheet has more than \(limits.cells.grouped) cells")
        }
        guard row.number <= limits.rows else {
            throw FormatError(.tooLarge, "the sheet has more than \(limits.rows.grouped) rows")
        }
    }
}
