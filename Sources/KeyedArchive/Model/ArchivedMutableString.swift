/// A mutable string of an archive, with an identity.
public final class ArchivedMutableString {
    public var text: String

    public init(_ text: String) {
        self.text = text
    }
}
