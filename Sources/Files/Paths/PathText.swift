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
        var kept: [Substring.UTF8View] = []
        for part in (path.hasPrefix("/") ? path : join(base, path)).utf8.split(separator: UInt8(ascii: "/")) {
            if part.elementsEqual(".".utf8) { continue }
            if part.elementsEqual("..".utf8) { _ = kept.popLast() } else { kept.append(part) }
        }
        if kept.isEmpty { return "/" }
        return kept.reduce(into: "") { text, part in
            text.append("/")
            text.append(contentsOf: Substring(part))
        }
    }

    private static func trimmingSlashes(_ path: String) -> String {
        var text = Substring(path)
        while text.hasSuffix("/") { text.removeLast() }
        return String(text)
    }
}
