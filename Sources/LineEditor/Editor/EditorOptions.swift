/// The editor's options that do not depend on a language.
public struct EditorOptions: Sendable {
    /// The key bindings.
    public var keys = KeyMap.emacs
    /// Tab's indentation in columns.
    public var indentWidth = 2
    /// Maximum number of lines of the completion menu.
    public var menuHeight = 8
    /// Whether the newest history entry with the text as its prefix is suggested behind it.
    public var showsSuggestions = true
    /// Whether `begin` moves the prompt to a line of its own when the output before it ends without a line break.
    public var marksUnfinishedLine = true
    /// Prompts that are removed from a paste, besides the editor's own.
    public var pastedPrompts = ["> ", "lua> "]
    /// Prompts that are removed from pasted lines.
    public var pastedContinuations = [">> ", "… ", "... "]

    /// Creates the usual options.
    public init() {}
}
