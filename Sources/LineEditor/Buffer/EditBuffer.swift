/// The text being edited, a block of lines, with a cursor, a kill ring and undo.
///
/// Positions are indices of ``characters``, which are grapheme clusters: an accent typed after its letter combines with
/// it. Line breaks are `\n`; other kinds are converted on input. All changes go through ``replace(_:with:)``, which
/// keeps clusters whole and records undo.
package struct EditBuffer: Sendable {
    /// The text as grapheme clusters.
    package private(set) var characters: [Character] = []
    /// The insertion point: before the character of this index.
    package private(set) var cursor = 0
    /// Increases with every change of the text, to validate derived values.
    package private(set) var revision = 0

    /// Killed texts, for yanking.
    package var killRing = KillRing()
    var history = UndoStack()
    /// The column that consecutive vertical motions keep.
    var goalColumn: Int?
    /// The range of the last yank, which the next command may replace.
    var yanked: Range<Int>?
    /// Whether the last command was a kill, which the next kill extends.
    var isKilling = false

    /// An empty buffer.
    package init() {}

    /// A buffer with a text and the cursor at its end.
    package init(_ text: String) {
        characters = Array(Self.normalized(text))
        cursor = characters.count
    }
}

/// The text, and places in it.
extension EditBuffer {
    /// The whole text. Complexity: linear.
    package var text: String { String(characters) }

    /// The text before the cursor. Complexity: linear.
    package var textBeforeCursor: String { String(characters[..<cursor]) }

    package var isEmpty: Bool { characters.isEmpty }
    package var isAtEnd: Bool { cursor == characters.count }

    /// The cursor as a count of UTF-8 bytes from the beginning. Complexity: linear.
    package var utf8Cursor: Int { utf8Offset(of: cursor) }

    /// The UTF-8 offset of a position.
    package func utf8Offset(of position: Int) -> Int {
        characters[..<clamp(position)].reduce(0) { $0 + $1.utf8.count }
    }

    /// The position of a UTF-8 offset; one inside a character counts as its beginning.
    package func position(ofUTF8 offset: Int) -> Int {
        var total = 0
        for (index, character) in characters.enumerated() {
            total += character.utf8.count
            if total > offset { return index }
        }
        return characters.count
    }

    // MARK: Changing

    /// Replaces a range and moves the cursor behind the new text. Out-of-range bounds are clamped.
    /// - Returns: the range of the new text, wider than the text if it combined with its neighbours.
    @discardableResult
    package mutating func replace(_ range: Range<Int>, with text: String) -> Range<Int> {
        let lower = clamp(range.lowerBound)
        let upper = max(lower, clamp(range.upperBound))
        if lower == upper, text.isEmpty { return lower..<lower }
        let before = cursor
        let edit = joined(lower..<upper, Self.normalized(text))
        apply(edit)
        // Behind the new text, even if the following text has combined with it.
        cursor = edit.position + edit.inserted.count - edit.tail
        history.record(edit, cursorBefore: before, cursorAfter: cursor)
        settle()
        return edit.position..<cursor
    }

    /// Inserts at the cursor.
    @discardableResult
    package mutating func insert(_ text: String) -> Range<Int> { replace(cursor..<cursor, with: text) }

    /// Sets the whole text as one undo step, with the cursor at its end.
    package mutating func setText(_ text: String) {
        replaceAlone(0..<characters.count, with: text)
        cursor = characters.count
    }
    /// Resets the text and the undo history. The kill ring stays.
    package mutating func reset(to text: String = "") {
        characters = Array(Self.normalized(text))
        cursor = characters.count
        history = UndoStack()
        revision += 1
        settle()
    }

    /// Moves the cursor to a position, clamped.
    package mutating func moveCursor(to position: Int) {
        cursor = clamp(position)
        settle()
        history.closeGroup()
    }

    /// Undoes the last group of changes. False if there is none.
    @discardableResult
    package mutating func undo() -> Bool {
        guard let group = history.takeUndo() else { return false }
        for edit in group.edits.reversed() { apply(edit.inverted) }
        cursor = clamp(group.cursorBefore)
        settle()
        return true
    }

