/// Copies a folder and its contents.
///
/// The copy has a temporary name beside its target until it is complete, so that an interrupted copy leaves no folder
/// that looks complete.
package enum FolderCopier {
    /// Copies a folder.
    ///
    /// Files and folders keep their permissions; a link becomes a copy of its target file.
    ///
    /// - Parameters:
    ///   - source: the folder.
    ///   - target: the new folder's path, which must not exist.
    ///   - layer: the file system.
    /// - Throws: `FileError`, also for a link to a folder, a device, a pipe or a socket. There is no target then.
    package static func copy(_ source: String, to target: String, using layer: any FileLayer) throws(FileError) {
        guard try layer.status(target) == nil else {
            throw FileError(
                .copy, target, code: FileLayerCode.exists,
                reason: "there is something already, and a folder is copied to a new path")
        }
        let staging = PathText.join(PathText.parent(of: target), layer.temporaryName())
        do throws(FileError) {
            try copyContents(source, to: staging, using: layer)
            try layer.rename(staging, to: target)
            try layer.syncDirectory(PathText.parent(of: target))
        } catch {
            FolderRemover.remove(staging, using: layer)
            throw error
        }
    }

    /// Uses a list instead of recursion, so that a deep tree needs no deep stack.
    private static func copyContents(_ source: String, to target: String, using layer: any FileLayer) throws(FileError)
    {
        var pending = [(source: source, target: target)]
        var copy: FileStatus?
        while let entry = pending.popLast() {
            let status = try layer.status(entry.source)
            switch status?.kind {
            case .directory:
                if let copy, copy.inode == status?.inode, copy.device == status?.device {
                    throw FileError(
                        .copy, source, code: FileLayerCode.invalid, reason: "it would be copied into itself")
                }
                try layer.makeDirectory(entry.target, permissions: (status?.permissions ?? 0) & 0o777 | 0o700)
                if copy == nil { copy = try layer.status(entry.target) }
                for name in try layer.list(entry.source) {
                    pending.append((PathText.join(entry.source, name), PathText.join(entry.target, name)))
                }
            case .regular, .symbolicLink: try FileTransfer.copy(entry.source, to: entry.target, using: layer)
            case .other, .socket:
                throw FileError(
                    .copy, entry.source, code: FileLayerCode.invalid, reason: "it is neither a file nor a folder")
            case nil: throw FileError(.copy, entry.source, code: FileLayerCode.absent)
            }
        }
    }
}
