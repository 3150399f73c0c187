/// A range of a text that has a style.
public struct Span: Hashable, Sendable {
    /// The range in UTF-8 bytes from the beginning of the text; what is out of range or inside a character is ignored.
    public var range: Range<Int>
    public var style: Style

    public init(_ range: Range<Int>, _ style: Style) {
        self.range = range
        self.style = style
    }
}
