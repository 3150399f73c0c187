package import CSV
package import PropertyList
package import SQLite

/// Options for reading items from a file or writing them to one.
package struct ItemFileOptions {
    /// The file's format.
    package var format: ItemFileFormat
    /// Renames: column to field for reading, field to column for writing. Nil leaves the column out.
    package var names: NameTable<String?> = [:]
    /// Separates the cells of comma-separated values; if nil, found by the file when it is read, else the format's.
    package var delimiter: UInt8?
    /// Called regularly with the work done and the total: rows, or bytes of a file that is read as a stream. An error
    /// thrown ends the work.
    package var progress: ((_ done: Int, _ total: Int) throws -> Void)?
    /// What is wrong with a field's name that a host's items cannot have; nil for another one.
    package var fieldNameProblem: ((String) -> FieldNameProblem?)?

    // MARK: Reading

    /// The fields that identify an item, by their names in the store: a row with an existing item's values refers to
    /// that item. Without them each row is a new item.
    package var key: [String] = []
    /// Whether rows update the fields of existing items; else those items are unchanged.
    package var updates = false
    /// The kinds of columns; if nil, the format's default.
    package var kinds: ItemFileKinds?
    /// Whether kinds of columns are inferred from comma-separated values.
    var infersKinds: Bool {
        kinds != .text
    }
    /// A text file's encoding; if nil, found by its first bytes.
    package var encoding: ItemFileEncoding?
    /// The number of lines, or of a sheet's rows, above the header that are left out; if nil, titles are found.
    package var skippedLines: Int?
    /// What lines begin with that are comments; if nil, found by the first lines.
    package var comment: String?
    /// Where the columns' names come from.
    package var header = ItemFileHeader.firstRow
    /// The texts of cells that stand for no value, beside the empty one.
    package var nulls: [String] = []
    /// The sign before decimals; if nil, found by the columns that show it.
    package var decimal: NumberStyle.Decimal?
    /// The pattern of dates in texts, tried before the others.
    package var dateStyle: DateStyle?
    /// The sheet of a spreadsheet; if nil, the first that is not hidden.
    package var sheet: String?
    /// Where the records are in JSON, or in a property list: keys, with points between them.
    package var recordPath: String?
    /// Whether a record's null is counted as left out, like one in its dictionaries: for SQL it is a value.
    var countsAbsentFields = true
    /// Whether all changes are rolled back at the end: only the report is wanted.
    package var isDryRun = false
    /// Transforms each row before its texts are converted.
    package var transform: (any ItemRowTransform)?
    /// Decides about an invalid row, with its line and the problem: true leaves it out. If nil, the import ends.
    package var skipsRow: ((_ row: PropertyListFields, _ line: Int, _ message: String) throws -> Bool)?
    /// Whether the report has the rows that are left out, for a file of them.
    package var keepsRejects = true
    /// Whether rows may be left out that the report has.
    var copiesRejects: Bool { skipsRow != nil && keepsRejects }
    /// The attachment for an item's key, stored beside the imported archive; nil if there is none.
    package var attachment: ((_ key: String) throws -> [UInt8]?)?
    /// Called after the rows, in their transaction, with the items that they created or matched.
    package var afterRows: ((_ rows: [UInt32], _ report: inout ItemImportReport) throws -> Void)?
    /// Called once with the inferred kinds of columns.
    package var onKinds: ((String) -> Void)?

    /// The table of a database. If nil, `items`, or for reading the only table.
    package var table: String?
    /// Opens the database to read: SQLite opens files by itself.
    package var openDatabase: (() throws -> SQLiteDatabase)?

    // MARK: Writing

    /// The exported fields in order, or parts of them (`dims.w`); if nil, all fields that some item has, the domain's
    /// first.
    package var columns: [String]?
    /// Called with a sentence about values that the format does not hold whole.
    package var onRemark: ((String) -> Void)?

    /// The spreadsheet that comma-separated values are for; nil for a file that an import reads.
    package var spreadsheet: SpreadsheetDialect?
    /// Whether NaN and infinities are written as null; else they are an error where the format does not have them.
    package var writesNullForNaN = false
    /// What the error of such a number advises, after its message.
    package var adviceOnNaN = ""

    /// Creates the default options for a format.
    package init(format: ItemFileFormat) { self.format = format }

    /// The field that stands for the items' key, in a store for the rows of a file: its column may have equal values.
    var keyField: String?
    /// Whether new fields of JSON are made in the order of the file.
    var keepsOrder = false

    /// The corresponding name of a column or field; nil if it is left out.
    func name(for name: String) -> String? {
        let other = names[name] ?? name
        if let keyField, other == "itemKey" { return keyField }
        return other
    }

    /// An option that says how files of other formats are read, and those formats; nil if none is given.
    package var foreignOption: (name: String, formats: String)? {
        let (texts, sheets) = ([ItemFileFormat.csv, .tsv], [ItemFileFormat.xlsx, .ods])
        let options: [(name: String, isGiven: Bool, formats: [ItemFileFormat])] = [
            ("delimiter", delimiter != nil, texts), ("comment", comment != nil, texts),
            ("encoding", encoding != nil, texts + [.json, .jsonLines]), ("skip", skippedLines != nil, texts + sheets),
            ("header", header != .firstRow, texts + sheets), ("null", !nulls.isEmpty, texts + sheets),
            ("sheet", sheet != nil, sheets), ("path", recordPath != nil, [.json, .propertyList]),
            ("table", table != nil, [.sqlite]),
        ]
        guard let option = options.first(where: { $0.isGiven && !$0.formats.contains(format) }) else { return nil }
        let names = option.formats.map(\.rawValue)
        let formats = names.count > 1 ? "\(names.dropLast().joined(separator: ", ")) and \(names.last ?? "")" : names[0]
        return (option.name, formats)
    }

    var cellDelimiter: UInt8 {
        spreadsheet?.delimiter ?? delimiter ?? (format == .tsv ? UInt8(ascii: "\t") : UInt8(ascii: ","))
    }

    /// The number of rows between two progress reports.
    static let reportInterval = 1024

    func report(_ done: Int, _ total: Int) throws {
        if done % Self.reportInterval == 0 { try progress?(done, total) }
    }
}

