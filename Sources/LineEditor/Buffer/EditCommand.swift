/// The buffer's commands, by their names in Emacs and readline.
public enum EditCommand: String, Hashable, Sendable, CaseIterable {
    case moveLeft, moveRight, moveWordLeft, moveWordRight
    case moveToLineStart, moveToLineEnd, moveToStart, moveToEnd
    case deleteBackward, deleteForward
    case killWordForward, killWordBackward, killBlankBackward, killToLineEnd, killToLineStart, killAll
    case yank, yankPop
    case transposeCharacters, transposeWords
    case uppercaseWord, lowercaseWord, capitalizeWord
    case undo, redo
}