    /// Redoes the last ``undo()``. False if there is none, or the text was changed since.
    @discardableResult
    package mutating func redo() -> Bool {
        guard let group = history.takeRedo() else { return false }
        for edit in group.edits { apply(edit) }
        cursor = clamp(group.cursorAfter)
        settle()
        return true
    }

    /// Closes the undo group, so that further changes form a new undo step.
    package mutating func closeUndoGroup() { history.closeGroup() }

    /// Replaces a range as an undo step of its own; otherwise as ``replace(_:with:)``.
    @discardableResult
    mutating func replaceAlone(_ range: Range<Int>, with text: String) -> Range<Int> {
        closeUndoGroup()
        defer { closeUndoGroup() }
        return replace(range, with: text)
    }

    // MARK: Inside

    /// Moves the cursor and keeps the goal column.
    mutating func place(_ position: Int) { cursor = clamp(position) }

    func clamp(_ position: Int) -> Int { max(0, min(position, characters.count)) }

    /// Ends the state of consecutive commands of one kind.
    private mutating func settle() {
        goalColumn = nil
        yanked = nil
        isKilling = false
    }

    private mutating func apply(_ edit: UndoStack.Edit) {
        let end = min(edit.position + edit.removed.count, characters.count)
        characters.replaceSubrange(min(edit.position, end)..<end, with: edit.inserted)
        revision += 1
    }

    /// Widens the change by the neighbours that the new text combines with: the preceding text, and the following.
    private func joined(_ range: Range<Int>, _ text: String) -> UndoStack.Edit {
        var lower = range.lowerBound
        var upper = range.upperBound
        var content = text
        if lower > 0, !Self.isPlain(characters[lower - 1]) || !Self.isPlain(text.first ?? characters[safe: upper]) {
            lower -= 1
            content = String(characters[lower]) + content
        }
        var new = Array(content)
        var tail = 0
        while upper < characters.count {
            let next = characters[upper]
            if Self.isPlain(next), new.last.map(Self.isPlain) ?? true { break }
            content.append(next)
            let wider = Array(content)
            upper += 1
            // No further character combines: the rest is unchanged.
            if wider.count == new.count + 1, wider.last?.utf8.count == next.utf8.count {
                new = wider
                tail = 1
                break
            }
            new = wider
            tail = 0
        }
        return UndoStack.Edit(
            position: lower, removed: Array(characters[lower..<upper]), inserted: new, tail: tail)
    }

    /// Printable ASCII and line breaks do not combine with plain neighbours.
    private static func isPlain(_ character: Character?) -> Bool { character.map { $0.utf8.count == 1 } ?? true }

    /// Converts line breaks of all kinds to `\n`.
    static func normalized(_ text: String) -> String {
        guard text.utf8.contains(0x0D) else { return text }
        return String(text.map { $0.is("\r\n") || $0.is("\r") ? "\n" : $0 })
    }
}

extension Array {
    /// The element; nil for an index out of range.
    subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}

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
        // A word begins a new group.
        if last.isTyping, edit.isTyping { return !last.endsInSpace || edit.endsInSpace }
        return last.isErasing && edit.isErasing
    }
}

extension UndoStack.Edit {
    fileprivate var isTyping: Bool { inserted.count - tail <= 2 && removed.count <= 1 + tail && !isErasing }
    fileprivate var isErasing: Bool { inserted.count < removed.count && removed.count - inserted.count == 1 }
    fileprivate var endsInSpace: Bool { inserted.dropLast(tail).last?.isWhitespace ?? false }
}

/// The last killed texts, newest first.
package struct KillRing: Sendable {
    private static let capacity = 60
    private var texts: [String] = []
    private var current = 0

    /// The end of the last kill that a text is added to.
    enum Direction {
        case forward, backward
    }

    package init() {}

    /// The text of the next yank; nil without kills.
    package var top: String? { current < texts.count ? texts[current] : nil }

    mutating func add(_ text: String, joining direction: Direction?) {
        guard !text.isEmpty else { return }
        current = 0
        switch (direction, texts.first) {
        case (.forward, let last?): texts[0] = last + text
        case (.backward, let last?): texts[0] = text + last
        default:
            texts.insert(text, at: 0)
            if texts.count > Self.capacity { texts.removeLast() }
        }
    }

    /// The next older text; after the oldest, the newest.
    mutating func rotate() -> String? {
        guard !texts.isEmpty else { return nil }
        current = (current + 1) % texts.count
        return texts[current]
    }
}

