/// The changes of a text, grouped into undo steps.
struct UndoStack: Sendable {
    /// One replacement.
    struct Edit: Sendable, Equatable {
        var position: Int
        var removed: [Character]
        var inserted: [Character]
        /// The number of inserted characters that were already behind the change.
        var tail = 0

        var inverted: Edit { Edit(position: position, removed: inserted, inserted: removed) }
    }

    struct Group: Sendable {
        var edits: [Edit]
        var cursorBefore: Int
        var cursorAfter: Int
    }

    private static let maximumGroups = 1000

    private var done: [Group] = []
    private var undone: [Group] = []
    private var isOpen = false

    /// Records a change. Consecutive single characters form one group for each word.
    mutating func record(_ edit: Edit, cursorBefore: Int, cursorAfter: Int) {
        undone.removeAll()
        if isOpen, let last = done.last, last.cursorAfter == cursorBefore, Self.continues(last, with: edit) {
            done[done.count - 1].edits.append(edit)
            done[done.count - 1].cursorAfter = cursorAfter
        } else {
            done.append(Group(edits: [edit], cursorBefore: cursorBefore, cursorAfter: cursorAfter))
            if done.count > Self.maximumGroups { done.removeFirst(done.count - Self.maximumGroups) }
        }
        isOpen = true
    }

    mutating func closeGroup() { isOpen = false }

    mutating func takeUndo() -> Group? {
        isOpen = false
        guard let group = done.popLast() else { return nil }
        undone.append(group)
        return group
    }

    mutating func takeRedo() -> Group? {
        isOpen = false
        guard let group = undone.popLast() else { return nil }
        done.append(group)
        return group
    }

    private static func continues(_ group: Group, with edit: Edit) -> Bool {
        guard let last = group.edits.last else { return false }
        switch (last.isTyping, edit.isTyping, last.isErasing, edit.isErasing) {
        case (true, true, _, _):
            // A word begins a new group.
            return !(last.endsInSpace && !edit.endsInSpace)
        case (_, _, true, true): return true
        default: return false
        }
    }
}

extension UndoStack.Edit {
    fileprivate var isTyping: Bool { inserted.count - tail <= 2 && removed.count <= 1 + tail && !isErasing }
    fileprivate var isErasing: Bool { inserted.count < removed.count && removed.count - inserted.count == 1 }
    fileprivate var endsInSpace: Bool { inserted.dropLast(tail).last?.isWhitespace ?? false }
}
