package import PropertyList
package import SQLite

/// Options for reading items from a file or writing them to one.
package struct ItemFileOptions {
    /// The file's format.
    package var format: ItemFileFormat
    /// Renames: column to field for reading, field to column for writing. Nil leaves the column out.
    package var names: [String: String?] = [:]
    /// Separates the cells of comma-separated values; for ``ItemFileFormat/tsv`` a comma stands for the tab.
    package var delimiter = UInt8(ascii: ",")
    /// Called regularly with the work done and the total: rows, or bytes of a file that is read as a stream. An error
    /// thrown ends the work.
    package var progress: ((_ done: Int, _ total: Int) throws -> Void)?
    /// Refuses field names that a host's items cannot have.
    package var checkField: ((String) throws -> Void)?

    // MARK: Reading

    /// The fields that identify an item, by their names in the store: a row with an existing item's values refers to
    /// that item. Without them each row is a new item.
    package var key: [String] = []
    /// Whether rows update the fields of existing items; else those items are unchanged.
    package var updates = false
    /// The kinds of columns; if nil, the format's default.
    package var kinds: ItemFileKinds?
    /// A text file's encoding.
    package var encoding = ItemFileEncoding.utf8
    /// Whether all changes are rolled back at the end: only the report is wanted.
    package var isDryRun = false
    /// Transforms each row, given by field names; nil leaves it out.
    package var transform: ((PropertyListFields) throws -> PropertyListFields?)?
    /// Decides about an invalid row, with its line and the problem: true leaves it out. If nil, the import ends.
    package var skipsRow: ((_ row: PropertyListFields, _ line: Int, _ message: String) throws -> Bool)?
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

    /// The corresponding name of a column or field; nil if it is left out.
    func name(for name: String) -> String? {
        if let other = names[exactly: name] { return other }
        return name
    }

    var cellDelimiter: UInt8 {
        format == .tsv && delimiter == UInt8(ascii: ",") ? UInt8(ascii: "\t") : spreadsheet?.delimiter ?? delimiter
    }

    /// The number of rows between two progress reports.
    static let reportInterval = 1024

    func report(_ done: Int, _ total: Int) throws {
        if done % Self.reportInterval == 0 { try progress?(done, total) }
    }
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

    /// The format of a path's extension; nil for any other.
    package init?(path: String) {
        // No extension is longer.
        let end = path.utf8.suffix(16)
        guard let dot = end.lastIndex(of: UInt8(ascii: ".")), !end[dot...].contains(UInt8(ascii: "/")) else {
            return nil
        }
        switch String(path[path.utf8.index(after: dot)...]).lowercased() {
        case "csv": self = .csv
        case "tsv": self = .tsv
        case "json": self = .json
        case "jsonl", "ndjson": self = .jsonLines
        case "plist", "xml": self = .propertyList
        case "archive", "keyedarchive", "data": self = .keyedArchive
        case "sqlite", "sqlite3", "db": self = .sqlite
        default: return nil
        }
    }
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
    case named([String: ItemFieldKind])
}
