/// A fence's decision on a path, before any file is opened.
package enum FenceVerdict: Sendable, Hashable {
    /// Beneath a grant with this access.
    case granted
    /// Outside every grant; the user may be asked. The path is absolute.
    case notGranted(path: String)
    /// Beneath a read-only grant.
    case readOnly(path: String)
    /// One of the host's own files, which no grant opens.
    case closed(path: String)
}
