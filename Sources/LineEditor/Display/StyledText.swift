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
public struct TextStyle: Hashable, Sendable, CustomStringConvertible {
    /// The styles in the order of their numbers.
    private enum Role: UInt8, CaseIterable {
        case plain, keyword, constant, number, string, escape, comment, function, field, variable, type, `operator`,
            punctuation, error, prompt, continuationPrompt, suggestion, matchingBracket, unmatchedBracket,
            searchPrompt, searchMatch, menuText, menuSelection, menuKind, menuDetail, notice, heading, emphasis,
            warning, success, dimmed
    }

    private let role: Role

    /// The style of a name, such as `menuSelection`: those of source code, of the editor and of a program's output.
    public init?(_ name: String) {
        guard let role = Role.allCases.first(where: { "\($0)" == name }) else { return nil }
        self.role = role
    }

    private init(_ role: Role) { self.role = role }

    init?(rawValue: UInt8) {
        guard let role = Role(rawValue: rawValue) else { return nil }
        self.role = role
    }

    var rawValue: UInt8 { role.rawValue }
    public var description: String { "\(role)" }
    package static var allCases: [TextStyle] { Role.allCases.map(TextStyle.init) }

    /// Text without a style.
    public static var plain: TextStyle { TextStyle(.plain) }
    // For source code.
    /// A keyword of the language.
    public static var keyword: TextStyle { TextStyle(.keyword) }
    /// A constant.
    public static var constant: TextStyle { TextStyle(.constant) }
    /// A number.
    public static var number: TextStyle { TextStyle(.number) }
    /// A quoted string.
    public static var string: TextStyle { TextStyle(.string) }
    /// An escape in a string.
    public static var escape: TextStyle { TextStyle(.escape) }
    /// A comment.
    public static var comment: TextStyle { TextStyle(.comment) }
    /// A function's name.
    public static var function: TextStyle { TextStyle(.function) }
    /// A field's name.
    public static var field: TextStyle { TextStyle(.field) }
    /// A variable's name.
    public static var variable: TextStyle { TextStyle(.variable) }
    /// A type's name.
    public static var type: TextStyle { TextStyle(.type) }
    /// An operator.
    public static var `operator`: TextStyle { TextStyle(.operator) }
    /// Brackets, commas.
    public static var punctuation: TextStyle { TextStyle(.punctuation) }
    /// An error.
    public static var error: TextStyle { TextStyle(.error) }
    // For the editor.
    /// The prompt.
    package static var prompt: TextStyle { TextStyle(.prompt) }
    /// The prompt of a continuation line.
    package static var continuationPrompt: TextStyle { TextStyle(.continuationPrompt) }
    /// The suggested text.
    package static var suggestion: TextStyle { TextStyle(.suggestion) }
    /// The counterpart of the bracket at the cursor.
    package static var matchingBracket: TextStyle { TextStyle(.matchingBracket) }
    /// A bracket without a counterpart.
    package static var unmatchedBracket: TextStyle { TextStyle(.unmatchedBracket) }
    /// The prompt of a search.
    package static var searchPrompt: TextStyle { TextStyle(.searchPrompt) }
    /// A match of a search.
    package static var searchMatch: TextStyle { TextStyle(.searchMatch) }
    /// A candidate in the menu.
    package static var menuText: TextStyle { TextStyle(.menuText) }
    /// The selected candidate.
    package static var menuSelection: TextStyle { TextStyle(.menuSelection) }
    /// A candidate's kind.
    package static var menuKind: TextStyle { TextStyle(.menuKind) }
    /// A candidate's detail.
    package static var menuDetail: TextStyle { TextStyle(.menuDetail) }
    /// A message of the editor.
    package static var notice: TextStyle { TextStyle(.notice) }
    // For a host's output.
    /// A heading.
    package static var heading: TextStyle { TextStyle(.heading) }
    /// An emphasised word.
    package static var emphasis: TextStyle { TextStyle(.emphasis) }
    /// A warning.
    package static var warning: TextStyle { TextStyle(.warning) }
    /// A success.
    package static var success: TextStyle { TextStyle(.success) }
    /// Less important text.
    package static var dimmed: TextStyle { TextStyle(.dimmed) }
}
