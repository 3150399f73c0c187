/// Lines, words and columns, and moving by them.
extension EditBuffer {
    /// The position where the line of a position begins. Complexity: linear in the line.
    public func lineStart(of position: Int) -> Int {
        var index = clamp(position)
        while index > 0, characters[index - 1] != "\n" { index -= 1 }
        return index
    }

    /// The position of the line break that ends the line of a position, or of the text's end.
    public func lineEnd(of position: Int) -> Int {
        var index = clamp(position)
        while index < characters.count, characters[index] != "\n" { index += 1 }
        return index
    }

    /// Whether the cursor is on the last line.
    public var isOnLastLine: Bool { lineEnd(of: cursor) == characters.count }

    /// The text of the line that a position is in, without its line break.
    public func line(at position: Int) -> String { String(characters[lineStart(of: position)..<lineEnd(of: position)]) }

    /// The end of the word after a position. A word is letters, digits and underscores.
    public func wordEnd(after position: Int) -> Int {
        var index = clamp(position)
        while index < characters.count, !Self.isWord(characters[index]) { index += 1 }
        while index < characters.count, Self.isWord(characters[index]) { index += 1 }
        return index
    }

    /// The beginning of the word before a position.
    public func wordStart(before position: Int) -> Int {
        var index = clamp(position)
        while index > 0, !Self.isWord(characters[index - 1]) { index -= 1 }
        while index > 0, Self.isWord(characters[index - 1]) { index -= 1 }
        return index
    }

    /// The beginning of what stands before a position up to white space.
    public func blankStart(before position: Int) -> Int {
        var index = clamp(position)
        while index > 0, characters[index - 1].isWhitespace { index -= 1 }
        while index > 0, !characters[index - 1].isWhitespace { index -= 1 }
        return index
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

    /// Moves one line up, to the column it set out from. False on the first line.
    @discardableResult
    public mutating func moveUp() -> Bool {
        let start = lineStart(of: cursor)
        guard start > 0 else { return false }
        return moveVertically(toLineStartingAt: lineStart(of: start - 1), from: start)
    }

    /// Moves one line down, to the column it set out from. False on the last line.
    @discardableResult
    public mutating func moveDown() -> Bool {
        let end = lineEnd(of: cursor)
        guard end < characters.count else { return false }
        return moveVertically(toLineStartingAt: end + 1, from: lineStart(of: cursor))
    }

    private mutating func moveVertically(toLineStartingAt target: Int, from start: Int) -> Bool {
        let goal = goalColumn ?? width(of: start..<cursor)
        var index = target
        var column = 0
        while index < characters.count, characters[index] != "\n" {
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
        var total = 0
        for character in characters[range] { total += DisplayForm.width(of: character, atColumn: total) }
        return total
    }

    // MARK: Indentation

    /// The white space that a line begins with, in columns.
    public func indentation(ofLineAt position: Int) -> Int {
        var index = lineStart(of: position)
        var column = 0
        while index < characters.count, characters[index] == " " || characters[index] == "\t" {
            column += DisplayForm.width(of: characters[index], atColumn: column)
            index += 1
        }
        return column
    }

    /// Whether only white space stands before the cursor on its line.
    public var isInIndentation: Bool {
        characters[lineStart(of: cursor)..<cursor].allSatisfy { $0 == " " || $0 == "\t" }
    }

    /// Makes the line of a position begin with as many spaces; the cursor stays with its text.
    public mutating func setIndentation(ofLineAt position: Int, to columns: Int) {
        let start = lineStart(of: position)
        var end = start
        while end < characters.count, characters[end] == " " || characters[end] == "\t" { end += 1 }
        let columns = max(0, columns)
        let kept = cursor
        replace(start..<end, with: String(repeating: " ", count: columns))
        if kept >= end {
            place(kept + columns - (end - start))
        } else {
            place(min(kept, start + columns))
        }
    }
}
