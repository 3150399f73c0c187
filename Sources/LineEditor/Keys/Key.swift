/// One terminal event: a key, a paste, a change of focus or a report.
public enum Key: Hashable, Sendable {
    /// A pressed or repeated key with its modifiers.
    case press(KeyCode, KeyModifiers)
    /// The raw text of a bracketed paste, with line breaks of any kind.
    case paste(String)
    /// The terminal's window gained (`true`) or lost the focus.
    case focus(Bool)
    /// The answer to a query.
    case report(TerminalReport)

    /// A key without modifiers.
    public static func press(_ code: KeyCode) -> Key { .press(code, []) }

    /// A character with Control, named by its lower-case letter.
    public static func control(_ character: Character) -> Key { .press(.character(character), .control) }

    /// A character with Alt.
    public static func alt(_ character: Character) -> Key { .press(.character(character), .alt) }
}
