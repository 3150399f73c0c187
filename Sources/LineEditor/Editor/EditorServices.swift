/// The host's services for the edited language. The defaults assume no language.
///
/// They are called on the thread that feeds the editor, between a key and its echo, and should take a few milliseconds
/// at most.
public struct EditorServices {
    /// Whether Enter runs the text or begins another line. Also called with the text before the cursor, to indent.
    public var completeness: (_ text: String) -> Completeness = { _ in .complete }
    /// The styles of the text.
    public var highlight: (_ text: String) -> [Span] = { _ in [] }
    /// The candidates at a cursor, an offset in UTF-8 bytes; nil or empty without any.
    public var complete: (_ text: String, _ cursor: Int) -> CompletionResult? = { _, _ in nil }
    /// Requests candidates at a cursor where ``complete`` has none; ``LineEditor/offer(_:)`` may deliver them later.
    package var requestCandidates: ((_ text: String, _ cursor: Int) -> Void)?
    /// The indentation of a line in columns, given all the text before it; nil to leave it.
    ///
    /// Called after a character that may end a block; indentation is only ever reduced.
    public var indentation: ((_ before: String, _ line: String) -> Int?)?
    /// The suggestion behind the text. By default the newest history entry with the text as its prefix.
    public var suggest: ((_ text: String) -> String?)?

    /// The text at the right margin of a submitted entry's first line, if there is room: its number.
    package var margin: (_ text: String) -> StyledText = { _ in "" }

    /// Creates services that do nothing.
    public init() {}
}
