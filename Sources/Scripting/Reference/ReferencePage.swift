/// A file of the reference, or of an editor's settings.
public struct ReferencePage: Sendable, Equatable {
    /// The file's path relative to its folder.
    public let path: String
    public let text: String
}
