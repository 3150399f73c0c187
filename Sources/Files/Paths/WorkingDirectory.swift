import Glibc

/// The process's working directory.
package enum WorkingDirectory {
    /// Its absolute path; nil when it is removed or unreadable.
    package static var path: String? {
        guard let text = getcwd(nil, 0) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}
