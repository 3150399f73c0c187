import ColumnEngine
import ItemArchive

/// The formats in which items come from files and go to them.
public enum ItemFileFormat: String, Sendable, CaseIterable {
    /// Comma-separated values with a header.
    case csv
    /// The same with tabs.
    case tsv
    /// An array of objects.
    case json
    /// An object a line.
    case jsonLines = "jsonl"
    /// An array of dictionaries; written as XML.
    case propertyList = "plist"
    /// A keyed archive with an array of items, as the store's own.
    case keyedArchive = "archive"
    /// A table of a SQLite database.
    case sqlite

    /// The format that a path's extension names; nil for any other.
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

    /// Whether a row is a line or more of text, which is read and written as a stream.
    var isStreamed: Bool { [.csv, .tsv, .jsonLines].contains(self) }
}
