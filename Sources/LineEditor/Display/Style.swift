/// The role of a piece of text. A ``Palette`` maps it to an appearance.
public enum Style: UInt8, Hashable, Sendable, CaseIterable {
    /// Text without a style.
    case plain
    // For source code.
    /// A word of the language.
    case keyword
    /// A constant.
    case constant
    /// A number.
    case number
    /// A text in quotes.
    case string
    /// An escape in a text.
    case escape
    /// A comment.
    case comment
    /// A function's name.
    case function
    /// A field's name.
    case field
    /// A variable's name.
    case variable
    /// A type's name.
    case type
    /// An operator.
    case `operator`
    /// Brackets, commas.
    case punctuation
    /// What is wrong.
    case error
    // For the editor.
    /// The prompt.
    case prompt
    /// The prompt of a further line.
    case continuationPrompt
    /// What a suggestion would add.
    case suggestion
    /// The bracket that belongs to the one at the cursor.
    case matchingBracket
    /// A bracket without its other one.
    case unmatchedBracket
    /// The prompt of a search.
    case searchPrompt
    /// What a search has found.
    case searchMatch
    /// A candidate in the menu.
    case menuText
    /// The chosen candidate.
    case menuSelection
    /// A candidate's kind.
    case menuKind
    /// What else the menu says of a candidate.
    case menuDetail
    /// A line that the editor writes by itself.
    case notice
    // For a host's output.
    /// A heading.
    case heading
    /// An emphasised word.
    case emphasis
    /// A warning.
    case warning
    /// What went well.
    case success
    /// What matters less.
    case dimmed
}
