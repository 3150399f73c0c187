/// What a key can be bound to.
public enum EditorCommand: Hashable, Sendable {
    /// A command of the buffer's.
    case edit(EditCommand)
    /// Runs the text if it's complete and the cursor isn't at the end of an inner line; else begins a new line.
    case enter
    /// Begins a new line.
    case newLine
    /// Runs the text, complete or not.
    case submit
    /// Moves up, from the first line to the older entry of the history that begins like the text before the cursor.
    case up
    case down
    case olderEntry, newerEntry
    case searchOlder, searchNewer
    /// Completes; in a line's indentation, indents.
    case complete
    case completeBackward
    /// Takes the suggestion whole.
    case acceptSuggestion
    case interrupt, suspend
    /// Deletes forward; on an empty line ends the input.
    case deleteOrEnd
    case clearScreen
    /// Leaves the menu or the search.
    case cancel
}
