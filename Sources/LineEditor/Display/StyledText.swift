/// A text of styled pieces: a prompt, a line of a menu.
public struct StyledText: Hashable, Sendable, ExpressibleByStringLiteral {
    /// A piece of one style.
    public struct Piece: Hashable, Sendable {
        /// The text.
        public var text: String
        /// Its style.
        public var style: Style

        /// Creates a piece.
        public init(_ text: String, _ style: Style) {
            self.text = text
            self.style = style
        }
    }

    /// The pieces, in order.
    public var pieces: [Piece]

    /// Creates a text of pieces.
    public init(_ pieces: [Piece] = []) { self.pieces = pieces }

    /// Creates a text of one style.
    public init(_ text: String, _ style: Style = .plain) { pieces = text.isEmpty ? [] : [Piece(text, style)] }

    public init(stringLiteral value: String) { self.init(value) }

    /// The text without its styles.
    public var text: String { pieces.map(\.text).joined() }

    /// Adds a piece at the end.
    public mutating func append(_ text: String, _ style: Style = .plain) {
        if !text.isEmpty { pieces.append(Piece(text, style)) }
    }
}
