import Wording

/// The results of an import, or of a dry run.
public struct ItemImportReport: Sendable, Hashable, CustomStringConvertible {
    /// New items.
    public internal(set) var created = 0
    /// Items with changed values.
    public internal(set) var updated = 0
    /// Items that a row matched and that did not change.
    public internal(set) var unchanged = 0
    /// Invalid rows that were left out.
    public internal(set) var rejected = 0
    /// All rows of the file.
    public internal(set) var total = 0
    /// Pictures imported with the items.
    public internal(set) var pictures = 0
    /// The rejected rows as comma-separated values, with the problem in the last column; empty if there are none.
    public internal(set) var rejects: [UInt8] = []

    /// Creates an empty report.
    public init() {}

    public var description: String {
        var parts = [
            "\(created.grouped) created", "\(updated.grouped) updated", "\(unchanged.grouped) unchanged",
            "\(rejected.grouped) rejected",
        ]
        if pictures > 0 { parts.append(pictures.counted("picture")) }
        return parts.joined(separator: ", ")
    }
}
