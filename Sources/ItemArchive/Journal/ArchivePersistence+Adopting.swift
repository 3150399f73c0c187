import ColumnEngine
import Files
import PropertyList

extension ArchivePersistence {
    /// The file names of other editions' archives of items, the likeliest first.
    static let otherNames = [
        "items.plist", "possessions.data", "possession.data", "items.data", "itemsundone.archive", "itemsdone.archive",
    ]

    /// Maximum size; larger files are ignored.
    private static let largestOther = 1 << 30

    /// Adopts another edition's archive if the store has none yet: a copy of it becomes `items.archive`, and the file
    /// itself is not changed.
    ///
    /// - Returns: whether there was one.
    func adoptOtherEdition(_ report: inout ItemLoadReport) throws(StoreError) -> Bool {
        let found = try attempt { () throws(FileError) in try otherEditions() }
        guard let first = found.first else { return false }
        var text = "\(first.name) was opened: its items are kept in items.archive from now on, and it stays as it is"
        if found.count > 1 {
            let others = found.dropFirst().map(\.name).joined(separator: ", ")
            text += "; \(others) would hold items, too (items:import takes them)"
        }
        try attempt { () throws(FileError) in
            try AtomicFile.write(first.bytes, to: path, using: layer, durable: true)
        }
        report.notices.append(text)
        return true
    }

    /// Another edition's archive, for a read-only process without an archive.
    func otherEdition(_ report: inout ItemLoadReport) throws(StoreError) -> [UInt8]? {
        guard let first = try attempt({ () throws(FileError) in try otherEditions().first }) else { return nil }
        report.notices.append("\(first.name) was opened")
        return first.bytes
    }

    private func otherEditions() throws(FileError) -> [(name: String, bytes: [UInt8])] {
        var found: [(name: String, bytes: [UInt8])] = []
        for name in Self.otherNames {
            let other = PathText.join(folder, name)
            guard let status = try layer.status(other), status.kind == .regular, status.size <= Self.largestOther else {
                continue
            }
            let bytes = try layer.contents(of: other)
            if Self.holdsItems(bytes) { found.append((name, bytes)) }
        }
        return found
    }

    /// Whether a file is an archive or a property list with at least one item.
    private static func holdsItems(_ bytes: [UInt8]) -> Bool {
        guard bytes.withUnsafeBytes({ PropertyListFormat(detecting: $0) }) != nil,
            let reader = try? BinaryPropertyListReader(detecting: PropertyListStorage(bytes))
        else { return false }
        var items = ItemArchiveReader(ItemLoader(ColumnStore(.domain)), reader, ArchiveIdentity(of: bytes))
        do throws(PropertyListError) { try items.read() } catch { return false }
        return items.count > 0 && items.namesFields
    }
}
