/// The buffer's commands, by their names in Emacs and readline.
public enum EditCommand: String, Hashable, Sendable, CaseIterable {
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