/// Why a name cannot be a field's.
package struct FieldNameProblem: Sendable {
    /// As a sentence without advice.
    package let reason: String
    /// A name that can be one.
    package let otherName: String

    package init(_ reason: String, otherName: String) { (self.reason, self.otherName) = (reason, otherName) }
}

/// The file formats for import and export.
package enum ItemFileFormat: String, Sendable, CaseIterable {
    /// Comma-separated values with a header.
    case csv
    /// The same, separated by tabs.
    case tsv
    /// An array of objects.
    case json
    /// One object per line.
    case jsonLines = "jsonl"
    /// An array of dictionaries; written as XML.
    case propertyList = "plist"
    /// A keyed archive with an array of items, like the store's own.
    case keyedArchive = "archive"
    /// A table of a SQLite database.
    case sqlite
    /// A sheet of a spreadsheet, which is only read.
    case xlsx
    /// The same, as OpenDocument.
    case ods

    /// Whether it has cells in columns, which are texts.
    var isTable: Bool { self == .csv || self == .tsv }

    /// Whether it has cells, of which an empty one is no value.
    var hasCells: Bool { isTable || self == .xlsx || self == .ods }

    /// Whether days and moments have forms of their own.
    var hasDays: Bool { hasCells }

    /// Whether files of the format are written, too.
    package var isWritten: Bool { self != .xlsx && self != .ods }

    /// The format of a path's extension; nil for any other.
    package init?(path: String) {
        // No extension is longer. A compressed file has the format of its content.
        var end = path.utf8.suffix(20)
        if end.count > 3, end.suffix(3).elementsEqual(".gz".utf8) { end = end.dropLast(3) }
        guard let dot = end.lastIndex(of: UInt8(ascii: ".")), !end[dot...].contains(UInt8(ascii: "/")) else {
            return nil
        }
        switch String(path[path.utf8.index(after: dot)..<end.endIndex]).lowercased() {
        case "csv", "txt": self = .csv
        case "tsv", "tab": self = .tsv
        case "xlsx", "xlsm": self = .xlsx
        case "ods": self = .ods
        case "json": self = .json
        case "jsonl", "ndjson": self = .jsonLines
        case "plist", "xml": self = .propertyList
        case "archive", "keyedarchive", "data": self = .keyedArchive
        case "sqlite", "sqlite3", "db": self = .sqlite
        default: return nil
        }
    }
}

extension ItemFileFormat {
    /// Whether a path names no extension: that of a pipe.
    package static func hasNoExtension(_ path: String) -> Bool {
        let name = path.utf8.suffix(256).split(separator: UInt8(ascii: "/")).last ?? path.utf8[...]
        return !name.dropFirst().contains(UInt8(ascii: "."))
    }

    /// Whether a text begins as objects of JSON do, or an array of them, and no comma-separated values.
    static func isJSON(_ head: [UInt8]) -> Bool {
        let text = head.drop { blanks.contains($0) }
        guard let first = text.first, "[{".utf8.contains(first) else { return false }
        let next = text.dropFirst().drop { blanks.contains($0) }.first
        return next == UInt8(ascii: first == UInt8(ascii: "[") ? "{" : "\"")
    }

    /// White space, and the mark of UTF-8.
    private static let blanks: [UInt8] = [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D]

