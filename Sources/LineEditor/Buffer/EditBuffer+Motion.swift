/// Lines, words and columns, and motions.
extension EditBuffer {
    /// The start of a position's line. Complexity: linear in the line.
    package func lineStart(of position: Int) -> Int {
        var index = clamp(position)
        while index > 0, !characters[index - 1].is("\n") { index -= 1 }
        return index
    }

    /// The position of the line break at the end of a position's line, or the end of the text.
    package func lineEnd(of position: Int) -> Int {
        var index = clamp(position)
        while index < characters.count, !characters[index].is("\n") { index += 1 }
        return index
    }

    /// Whether the cursor is on the last line.
    package var isOnLastLine: Bool { lineEnd(of: cursor) == characters.count }

    /// The text of the line that a position is in, without its line break.
    package func line(at position: Int) -> String {
        String(characters[lineStart(of: position)..<lineEnd(of: position)])
    }

    /// The end of the word after a position. A word is letters, digits and underscores.
    package func wordEnd(after position: Int) -> Int {
        var index = clamp(position)
        while index < characters.count, !Self.isWord(characters[index]) { index += 1 }
        while index < characters.count, Self.isWord(characters[index]) { index += 1 }
        return index
    }

    /// The beginning of the word before a position.
    package func wordStart(before position: Int) -> Int {
        var index = clamp(position)
        while index > 0, !Self.isWord(characters[index - 1]) { index -= 1 }
        while index > 0, Self.isWord(characters[index - 1]) { index -= 1 }
        return index
    }

    /// The start of the run without white space before a position.
    package func blankStart(before position: Int) -> Int {
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
        var total = 0
        for character in characters[range] { total += DisplayForm.width(of: character, atColumn: total) }
        return total
    }

    // MARK: Indentation

    /// A line's leading white space, in columns.
    package func indentation(ofLineAt position: Int) -> Int {
        var index = lineStart(of: position)
        var column = 0
        while index < characters.count, characters[index].is(" ") || characters[index].is("\t") {
            column += DisplayForm.width(of: characters[index], atColumn: column)
            index += 1
        }
        return column
    }

    /// Whether only white space precedes the cursor on its line.
    package var isInIndentation: Bool {
        characters[lineStart(of: cursor)..<cursor].allSatisfy { $0.is(" ") || $0.is("\t") }
    }

    /// Sets a line's leading white space to some spaces; the cursor stays with its text.
    package mutating func setIndentation(ofLineAt position: Int, to columns: Int) {
        let start = lineStart(of: position)
        var end = start
        while end < characters.count, characters[end].is(" ") || characters[end].is("\t") { end += 1 }
        let columns = max(0, columns)
        let saved = cursor
        replace(start..<end, with: String(repeating: " ", count: columns))
        if saved >= end {
            place(saved + columns - (end - start))
        } else {
            place(min(saved, start + columns))
        }
    }
}
