/// What a fence says of a path, before anything is opened.
public enum FenceVerdict: Sendable, Hashable {
    /// Beneath a grant that allows it.
    case granted
    /// Outside of every grant; somebody may be asked. The path is absolute.
    case notGranted(path: String)
    /// Beneath a grant for reading only.
    case readOnly(path: String)
    /// One of the host's own files, which no grant opens.
    case closed(path: String)
}
