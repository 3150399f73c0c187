/// A mutable string of an archive, with an identity.
public final class ArchivedMutableString {
    /// The text.
    public var text: String

    /// Creates an object with a text.
    public init(_ text: String) {
        self.text = text
    }
}
