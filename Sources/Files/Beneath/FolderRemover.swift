/// Removes a folder and its contents.
package enum FolderRemover {
    /// Removes the file, link or folder at a path, and ignores failures. Links are not followed.
    ///
    /// It uses a list instead of recursion, so that a deep tree needs no deep stack.
    package static func remove(_ path: String, using layer: any FileLayer) {
        var pending = [(path: path, emptied: false)]
        while let entry = pending.popLast() {
            if entry.emptied {
                try? layer.removeDirectory(entry.path)
                continue
            }
            if (try? layer.status(entry.path))?.kind == .directory {
                pending.append((entry.path, true))
                for name in (try? layer.list(entry.path)) ?? [] {
                    pending.append((PathText.join(entry.path, name), false))
                }
            } else {
                try? layer.remove(entry.path)
            }
        }
    }
}