    /// The format of a file without an extension, by its first bytes.
    init(head: [UInt8]) {
        let text = head.drop { Self.blanks.contains($0) }
        let isXML = text.starts(with: "<?xml".utf8) || text.starts(with: "<plist".utf8)
        if head.starts(with: [0x50, 0x4B, 0x03, 0x04]) {
            self = .xlsx
        } else if isXML || head.starts(with: "bplist".utf8) {
            self = .propertyList
        } else {
            self = text.first == UInt8(ascii: "{") || text.first == UInt8(ascii: "[") ? .json : .csv
        }
    }
}

extension ImportFile {
    /// The format that the first bytes show, for a file whose name does not say it.
    ///
    /// - Throws: `FileError`; `FormatError`.
    package func format() throws -> ItemFileFormat { ItemFileFormat(head: try head(4096)) }
}

/// A file's text encoding.
package enum ItemFileEncoding: String, Sendable, CaseIterable {
    /// UTF-8, with or without a byte order mark.
    case utf8 = "utf-8"
    /// ISO 8859-1; bytes 80 to 9F are read as Windows-1252 where that defines them.
    case latin1
    /// UTF-16 in the byte order of its mark; without one, in the order that the places of its zeros show.
    case utf16 = "utf-16"
    /// By byte order mark; without one, UTF-16 if the first characters are plainly so, UTF-8 if the whole file is valid,
    /// else Latin-1.
    case automatic = "auto"
    /// The same as Latin-1 here.
    case windows1252 = "windows-1252"
    /// UTF-16 in little-endian byte order.
    case utf16LittleEndian = "utf-16le"
    /// UTF-16 in big-endian byte order.
    case utf16BigEndian = "utf-16be"
}

/// How the kinds of a file's columns are decided.
package enum ItemFileKinds: Sendable, Hashable {
    /// Inferred from the texts of comma-separated values: a column has a kind if all of its cells are in one canonical
    /// style, so that no two different texts become the same value.
    case inferred
    /// All texts stay texts.
    case text
    /// Given by field name; the others are inferred.
    case named(NameTable<ItemColumnKind>)

    /// The kind that is given for a field; nil for none.
    func kind(of field: String) -> ItemColumnKind? {
        if case .named(let kinds) = self { kinds[field] } else { nil }
    }
}

/// A kind that is given for a column.
package struct ItemColumnKind: Sendable, Hashable {
    /// The kind of its values.
    package let kind: ItemFieldKind
    /// How its dates are written; nil for the usual forms.
    package let dateStyle: DateStyle?

    package init(_ kind: ItemFieldKind, dateStyle: DateStyle? = nil) { (self.kind, self.dateStyle) = (kind, dateStyle) }

    /// A kind in the usual forms.
    package static let string = ItemColumnKind(.string)
    package static let integer = ItemColumnKind(.integer)
    package static let number = ItemColumnKind(.number)
    package static let real = ItemColumnKind(.real)
    package static let boolean = ItemColumnKind(.boolean)
    package static let date = ItemColumnKind(.date)

    /// A kind by its name: `integer`, `text`, `date(dd.MM.yyyy)`; nil for another word.
    ///
    /// - Throws: `DatePatternError` for a pattern by which no date can be read.
    package init?(_ text: String) throws(DatePatternError) {
        if text.hasPrefix("date("), text.utf8.last == UInt8(ascii: ")") {
            self.init(.date, dateStyle: try DateStyle(pattern: String(text.dropFirst(5).dropLast())))
            return
        }
        guard let kind = text == "text" ? .string : ItemFieldKind(exactly: text) else { return nil }
        self.init(kind)
    }
}

/// Where the names of a table's columns come from.
package enum ItemFileHeader: Sendable, Hashable {
    /// The first row has them.
    case firstRow
    /// The file has none: columns are named by their positions, `column1`.
    case none
    /// The file has none, and these are the columns' names.
    case names([String])
}

/// A host's function that changes rows before their texts are converted.
package protocol ItemRowTransform: AnyObject {
    /// Changes a row, or leaves it out.
    ///
    /// - Parameters:
    ///   - names: the columns' names in the store; further ones may come behind those of the row before.
    ///   - cells: the row, by column.
    ///   - change: called for each value that is another one than before; nil for one that is removed.
    /// - Returns: false to leave the row out.
    /// - Throws: `StoreError` for an error that is the row's; others end the import.
    func transform(
        _ names: [String], _ cells: [ImportedCell], _ change: (ItemRowChange) throws -> Void
    ) throws -> Bool
}

/// A value that a function has changed in a row.
package enum ItemRowChange {
    /// By the column's place.
    case column(Int, PropertyListValue?)
    /// A field that the row did not have.
    case field(String, PropertyListValue)
}
