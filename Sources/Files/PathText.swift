import Glibc

/// Operations on the text of paths, without file system access.
package enum PathText {
    /// The folder of a path's last component; "." for a bare name, "/" for the root.
    ///
    /// - Parameter path: any path; slashes at its end do not count.
    /// - Returns: the text before the last component.
    package static func parent(of path: String) -> String {
        let trimmed = trimmingSlashes(path)
        guard let slash = trimmed.lastIndex(of: "/") else { return trimmed.isEmpty && path.hasPrefix("/") ? "/" : "." }
        let head = trimmingSlashes(String(trimmed[..<slash]))
        return head.isEmpty ? "/" : head
    }

    /// The last component of a path; empty for the root.
    ///
    /// - Parameter path: any path; slashes at its end do not count.
    /// - Returns: the text after the last slash.
    package static func name(of path: String) -> String {
        let trimmed = trimmingSlashes(path)
        guard let slash = trimmed.lastIndex(of: "/") else { return trimmed }
        return String(trimmed[trimmed.index(after: slash)...])
    }

    /// Joins a folder and a name with one slash.
    ///
    /// - Parameters:
    ///   - folder: the folder; empty for none.
    ///   - name: a name or a relative path.
    /// - Returns: the joined path.
    package static func join(_ folder: String, _ name: String) -> String {
        if folder.isEmpty { return name }
        return folder.hasSuffix("/") ? folder + name : folder + "/" + name
    }

    /// Makes a path absolute and resolves ".", ".." and double slashes in its text. Symbolic links are not resolved.
    ///
    /// - Parameters:
    ///   - path: any path.
    ///   - base: an absolute folder, for a relative path.
    /// - Returns: an absolute path without a slash at its end.
    package static func absolute(_ path: String, from base: String) -> String {
        var resolved: [Substring.UTF8View] = []
        for part in (path.hasPrefix("/") ? path : join(base, path)).utf8.split(separator: UInt8(ascii: "/")) {
            if part.elementsEqual(".".utf8) { continue }
            if part.elementsEqual("..".utf8) { _ = resolved.popLast() } else { resolved.append(part) }
        }
        if resolved.isEmpty { return "/" }
        return resolved.reduce(into: "") { text, part in
            text.append("/")
            text.append(contentsOf: Substring(part))
        }
    }

    /// Whether no system would take a path, whatever it leads to. To find that out later costs a time that grows with it.
    ///
    /// - Parameter path: any path; `.` and `..` in it may make it longer than the system's own limit of 4,096 bytes.
    /// - Returns: whether it has more than 64 KB.
    package static func isTooLong(_ path: String) -> Bool { path.utf8.count > 1 << 16 }

    /// As much of a path as a message shows.
    package static func beginning(of path: String) -> String {
        String(decoding: path.utf8.prefix(80), as: UTF8.self) + "…"
    }

    private static func trimmingSlashes(_ path: String) -> String {
        var text = Substring(path)
        while text.hasSuffix("/") { text.removeLast() }
        return String(text)
    }
}

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

/// The user's home folder.
package enum HomeFolder {
    /// `$HOME` if it is set and absolute, else the entry of the user database; nil if neither exists.
    package static var path: String? {
        if let home = ProcessSurroundings.current.value("HOME"), home.hasPrefix("/") { return home }
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
            guard let base = buffer.baseAddress,
                getpwuid_r(getuid(), &entry, base, buffer.count, &found) == 0,
                found != nil, let home = entry.pw_dir
            else { return nil }
            return String(cString: home)
        }
    }
}

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

/// The process's working directory.
package enum WorkingDirectory {
    /// Its absolute path; nil when it is removed or unreadable.
    package static var path: String? {
        guard let text = getcwd(nil, 0) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }

    /// Makes a path absolute, as ``PathText/absolute(_:from:)``.
    ///
    /// - Parameter path: any path.
    /// - Returns: an absolute path.
    /// - Throws: `FileError` for a relative path that leads nowhere, since the working directory is removed or unreadable.
    package static func absolute(_ path: String) throws(FileError) -> String {
        guard let base = path.hasPrefix("/") ? "/" : Self.path else {
            throw FileError(
                .open, path, code: errno, reason: errno == ENOENT ? "the working folder is gone: cd to another" : nil)
        }
        return PathText.absolute(path, from: base)
    }
}
