/// Copies and moves files. Readers of the target see its former contents or the complete new ones.
package enum FileTransfer {
    /// Copies a regular file with its permissions.
    ///
    /// - Parameters:
    ///   - source: the file; a link to it is followed where the layer follows links.
    ///   - target: the new file, or one that is replaced; a link is kept and its target replaced.
    ///   - layer: the file system.
    /// - Throws: `FileError`. The target is unchanged then; a device or a pipe may have part of the bytes.
    package static func copy(_ source: String, to target: String, using layer: any FileLayer) throws(FileError) {
        let file = try open(source, using: layer)
        defer { layer.close(file) }
        try FileTarget.write(
            to: target, using: layer, permissions: try layer.status(file).permissions & 0o777
        ) { write throws(FileError) in
            try layer.forEachPiece(of: file) { piece throws(FileError) in try write(piece) }
        }
    }

    /// Moves a file, a folder or a link.
    ///
    /// Between file systems a regular file is copied and then removed.
    ///
    /// - Parameters:
    ///   - source: the file, folder or link to move.
    ///   - target: its new path; a file there is replaced.
    ///   - layer: the file system.
    /// - Throws: `FileError`. The source is unmoved then, except after an error in forcing a folder to the disk.
    package static func move(_ source: String, to target: String, using layer: any FileLayer) throws(FileError) {
        guard let status = try layer.status(source) else {
            throw FileError(.move, source, code: FileLayerCode.absent)
        }
        do throws(FileError) {
            try layer.rename(source, to: target)
        } catch {
            guard error.code == FileLayerCode.otherFileSystem else { throw error.replacing(.move, error.path) }
            guard status.kind == .regular else {
                throw FileError(
                    .move, source, code: error.code, reason: "only files are moved between file systems")
            }
            try copy(source, to: target, using: layer)
            return try layer.remove(source)
        }
        for folder in Set([source, target].map(PathText.parent)) { try layer.syncDirectory(folder) }
    }

    private static func open(_ source: String, using layer: any FileLayer) throws(FileError) -> OpenFile {
        do throws(FileError) { return try layer.open(source, .read) } catch {
            guard error.code == FileLayerCode.isDirectory else { throw error }
            throw FileError(.copy, source, code: error.code, reason: "it is a folder")
        }
    }
}