/// Lines, words and columns, and motions.
extension EditBuffer {
    /// The start of a position's line. Complexity: linear in the line.
    package func lineStart(of position: Int) -> Int { start(of: position) { !$0.is("\n") } }

    /// The position of the line break at the end of a position's line, or the end of the text.
    package func lineEnd(of position: Int) -> Int { end(of: position) { !$0.is("\n") } }

    /// The position from which on all characters before another position fulfil a condition.
    private func start(of position: Int, while condition: (Character) -> Bool) -> Int {
        characters[..<clamp(position)].lastIndex { !condition($0) }.map { $0 + 1 } ?? 0
    }

    /// The position up to which all characters from another position on fulfil a condition.
    func end(of position: Int, while condition: (Character) -> Bool) -> Int {
        characters[clamp(position)...].firstIndex { !condition($0) } ?? characters.count
    }

    /// Whether the cursor is on the last line.
    package var isOnLastLine: Bool { lineEnd(of: cursor) == characters.count }

    /// The text of the line that a position is in, without its line break.
    package func line(at position: Int) -> String {
        String(characters[lineStart(of: position)..<lineEnd(of: position)])
    }

    /// The end of the word after a position. A word is letters, digits and underscores.
    package func wordEnd(after position: Int) -> Int {
        end(of: end(of: position) { !Self.isWord($0) }, while: Self.isWord)
    }

    /// The beginning of the word before a position.
    package func wordStart(before position: Int) -> Int {
        start(of: start(of: position) { !Self.isWord($0) }, while: Self.isWord)
    }

    /// The start of the run without white space before a position.
    package func blankStart(before position: Int) -> Int {
        start(of: start(of: position, while: \.isWhitespace)) { !$0.isWhitespace }
    }

    static func isWord(_ character: Character) -> Bool {
        if let ascii = character.asciiValue {
            switch ascii {
            case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: return true
            default: return false
            }
        }
        return character.isLetter || character.isNumber
    }

    // MARK: Vertical motion

    /// Moves up one line, towards the goal column. False on the first line.
    @discardableResult
    package mutating func moveUp() -> Bool {
        let start = lineStart(of: cursor)
        guard start > 0 else { return false }
        return moveVertically(toLineStartingAt: lineStart(of: start - 1), from: start)
    }

    /// Moves down one line, towards the goal column. False on the last line.
    @discardableResult
    package mutating func moveDown() -> Bool {
        let end = lineEnd(of: cursor)
        guard end < characters.count else { return false }
        return moveVertically(toLineStartingAt: end + 1, from: lineStart(of: cursor))
    }

    private mutating func moveVertically(toLineStartingAt target: Int, from start: Int) -> Bool {
        let goal = goalColumn ?? width(of: start..<cursor)
        var index = target
        var column = 0
        while index < characters.count, !characters[index].is("\n") {
            let next = column + width(of: index..<index + 1)
            if next > goal { break }
            column = next
            index += 1
        }
        moveCursor(to: index)
        goalColumn = goal
        return true
    }

    private func width(of range: Range<Int>) -> Int {
        characters[range].reduce(0) { $0 + DisplayForm.width(of: $1, atColumn: $0) }
    }

    /// The blanks at the start of a line.
    private func blanks(ofLineAt position: Int) -> Range<Int> {
        let start = lineStart(of: position)
        return start..<end(of: start) { $0.is(" ") || $0.is("\t") }
    }

    // MARK: Indentation

    /// A line's leading white space, in columns.
    package func indentation(ofLineAt position: Int) -> Int { width(of: blanks(ofLineAt: position)) }

    /// Whether only white space precedes the cursor on its line.
    package var isInIndentation: Bool { cursor <= blanks(ofLineAt: cursor).upperBound }

    /// Sets a line's leading white space to some spaces; the cursor stays with its text.
    package mutating func setIndentation(ofLineAt position: Int, to columns: Int) {
        let blanks = blanks(ofLineAt: position)
        let columns = max(0, columns)
        let saved = cursor
        replace(blanks, with: String(repeating: " ", count: columns))
        place(saved >= blanks.upperBound ? saved + columns - blanks.count : min(saved, blanks.lowerBound + columns))
    }
}
