import Glibc

/// Paths without symbolic links.
package enum RealPath {
    /// Resolves the links of an existing path.
    ///
    /// - Parameter path: absolute, or relative to the working directory.
    /// - Returns: the absolute path.
    /// - Throws: `FileError` when nothing is there.
    package static func of(_ path: String) throws(FileError) -> String {
        guard let resolved = realpath(path, nil) else { throw FileError(.open, path, code: errno) }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Resolves the links of the part of a path that exists; the rest is appended as it is.
    ///
    /// - Parameter path: absolute, without "." and "..".
    /// - Returns: the absolute path.
    package static func ofExistingPart(of path: String) -> String {
        if let whole = try? of(path) { return whole }
        let parent = PathText.parent(of: path)
        return parent == path ? path : PathText.join(ofExistingPart(of: parent), PathText.name(of: path))
    }
}
