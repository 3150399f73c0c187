/// A file of the reference, or of an editor's settings.
public struct ReferencePage: Sendable, Equatable {
    /// The file's path, from the folder in which it belongs.
    public let path: String
    public let text: String
}
