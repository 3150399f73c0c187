/// The text being edited, a block of lines, with a cursor, a kill ring and undo.
///
/// Positions are indices of ``characters``, whole characters as a person sees them: an accent typed after its letter
/// becomes one character with it. Line breaks are `\n`; other kinds are turned into it on the way in.
/// All changes go through ``replace(_:with:)``, which keeps the characters whole and remembers how to undo.
public struct EditBuffer: Sendable {
    /// The text, one element a character that is displayed.
    public private(set) var characters: [Character] = []
    /// Where text goes in: before the character of this index.
    public private(set) var cursor = 0
    /// Grows by one with every change of the text, so that what was computed from it can be kept.
    public private(set) var revision = 0

    /// What was killed, to be yanked.
    public var killRing = KillRing()
    var history = UndoStack()
    /// The column that vertical motion tries to keep, while it goes on.
    var goalColumn: Int?
    /// The text that the last command yanked, so that the next can put another in its place.
    var yanked: Range<Int>?
    /// Whether the last command killed, so that the next kill joins it.
    var isKilling = false

    /// An empty buffer.
    public init() {}

    /// A buffer with a text, and the cursor at its end.
    public init(_ text: String) {
        characters = Array(Self.normalized(text))
        cursor = characters.count
    }

    /// The whole text. Complexity: linear.
    public var text: String { String(characters) }

    /// The text before the cursor. Complexity: linear.
    public var textBeforeCursor: String { String(characters[..<cursor]) }

    public var isEmpty: Bool { characters.isEmpty }
    public var isAtEnd: Bool { cursor == characters.count }

    /// The cursor as a count of UTF-8 bytes from the beginning. Complexity: linear.
    public var utf8Cursor: Int { utf8Offset(of: cursor) }

    /// The UTF-8 offset of a position.
    public func utf8Offset(of position: Int) -> Int {
        var total = 0
        for character in characters[..<clamp(position)] { total += character.utf8.count }
        return total
    }

    /// The position of a UTF-8 offset; one inside a character counts as its beginning.
    public func position(ofUTF8 offset: Int) -> Int {
        var total = 0
        for (index, character) in characters.enumerated() {
            total += character.utf8.count
            if total > offset { return index }
        }
        return characters.count
    }

    // MARK: Changing

    /// Puts a text in the place of a range and the cursor behind it. Out of range is brought into range.
    /// - Returns: the range that the new text has, wider than the text if it joined its neighbours.
    @discardableResult
    public mutating func replace(_ range: Range<Int>, with text: String) -> Range<Int> {
        let lower = clamp(range.lowerBound)
        let upper = max(lower, clamp(range.upperBound))
        if lower == upper, text.isEmpty { return lower..<lower }
        let before = cursor
        let edit = joined(lower..<upper, Self.normalized(text))
        apply(edit)
        // Behind the new text, also if what follows has joined it.
        cursor = edit.position + edit.inserted.count - edit.tail
        history.record(edit, cursorBefore: before, cursorAfter: cursor)
        settle()
        return edit.position..<cursor
    }

    /// Inserts at the cursor.
    @discardableResult
    public mutating func insert(_ text: String) -> Range<Int> { replace(cursor..<cursor, with: text) }

    /// Sets all of the text, as one step of undo, and the cursor at its end.
    public mutating func setText(_ text: String) {
        history.closeGroup()
        replace(0..<characters.count, with: text)
        history.closeGroup()
        cursor = characters.count
    }

    /// Empties the buffer and forgets what could be undone. The kill ring stays.
    public mutating func reset(to text: String = "") {
        characters = Array(Self.normalized(text))
        cursor = characters.count
        history = UndoStack()
        revision += 1
        settle()
    }

    /// Moves the cursor to a position, brought into range.
    public mutating func moveCursor(to position: Int) {
        cursor = clamp(position)
        settle()
        history.closeGroup()
    }

    /// Takes back the last group of changes. False if there is none.
    @discardableResult
    public mutating func undo() -> Bool {
        guard let group = history.takeUndo() else { return false }
        for edit in group.edits.reversed() { apply(edit.inverted) }
        cursor = clamp(group.cursorBefore)
        settle()
        return true
    }

    /// Does again what ``undo()`` took back. False if nothing was, or something else was changed since.
    @discardableResult
    public mutating func redo() -> Bool {
        guard let group = history.takeRedo() else { return false }
        for edit in group.edits { apply(edit) }
        cursor = clamp(group.cursorAfter)
        settle()
        return true
    }

    /// Makes all changes since the last one of a group that grew a step of undo of its own.
    public mutating func closeUndoGroup() { history.closeGroup() }

    // MARK: Inside

    /// Moves the cursor without ending what vertical motion keeps.
    mutating func place(_ position: Int) { cursor = clamp(position) }

    func clamp(_ position: Int) -> Int { max(0, min(position, characters.count)) }

    /// Ends what lasts only while one kind of command goes on.
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

    /// The change with as many neighbours as the new text joins: what's typed may combine with what is before it, and
    /// what is behind with it.
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
            // The border held: the rest stays as it is.
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

    /// Printable ASCII and the line break never join a neighbour that is plain too.
    private static func isPlain(_ character: Character?) -> Bool {
        guard let character else { return true }
        return character.utf8.count == 1
    }

    /// Line breaks of all kinds as `\n`.
    static func normalized(_ text: String) -> String {
        guard text.utf8.contains(0x0D) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var afterReturn = false
        for byte in text.utf8 {
            if byte == 0x0D {
                bytes.append(0x0A)
            } else if byte != 0x0A || !afterReturn {
                bytes.append(byte)
            }
            afterReturn = byte == 0x0D
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Array {
    /// The element, or nil if there is none of this index.
    subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
