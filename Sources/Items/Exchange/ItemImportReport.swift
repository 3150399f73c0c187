import Wording

/// What an import did, or would do.
public struct ItemImportReport: Sendable, Hashable, CustomStringConvertible {
    /// Items that are new.
    public internal(set) var created = 0
    /// Items that have other values now.
    public internal(set) var updated = 0
    /// Items that a row was for and that are as they were.
    public internal(set) var unchanged = 0
    /// Rows that are no items and were left out.
    public internal(set) var rejected = 0
    /// All rows of the file.
    public internal(set) var total = 0
    /// Pictures that came with the items.
    public internal(set) var pictures = 0
    /// The rejected rows as comma-separated values, with what is wrong in the last column; empty without any.
    public internal(set) var rejects: [UInt8] = []

    /// The report of nothing.
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
