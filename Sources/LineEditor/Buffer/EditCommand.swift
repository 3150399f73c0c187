/// The buffer's commands, by their names in Emacs and readline.
package enum EditCommand: String, Hashable, Sendable, CaseIterable {
    /// To the previous character.
    case moveLeft
    /// To the next character.
    case moveRight
    /// To the beginning of a word.
    case moveWordLeft
    /// To the end of a word.
    case moveWordRight
    /// To the beginning of the line.
    case moveToLineStart
    /// To the end of the line.
    case moveToLineEnd
    /// To the beginning of the text.
    case moveToStart
    /// To the end of the text.
    case moveToEnd
    /// Deletes the character before the cursor.
    case deleteBackward
    /// Deletes the character at the cursor.
    case deleteForward
    /// Cuts to the end of a word.
    case killWordForward
    /// Cuts to the beginning of a word.
    case killWordBackward
    /// Cuts to the preceding blank.
    case killBlankBackward
    /// Cuts to the end of the line.
    case killToLineEnd
    /// Cuts to the beginning of the line.
    case killToLineStart
    /// Cuts the text.
    case killAll
    /// Inserts the last cut text.
    case yank
    /// Replaces the inserted text by the one cut before it.
    case yankPop
    /// Swaps two characters.
    case transposeCharacters
    /// Swaps two words.
    case transposeWords
    /// Makes a word upper case.
    case uppercaseWord
    /// Makes a word lower case.
    case lowercaseWord
    /// Makes a word's first letter upper case.
    case capitalizeWord
    /// Undoes a change.
    case undo
    /// Redoes a change.
    case redo
}

/// The editing commands.
extension EditBuffer {
    /// Performs a command. False if it changed nothing: no text to delete, no place to move to.
    @discardableResult
    package mutating func perform(_ command: EditCommand) -> Bool {
        switch command {
        case .moveLeft: return move(to: cursor - 1)
        case .moveRight: return move(to: cursor + 1)
        case .moveWordLeft: return move(to: wordStart(before: cursor))
        case .moveWordRight: return move(to: wordEnd(after: cursor))
        case .moveToLineStart: return move(to: lineStart(of: cursor))
        case .moveToLineEnd: return move(to: lineEnd(of: cursor))
        case .moveToStart: return move(to: 0)
        case .moveToEnd: return move(to: characters.count)
        case .deleteBackward: return delete(cursor - 1..<cursor)
        case .deleteForward: return delete(cursor..<cursor + 1)
        case .killWordForward: return kill(cursor..<wordEnd(after: cursor), .forward)
        case .killWordBackward: return kill(wordStart(before: cursor)..<cursor, .backward)
        case .killBlankBackward: return kill(blankStart(before: cursor)..<cursor, .backward)
        case .killToLineEnd:
            let end = lineEnd(of: cursor)
            return kill(cursor..<(end == cursor ? min(end + 1, characters.count) : end), .forward)
        case .killToLineStart: return kill(lineStart(of: cursor)..<cursor, .backward)
        case .killAll: return kill(0..<characters.count, .forward)
        case .yank: return yank()
        case .yankPop: return yankPop()
        case .transposeCharacters: return transposeCharacters()
        case .transposeWords: return transposeWords()
        case .uppercaseWord: return changeWord { $0.uppercased() }
        case .lowercaseWord: return changeWord { $0.lowercased() }
        case .capitalizeWord: return changeWord { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }
        case .undo: return undo()
        case .redo: return redo()
        }
    }

    /// Inserts a text of any length as one undo step.
    package mutating func paste(_ text: String) { replaceAlone(cursor..<cursor, with: text) }

    private mutating func move(to position: Int) -> Bool {
        let before = cursor
        moveCursor(to: position)
        return cursor != before
    }

    private mutating func delete(_ range: Range<Int>) -> Bool {
        guard range.lowerBound >= 0, range.upperBound <= characters.count else { return false }
        replace(range, with: "")
        return true
    }

    private mutating func kill(_ range: Range<Int>, _ direction: KillRing.Direction) -> Bool {
        guard !range.isEmpty else { return false }
        killRing.add(String(characters[range]), joining: isKilling ? direction : nil)
        replaceAlone(range, with: "")
        isKilling = true
        return true
    }

    private mutating func yank() -> Bool {
        guard let text = killRing.top else { return false }
        yanked = replaceAlone(cursor..<cursor, with: text)
        return true
    }

    private mutating func yankPop() -> Bool {
        guard let range = yanked, let text = killRing.rotate() else { return false }
        yanked = replaceAlone(range, with: text)
        return true
    }

    /// Swaps the characters around the cursor; at the end of a line the two before it.
    private mutating func transposeCharacters() -> Bool {
        let start = lineStart(of: cursor)
        let end = lineEnd(of: cursor)
        guard end - start >= 2, cursor > start else { return false }
        let right = cursor == end ? cursor - 1 : cursor
        let pair = String([characters[right], characters[right - 1]])
        replaceAlone(right - 1..<right + 1, with: pair)
        return true
    }

    private mutating func transposeWords() -> Bool {
        let secondEnd = wordEnd(after: cursor)
        let secondStart = wordStart(before: secondEnd)
        let firstStart = wordStart(before: secondStart)
        let firstEnd = wordEnd(after: firstStart)
        guard firstEnd <= secondStart, firstStart < firstEnd, secondStart < secondEnd else { return false }
        let first = String(characters[firstStart..<firstEnd])
        let between = String(characters[firstEnd..<secondStart])
        let second = String(characters[secondStart..<secondEnd])
        replaceAlone(firstStart..<secondEnd, with: second + between + first)
        return true
    }

    private mutating func changeWord(_ change: (String) -> String) -> Bool {
        let start = end(of: cursor) { !Self.isWord($0) }
        let end = wordEnd(after: cursor)
        guard start < end else { return false }
        replaceAlone(start..<end, with: change(String(characters[start..<end])))
        return true
    }
}
