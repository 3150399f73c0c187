/// A walk through the history by Up and Down, over the entries that begin as the line did when it began.
struct HistoryWalk: Sendable {
    /// What was typed, to come back to.
    let original: String
    /// What the entries begin with: the text that was before the cursor.
    let prefix: String
    private var index: Int

    init(from original: String, prefix: String, in history: History) {
        self.original = original
        self.prefix = prefix
        index = history.entries.count
    }

    /// Goes to the next older entry; nil if there is none, and the walk stays where it is.
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

    /// Goes to the next newer entry, behind the newest to what was typed; nil when there already.
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
