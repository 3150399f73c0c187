/// A file of the reference, or of an editor's settings.
public struct ReferencePage: Sendable, Equatable {
    /// The file's path relative to its folder.
    public let path: String
    /// The page's text.
    public let text: String
}
