/// Recall and search of history entries.
extension LineEditor {
    /// Recalls an entry. The cursor is placed so that the same key continues: at the end of the first line upwards, at
    /// the end of the text downwards.
    func recall(older: Bool) {
        var current = walk ?? HistoryWalk(from: buffer.text, prefix: buffer.textBeforeCursor, in: history)
        guard let text = older ? current.older(in: history) : current.newer(in: history) else { return }
        walk = current
        buffer.setText(text)
        if older { buffer.moveCursor(to: buffer.lineEnd(of: 0)) }
        recalledRevision = buffer.revision
    }

    /// Handles a key during a search. False if the search has ended and the key's own command is to run.
    func handleInSearch(_ key: Key) -> Bool {
        guard var current = search else { return false }
        switch (key, options.keys[key]) {
        case (_, .searchOlder), (_, .searchNewer):
            if current.query.isEmpty {
                current.resume(lastQuery, in: history)
            } else {
                current.next(older: options.keys[key] == .searchOlder, in: history)
            }
        case (_, .up): current.next(older: true, in: history)
        case (_, .down): current.next(older: false, in: history)
        case (.press(.character("g"), .control), _), (_, .interrupt):
            buffer = current.original
            search = nil
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
        search = current
        return true
    }

    private func take(_ search: HistorySearch) {
        self.search = nil
        lastQuery = search.query
        guard let match = search.match, history.entries.indices.contains(match.index) else { return }
        buffer.setText(history.entries[match.index])
        buffer.moveCursor(to: buffer.position(ofUTF8: match.range.lowerBound))
        recalledRevision = buffer.revision
    }
}
