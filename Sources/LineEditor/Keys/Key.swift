/// One thing that the terminal said: a key, a paste, a change of focus or a report.
public enum Key: Hashable, Sendable {
    /// A key that was pressed (or repeated), with the modifiers held.
    case press(KeyCode, KeyModifiers)
    /// The text of a bracketed paste, as the terminal sent it, with line breaks of any kind.
    case paste(String)
    /// The terminal's window got the keyboard (`true`) or lost it.
    case focus(Bool)
    /// An answer to a question that was put to the terminal.
    case report(TerminalReport)

    /// A key without modifiers.
    public static func press(_ code: KeyCode) -> Key { .press(code, []) }

    /// A character typed with Control held, named by its lower-case letter.
    public static func control(_ character: Character) -> Key { .press(.character(character), .control) }

    /// A character typed with Alt held.
    public static func alt(_ character: Character) -> Key { .press(.character(character), .alt) }
}
