/// What the editor asks its host about the language that is typed. Each has a default that knows no language.
///
/// They are called on the thread that feeds the editor, between a key and its echo: a few milliseconds are theirs.
public struct EditorServices {
    /// Whether Enter runs the text or begins another line. Also asked for the text before the cursor, to indent.
    public var completeness: (_ text: String) -> Completeness = { _ in .complete }
    /// The styles of the text.
    public var highlight: (_ text: String) -> [Span] = { _ in [] }
    /// The candidates at a cursor, a count of UTF-8 bytes; nil or none if there is nothing to complete.
    public var complete: (_ text: String, _ cursor: Int) -> CompletionResult? = { _, _ in nil }
    /// The columns that a line should be indented by, given all the text before it; nil to leave it.
    ///
    /// Asked when a line gets a character that may end a block; indentation is only ever taken away.
    public var indentation: ((_ before: String, _ line: String) -> Int?)?
    /// What might follow the text, shown faintly behind it. By default the newest entry of the history that begins so.
    public var suggest: ((_ text: String) -> String?)?

    public init() {}
}
