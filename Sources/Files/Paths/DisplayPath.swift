import Glibc

/// Paths for display.
package enum DisplayPath {
    /// Replaces the home folder at the start of a path by `~`.
    ///
    /// - Parameters:
    ///   - path: any path; one outside the home folder is unchanged.
    ///   - home: the home folder; the user's by default.
    /// - Returns: the path, for display only.
    package static func abbreviate(_ path: String, home: String? = HomeFolder.path) -> String {
        guard var home, home.hasPrefix("/") else { return path }
        while home.count > 1, home.hasSuffix("/") { home.removeLast() }
        guard home != "/" else { return path }
        if path == home { return "~" }
        return path.hasPrefix(home + "/") ? "~" + String(path.dropFirst(home.count)) : path
    }
}
