import CPlatform

/// The names by which a process reaches what it has open itself.
package enum OwnStream {
    /// The descriptor that a path names; nil for any other path.
    ///
    /// - Parameter path: absolute, as it was given: the names are links, which lead to nothing that could be opened anew.
    /// - Returns: 0 or more.
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

    /// Writes out what the C library holds back, so that what goes past it comes after it.
    static func flush() { cubby_flush_output() }
}
