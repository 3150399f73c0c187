/// Removes a folder and its contents.
package enum FolderRemover {
    /// Removes the file, link or folder at a path, and ignores failures. Links are not followed.
    package static func remove(_ path: String, using layer: any FileLayer) {
        try? visit(path, using: layer, stopsAtFailure: false)
    }

    /// The same, up to the first failure.
    ///
    /// - Throws: `FileError`. Entries before the failure are removed then.
    package static func removeAll(_ path: String, using layer: any FileLayer) throws(FileError) {
        try visit(path, using: layer, stopsAtFailure: true)
    }

    /// Uses a list instead of recursion, so that a deep tree needs no deep stack.
    private static func visit(
        _ path: String, using layer: any FileLayer, stopsAtFailure: Bool
    ) throws(FileError) {
        var pending = [(path: path, emptied: false)]
        while let entry = pending.popLast() {
            do throws(FileError) {
                if entry.emptied {
                    try layer.removeDirectory(entry.path)
                } else if try layer.status(entry.path)?.kind == .directory {
                    pending.append((entry.path, true))
                    for name in try layer.list(entry.path) { pending.append((PathText.join(entry.path, name), false)) }
                } else {
                    try layer.remove(entry.path)
                }
            } catch {
                if stopsAtFailure { throw error }
            }
        }
    }
}
