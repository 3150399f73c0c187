/// The role of a piece of text. A ``Palette`` maps it to an appearance.
public enum Style: UInt8, Hashable, Sendable, CaseIterable {
    /// Text without a style.
    case plain
    // For source code.
    /// A keyword of the language.
    case keyword
    /// A constant.
    case constant
    /// A number.
    case number
    /// A quoted string.
    case string
    /// An escape in a string.
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
    /// An error.
    case error
    // For the editor.
    /// The prompt.
    case prompt
    /// The prompt of a continuation line.
    case continuationPrompt
    /// The suggested text.
    case suggestion
    /// The counterpart of the bracket at the cursor.
    case matchingBracket
    /// A bracket without a counterpart.
    case unmatchedBracket
    /// The prompt of a search.
    case searchPrompt
    /// A match of a search.
    case searchMatch
    /// A candidate in the menu.
    case menuText
    /// The selected candidate.
    case menuSelection
    /// A candidate's kind.
    case menuKind
    /// A candidate's detail.
    case menuDetail
    /// A message of the editor.
    case notice
    // For a host's output.
    /// A heading.
    case heading
    /// An emphasised word.
    case emphasis
    /// A warning.
    case warning
    /// A success.
    case success
    /// Less important text.
    case dimmed
}
