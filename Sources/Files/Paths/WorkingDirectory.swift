import Glibc

/// The process's working directory.
public enum WorkingDirectory {
    /// Its absolute path; nil when it was removed or may not be read.
    public static var path: String? {
        guard let text = getcwd(nil, 0) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}
