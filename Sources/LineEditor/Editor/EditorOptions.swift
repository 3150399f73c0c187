/// How the editor behaves, apart from what it knows of a language.
public struct EditorOptions: Sendable {
    /// Which key does what.
    public var keys = KeyMap.emacs
    /// The columns that Tab indents by.
    public var indentWidth = 2
    /// The most lines of the completion menu.
    public var menuHeight = 8
    /// Whether the history's newest entry that begins like the text is shown behind it.
    public var showsSuggestions = true
    /// Whether `begin` makes sure that the prompt starts on a line of its own, whatever was printed before it.
    public var marksUnfinishedLine = true
    /// Prompts that are taken off a paste, besides the editor's own.
    public var pastedPrompts = ["> ", "lua> "]
    public var pastedContinuations = [">> ", "… ", "... "]

    public init() {}
}
