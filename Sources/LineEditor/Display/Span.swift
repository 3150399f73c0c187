/// A styled range of a text.
public struct Span: Hashable, Sendable {
    /// The range in UTF-8 bytes from the start of the text; ranges out of bounds or inside a character are ignored.
    public var range: Range<Int>
    public var style: Style

    public init(_ range: Range<Int>, _ style: Style) {
        self.range = range
        self.style = style
    }
}
