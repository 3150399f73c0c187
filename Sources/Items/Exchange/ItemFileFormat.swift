import ColumnEngine
import ItemArchive

/// The file formats for import and export.
public enum ItemFileFormat: String, Sendable, CaseIterable {
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
    public init?(path: String) {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return nil }
        switch name[name.index(after: dot)...].lowercased() {
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

    /// Whether rows are lines of text, which are read and written as a stream.
    var isStreamed: Bool { [.csv, .tsv, .jsonLines].contains(self) }
}
