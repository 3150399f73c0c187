/// A text of styled pieces: a prompt, a line of a menu.
public struct StyledText: Hashable, Sendable, ExpressibleByStringLiteral {
    /// A piece of one style.
    package struct Piece: Hashable, Sendable {
        /// The text.
        package var text: String
        /// Its style.
        package var style: TextStyle

        /// Creates a piece.
        package init(_ text: String, _ style: TextStyle) {
            self.text = text
            self.style = style
        }
    }

    /// The pieces, in order.
    package var pieces: [Piece]

    /// Creates a text of pieces.
    package init(_ pieces: [Piece] = []) { self.pieces = pieces }

    /// Creates a text of one style.
    public init(_ text: String, _ style: TextStyle = .plain) { pieces = text.isEmpty ? [] : [Piece(text, style)] }

    public init(stringLiteral value: String) { self.init(value) }

    /// The text without its styles.
    package var text: String { pieces.map(\.text).joined() }

    /// Adds a piece at the end.
    package mutating func append(_ text: String, _ style: TextStyle = .plain) {
        if !text.isEmpty { pieces.append(Piece(text, style)) }
    }
}

/// A styled range of a text.
public struct StyledSpan: Hashable, Sendable {
    /// The range in UTF-8 bytes from the start of the text; ranges out of bounds or inside a character are ignored.
    package var range: Range<Int>
    /// The style.
    package var style: TextStyle

    /// Creates a span of a style.
    public init(_ range: Range<Int>, _ style: TextStyle) {
        self.range = range
        self.style = style
    }
}

/// The role of a piece of text. A ``TerminalPalette`` maps it to an appearance.
public enum TextStyle: UInt8, Hashable, Sendable, CaseIterable {
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
