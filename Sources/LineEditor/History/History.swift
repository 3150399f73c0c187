/// The entries of earlier sessions and of this one, oldest first. An entry is a whole block.
public struct History: Sendable {
    /// The entries, oldest first; no two are the same.
    public private(set) var entries: [String] = []
    /// Maximum number of entries; the oldest are dropped first.
    public let limit: Int
    /// Whether ``add(_:)`` stores entries: false is private mode.
    public var isRecording = true

    /// Creates an empty history of limited length.
    public init(limit: Int = 10_000) {
        self.limit = max(1, limit)
    }

    /// A history of given entries; of duplicates the last is kept.
    public init(_ entries: some Sequence<String>, limit: Int = 10_000) {
        self.init(limit: limit)
        self.entries = Self.folded(Array(entries), limit: self.limit)
    }

    /// Adds an entry as the newest; an earlier duplicate is removed.
    ///
    /// Blank entries, entries that begin with a space (the shells' convention), and all entries while ``isRecording``
    /// is false are ignored. Complexity: linear in the entries.
    /// - Returns: whether it was added.
    @discardableResult
    public mutating func add(_ entry: String) -> Bool {
        guard accepts(entry) else { return false }
        if entries.last == entry { return true }
        entries.removeAll { $0 == entry }
        entries.append(entry)
        if entries.count > limit { entries.removeFirst(entries.count - limit) }
        return true
    }

    /// Whether ``add(_:)`` would store an entry, for a host that writes it to a file.
    public func accepts(_ entry: String) -> Bool {
        isRecording && !entry.hasPrefix(" ") && !entry.allSatisfy(\.isWhitespace)
    }

    /// Removes all entries.
    public mutating func removeAll() { entries.removeAll() }

    /// The newest entry before an index that has a prefix and is longer than it.
    public func newest(withPrefix prefix: String, before index: Int? = nil) -> Int? {
        let wanted = prefix.utf8
        var candidate = min(index ?? entries.count, entries.count) - 1
        while candidate >= 0 {
            let entry = entries[candidate].utf8
            if entry.count > wanted.count, entry.starts(with: wanted) { return candidate }
            candidate -= 1
        }
        return nil
    }

    static func folded(_ entries: [String], limit: Int) -> [String] {
        var seen: NameSet = []
        var newestFirst: [String] = []
        for entry in entries.reversed() where seen.insert(entry).inserted {
            newestFirst.append(entry)
            if newestFirst.count == limit { break }
        }
        return newestFirst.reversed()
    }
}
