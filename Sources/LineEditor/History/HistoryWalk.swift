/// Recall by Up and Down, over the entries with the prefix of the line at its start.
struct HistoryWalk: Sendable {
    /// The typed text, to return to.
    let original: String
    /// The prefix: the text before the cursor.
    let prefix: String
    private var index: Int

    init(from original: String, prefix: String, in history: History) {
        self.original = original
        self.prefix = prefix
        index = history.entries.count
    }

    /// Moves to the next older entry; nil and no change if there is none.
    mutating func older(in history: History) -> String? {
        var candidate = min(index, history.entries.count)
        let shown = index < history.entries.count ? history.entries[index] : original
        while let found = find(before: candidate, in: history) {
            candidate = found
            if history.entries[found] != shown {
                index = found
                return history.entries[found]
            }
        }
        return nil
    }

    /// Moves to the next newer entry, after the newest to the typed text; nil at the end.
    mutating func newer(in history: History) -> String? {
        guard index < history.entries.count else { return nil }
        index += 1
        while index < history.entries.count {
            let entry = history.entries[index]
            if entry.utf8.starts(with: prefix.utf8), entry != original { return entry }
            index += 1
        }
        return original
    }

    private func find(before candidate: Int, in history: History) -> Int? {
        var next = candidate - 1
        while next >= 0 {
            if history.entries[next].utf8.starts(with: prefix.utf8) { return next }
            next -= 1
        }
        return nil
    }
}
