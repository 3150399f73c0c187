/// A styled range of a text.
public struct Span: Hashable, Sendable {
    /// The range in UTF-8 bytes from the start of the text; ranges out of bounds or inside a character are ignored.
    public var range: Range<Int>
    /// The style.
    public var style: Style

    /// Creates a span of a style.
    public init(_ range: Range<Int>, _ style: Style) {
        self.range = range
        self.style = style
    }
}
