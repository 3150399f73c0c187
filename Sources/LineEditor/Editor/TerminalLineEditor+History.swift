/// Recall and search of history entries.
extension TerminalLineEditor {
    /// Recalls an entry. The cursor is placed so that the same key continues: at the end of the first line upwards, at
    /// the end of the text downwards.
    func recallEntry(older: Bool) {
        var current = recall.walk ?? HistoryWalk(from: buffer.text, prefix: buffer.textBeforeCursor, in: history)
        guard let text = older ? current.older(in: history) : current.newer(in: history) else { return }
        recall.walk = current
        buffer.setText(text)
        if older { buffer.moveCursor(to: buffer.lineEnd(of: 0)) }
        recall.revision = buffer.revision
    }

    /// Handles a key during a search. False if the search has ended and the key's own command is to run.
    func handleInSearch(_ key: EditorKey) -> Bool {
        guard var current = recall.search else { return false }
        switch (key, options.keys[key]) {
        case (_, .searchOlder), (_, .searchNewer):
            if current.query.isEmpty {
                current.resume(recall.lastQuery, in: history)
            } else {
                current.next(older: options.keys[key] == .searchOlder, in: history)
            }
        case (_, .up): current.next(older: true, in: history)
        case (_, .down): current.next(older: false, in: history)
        case (.press(.character("g"), .control), _), (_, .interrupt):
            buffer = current.original
            recall.search = nil
            return true
        case (_, .cancel):
            take(current)
            return true
        case (_, .edit(.deleteBackward)): current.removeLast(in: history)
        case (.press(.character(let character), let modifiers), nil) where modifiers.isSubset(of: .shift):
            current.append(String(character), in: history)
        default:
            take(current)
            return false
        }
        recall.search = current
        return true
    }

    private func take(_ search: HistorySearch) {
        recall.search = nil
        recall.lastQuery = search.query
        guard let match = search.match, history.entries.indices.contains(match.index) else { return }
        buffer.setText(history.entries[match.index])
        buffer.moveCursor(to: buffer.position(ofUTF8: match.range.lowerBound))
        recall.revision = buffer.revision
    }
}

/// What an editor recalls of its history.
struct RecallState: Sendable {
    var search: HistorySearch?
    var lastQuery = ""
    var walk: HistoryWalk?
    /// The buffer's revision at the recall of an entry: while unchanged, Enter runs it wherever the cursor is.
    var revision: Int?

    /// Ends the search and the walk.
    mutating func leave() { (search, walk, revision) = (nil, nil, nil) }
}

/// Recall by Up and Down, over the entries with the prefix of the line at its start.
struct HistoryWalk: Sendable {
    /// The typed text, to return to.
    let original: String
    /// The prefix: the text before the cursor.
    let prefix: String
    private var index: Int

    init(from original: String, prefix: String, in history: EditorHistory) {
        self.original = original
        self.prefix = prefix
        index = history.entries.count
    }

    /// Moves to the next older entry; nil and no change if there is none.
    mutating func older(in history: EditorHistory) -> String? {
        let shown = index < history.entries.count ? history.entries[index] : original
        let earlier = history.entries.prefix(index)
        guard let found = earlier.lastIndex(where: { $0.hasPrefix(prefix) && $0 != shown }) else { return nil }
        index = found
        return history.entries[found]
    }

    /// Moves to the next newer entry, after the newest to the typed text; nil at the end.
    mutating func newer(in history: EditorHistory) -> String? {
        guard index < history.entries.count else { return nil }
        let later = history.entries[(index + 1)...]
        index = later.firstIndex { $0.hasPrefix(prefix) && $0 != original } ?? history.entries.count
        return index < history.entries.count ? history.entries[index] : original
    }
}

/// An incremental search of the history, from the newest entry to older ones.
///
/// A lower-case query ignores case; a query with an upper-case letter does not.
struct HistorySearch: Sendable {
    private(set) var query = ""
    /// The matching entry, and the range of the query in it, in UTF-8 offsets.
    private(set) var match: (index: Int, range: Range<Int>)?
    /// Whether the last step found nothing; the previous match is still shown.
    private(set) var hasFailed = false
    /// The buffer before the search.
    let original: EditBuffer

    init(from original: EditBuffer) { self.original = original }

    /// Extends the query; the match stays if it contains the longer query.
    mutating func append(_ text: String, in history: EditorHistory) {
        query += text
        search(from: match?.index ?? history.entries.count - 1, step: -1, in: history)
    }

    /// Shortens the query and searches again from the newest entry.
    mutating func removeLast(in history: EditorHistory) {
        guard !query.isEmpty else { return }
        query.removeLast()
        match = nil
        hasFailed = false
        if !query.isEmpty { search(from: history.entries.count - 1, step: -1, in: history) }
    }

    /// Moves to the next matching entry, older or newer.
    mutating func next(older: Bool, in history: EditorHistory) {
        guard !query.isEmpty else { return }
        let step = older ? -1 : 1
        search(from: (match?.index ?? (older ? history.entries.count : -1)) + step, step: step, in: history)
    }

    /// Takes over the query of the last search, for C-r pressed twice.
    mutating func resume(_ earlier: String, in history: EditorHistory) {
        query = ""
        append(earlier, in: history)
    }

    private mutating func search(from start: Int, step: Int, in history: EditorHistory) {
        let folds = !query.contains(where: \.isUppercase)
        let wanted = Array((folds ? query.lowercased() : query).utf8)
        var index = start
        while index >= 0, index < history.entries.count {
            if let offset = Self.find(wanted, in: history.entries[index], foldingCase: folds) {
                match = (index, offset..<offset + wanted.count)
                hasFailed = false
                return
            }
            index += step
        }
        hasFailed = true
    }

    /// The offset of the last occurrence of the bytes. Case is ignored for ASCII letters only.
    private static func find(_ wanted: [UInt8], in text: String, foldingCase: Bool) -> Int? {
        let bytes = text.utf8.map { foldingCase && (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
        guard !wanted.isEmpty, bytes.count >= wanted.count else { return nil }
        return (0...bytes.count - wanted.count).last { bytes[$0...].starts(with: wanted) }
    }
}
