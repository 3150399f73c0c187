/// The commands that keys can be bound to.
public enum EditorCommand: Hashable, Sendable {
    /// A command of the buffer.
    case edit(EditCommand)
    /// Runs the text if it is complete and the cursor is not at the end of an inner line; else begins a new line.
    case enter
    /// Begins a new line.
    case newLine
    /// Runs the text, complete or not.
    case submit
    /// Moves up; from the first line, recalls the older history entry with the text before the cursor as its prefix.
    case up
    /// To the next line, or the next entry.
    case down
    /// The previous entry of the history.
    case olderEntry
    /// The next entry of the history.
    case newerEntry
    /// Searches the history backwards.
    case searchOlder
    /// Searches the history forwards.
    case searchNewer
    /// Completes; in a line's leading white space, indents.
    case complete
    /// The previous candidate.
    case completeBackward
    /// Accepts the whole suggestion.
    case acceptSuggestion
    /// Ctrl-C: abandons the text.
    case interrupt
    /// Ctrl-Z: stops the host's process.
    case suspend
    /// Deletes forward; on an empty line ends the input.
    case deleteOrEnd
    /// Clears the screen and redraws the text.
    case clearScreen
    /// Closes the menu or the search.
    case cancel
}
