import ColumnEngine
import ItemArchive
public import PropertyList
package import SQLite

/// How items are read from a file or written to one.
public struct ItemFileOptions {
    /// The file's format.
    public var format: ItemFileFormat
    /// Other names: of a file's columns as fields when it is read, of fields as columns when it is written. A nil leaves
    /// the column out.
    public var names: [String: String?] = [:]
    /// Between the cells of comma-separated values; a comma stands for the tab of ``ItemFileFormat/tsv``.
    public var delimiter = UInt8(ascii: ",")
    /// Told now and then how much is done, of how much: rows, or bytes of a file that is read as a stream. What it throws
    /// ends the work.
    public var progress: ((_ done: Int, _ total: Int) throws -> Void)?
    /// Refuses names that a host's items can't have as fields.
    public var checkField: ((String) throws -> Void)?

    // MARK: Reading

    /// The fields that identify an item, under their names in the store: a row whose values an item has there is that
    /// item's. Without them each row is a new item.
    public var key: [String] = []
    /// Whether the rows of items that exist replace their fields; else those items stay as they are.
    public var updates = false
    /// What the texts of columns become; if nil, what is usual for the format.
    public var kinds: ItemFileKinds?
    /// How a file of text is encoded.
    public var encoding = ItemFileEncoding.utf8
    /// Whether all changes are taken back at the end: what would be done is known, and nothing is.
    public var isDryRun = false
    /// Makes another row of a row, by the names of fields; nil leaves it out.
    public var transform: (([String: PropertyListValue]) throws -> [String: PropertyListValue]?)?
    /// Decides about a row that is no item, with its line and what is wrong: true leaves it out. If nil, the import ends.
    public var skipsRow: ((_ row: [String: PropertyListValue], _ line: Int, _ message: String) throws -> Bool)?
    /// The bytes that go with the item of a key, beside the archive that is imported; nil when there are none.
    package var attachment: ((_ key: String) throws -> [UInt8]?)?
    /// Told once which kinds of columns were inferred.
    package var onKinds: ((String) -> Void)?

    /// The table of a database: `items`, or the only one when it is read, if nil.
    public var table: String?
    /// Opens the database that is read: its library opens files by itself.
    package var openDatabase: (() throws -> SQLiteDatabase)?

    // MARK: Writing

    /// The fields that go out, in this order; all that some item has, those of the domain first, if nil.
    public var columns: [String]?

    /// Creates the usual options for a format.
    public init(format: ItemFileFormat) { self.format = format }

    /// The other side's name for a column or field; nil when it is left out.
    func name(for name: String) -> String? {
        if let other = names[name] { return other }
        return name
    }

    var cellDelimiter: UInt8 {
        format == .tsv && delimiter == UInt8(ascii: ",") ? UInt8(ascii: "\t") : delimiter
    }

    /// How many rows go by between two reports.
    static let reportInterval = 1024

    func report(_ done: Int, _ total: Int) throws {
        if done % Self.reportInterval == 0 { try progress?(done, total) }
    }
}
