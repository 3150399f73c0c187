/// Paths of a process's own open descriptors.
package enum OwnStream {
    /// The descriptor of a path; nil for any other path.
    ///
    /// - Parameter path: an absolute path, unresolved: these names are links whose targets cannot be opened.
    /// - Returns: a descriptor.
    package static func descriptor(of path: String) -> Int32? {
        switch path {
        case "/dev/stdin": return 0
        case "/dev/stdout": return 1
        case "/dev/stderr": return 2
        default:
            for folder in ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"] where path.hasPrefix(folder) {
                return Int32(path.dropFirst(folder.count)).flatMap { $0 >= 0 ? $0 : nil }
            }
            return nil
        }
    }
}
