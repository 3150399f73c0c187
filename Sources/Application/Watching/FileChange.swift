/// A change of a file in a watched folder.
package struct FileChange: Sendable, Hashable {
    /// What has happened.
    package enum Kind: String, Sendable, CaseIterable {
        /// It is there, and was not.
        case created
        /// It was written again, or replaced.
        case changed
        case removed
        /// It has another name.
        case moved
        /// The kernel lost events: what they were about is found by a scan, and reported after this.
        case overflow
        /// Changes in this folder are not reported.
        case unwatched
    }

    package var kind: Kind
    package var path: String
    /// The former path of what was moved.
    package var from: String?
    package var isDirectory = false
    /// Whether no process was writing it any more.
    package var isClosed = true
    /// The reason why a folder is not watched, or changes are not reported.
    package var reason: String?

    package init(
        kind: Kind, path: String, from: String? = nil, isDirectory: Bool = false, isClosed: Bool = true,
        reason: String? = nil
    ) {
        (self.kind, self.path, self.from) = (kind, path, from)
        (self.isDirectory, self.isClosed, self.reason) = (isDirectory, isClosed, reason)
    }
}

/// Names that programs give to files for a short time.
enum WatchedNames {
    private static let suffixes = [
        "~", ".tmp", ".temp", ".part", ".partial", ".crdownload", ".swp", ".swo", ".swx",
    ]

    /// Whether a name is hidden, or that of a temporary file.
    static func isTemporary(_ name: String) -> Bool {
        name.hasPrefix(".") || suffixes.contains { name.hasSuffix($0) } || (name.hasPrefix("#") && name.hasSuffix("#"))
    }
}
