import ColumnEngine
import ItemArchive

/// The formats in which items come from files and go to them.
public enum ItemFileFormat: String, Sendable, CaseIterable {
    /// Comma-separated values with a header.
    case csv
    /// An array of objects.
    case json
    /// An array of dictionaries; written as XML.
    case propertyList = "plist"
    /// A keyed archive with an array of items, as the store's own.
    case keyedArchive = "archive"

    /// The format that a path's extension names; nil for any other.
    public init?(path: String) {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return nil }
        switch name[name.index(after: dot)...].lowercased() {
        case "csv", "tsv": self = .csv
        case "json": self = .json
        case "plist", "xml": self = .propertyList
        case "archive", "keyedarchive", "data": self = .keyedArchive
        default: return nil
        }
    }
}
