/// A mutable string of an archive: text that several owners can share and change.
public final class ArchivedMutableString {
    public var text: String

    public init(_ text: String) {
        self.text = text
    }
}
