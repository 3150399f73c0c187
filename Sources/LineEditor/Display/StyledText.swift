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

/// The SGR parameters (`ESC [ … m`) of each style.
public struct TerminalPalette: Sendable, Equatable {
    private var codes: [String]

    /// No colours and no attributes.
    public static let none = TerminalPalette([:])

    /// The sixteen colours of the terminal's theme, readable on dark and light backgrounds.
    public static let standard = TerminalPalette([
        .keyword: "35", .constant: "36", .number: "36", .string: "32", .escape: "92", .comment: "3;90",
        .function: "34", .field: "", .variable: "", .type: "33", .operator: "", .punctuation: "",
        .error: "31", .prompt: "1;34", .continuationPrompt: "90", .suggestion: "90",
        .matchingBracket: "1;4", .unmatchedBracket: "1;31", .searchPrompt: "1;33", .searchMatch: "7",
        .menuText: "", .menuSelection: "7", .menuKind: "36", .menuDetail: "90", .notice: "90",
        .heading: "1", .emphasis: "1", .warning: "33", .success: "32", .dimmed: "90",
    ])

    /// Bold, underline and reverse for terminals without colours.
    package static let monochrome = TerminalPalette([
        .matchingBracket: "1", .unmatchedBracket: "4", .searchMatch: "7", .menuSelection: "7", .prompt: "1",
        .suggestion: "2", .heading: "1", .emphasis: "1", .error: "1", .warning: "1",
    ])

    /// A palette of SGR parameters by style (`"1;31"`); missing styles are plain.
    public init(_ codes: [TextStyle: String]) {
        self.codes = TextStyle.allCases.map { codes[$0] ?? "" }
    }

    /// The palette for an environment: ``none`` if the flag, `NO_COLOR` (not empty) or `TERM=dumb` forbids colours.
    ///
    /// - Parameters:
    ///   - isTerminal: whether the output is a terminal; otherwise there are no colours.
    ///   - isForbidden: the user's `--no-color`.
    ///   - environment: the value of a variable, nil if it isn't set.
    /// - Returns: the palette.
    package static func appropriate(
        isTerminal: Bool, isForbidden: Bool = false, environment: (String) -> String?
    ) -> TerminalPalette {
        let term = environment("TERM") ?? ""
        guard isTerminal, !isForbidden, term != "dumb", !term.isEmpty else { return .none }
        // https://no-color.org: set and not empty, whatever its value.
        if let noColor = environment("NO_COLOR"), !noColor.isEmpty { return .none }
        return term.hasPrefix("vt") ? .monochrome : .standard
    }

    /// Whether any style looks other than plain.
    package var isEmpty: Bool { codes.allSatisfy(\.isEmpty) }

    /// The SGR parameters of a style, empty for plain.
    package subscript(style: TextStyle) -> String {
        get { codes[Int(style.rawValue)] }
        set { codes[Int(style.rawValue)] = newValue }
    }

    /// A text in a style, ended by a reset; the text alone if the style looks plain.
    package func apply(_ style: TextStyle, to text: String) -> String {
        let code = self[style]
        return code.isEmpty ? text : "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }

    /// The pieces of a text, each in its style.
    package func apply(to text: StyledText) -> String {
        text.pieces.map { apply($0.style, to: $0.text) }.joined()
    }
}

/// Palettes for a known background. Their colours are fixed ones of xterm's 256, so that their contrast is known: at
/// least 4.5 : 1, WCAG 2's minimum for text, on black and usual dark backgrounds, or on white and usual light ones.
extension TerminalPalette {
    package static let dark = TerminalPalette([
        .keyword: "38;5;176", .constant: "38;5;80", .number: "38;5;80", .string: "38;5;114", .escape: "38;5;156",
        .comment: "3;38;5;246", .function: "38;5;75", .type: "38;5;179", .error: "38;5;210", .prompt: "1;38;5;75",
        .continuationPrompt: "38;5;246", .suggestion: "38;5;246", .matchingBracket: "1;4",
        .unmatchedBracket: "1;38;5;210", .searchPrompt: "1;38;5;221", .searchMatch: "7", .menuSelection: "7",
        .menuKind: "38;5;80", .menuDetail: "38;5;246", .notice: "38;5;246", .heading: "1", .emphasis: "1",
        .warning: "38;5;221", .success: "38;5;114", .dimmed: "38;5;246",
    ])

    package static let light = TerminalPalette([
        .keyword: "38;5;90", .constant: "38;5;24", .number: "38;5;24", .string: "38;5;22", .escape: "38;5;23",
        .comment: "3;38;5;241", .function: "38;5;25", .type: "38;5;94", .error: "38;5;124", .prompt: "1;38;5;25",
        .continuationPrompt: "38;5;241", .suggestion: "38;5;241", .matchingBracket: "1;4",
        .unmatchedBracket: "1;38;5;124", .searchPrompt: "1;38;5;94", .searchMatch: "7", .menuSelection: "7",
        .menuKind: "38;5;24", .menuDetail: "38;5;241", .notice: "38;5;241", .heading: "1", .emphasis: "1",
        .warning: "38;5;94", .success: "38;5;22", .dimmed: "38;5;241",
    ])

    /// The palette for a background and a terminal with 256 colours. One with fewer keeps the colours of its theme.
    ///
    /// - Parameters:
    ///   - background: the terminal's; nil if it is not known.
    ///   - environment: reads a variable.
    /// - Returns: the palette.
    package static func colored(for background: TerminalBackground?, environment: (String) -> String?)
        -> TerminalPalette
    {
        guard has256Colors(environment) else { return .standard }
        return switch background {
        case .dark: .dark
        case .light: .light
        case nil: .standard
        }
    }

    private static func has256Colors(_ environment: (String) -> String?) -> Bool {
        if environment("COLORTERM").map({ !$0.isEmpty }) ?? false { return true }
        let term = environment("TERM") ?? ""
        return term.contains("256color") || term.contains("direct") || TerminalCapabilities.isModern(term)
    }
}
