/// Files that are whole at every moment: the old one until the last step, the new one from then on.
package enum AtomicFile {
    /// Replaces a file's contents: temporary file in the same folder, write, fsync, rename, fsync of the folder.
    ///
    /// - Parameters:
    ///   - bytes: the new contents.
    ///   - path: the file; it need not exist, its folder must.
    ///   - layer: the file system.
    ///   - durable: false leaves out both fsyncs: still whole after a crash of the process, perhaps not after one of the
    ///     machine.
    ///   - permissions: of the new file; if nil, those of the file that it replaces, else `0o644` less the umask.
    /// - Throws: `FileError`; see `AtomicFileWriter.commit(durable:)` for what is in place then.
    package static func write(
        _ bytes: [UInt8], to path: String, using layer: any FileLayer = PosixFileLayer(), durable: Bool = true,
        permissions: UInt32? = nil
    ) throws(FileError) {
        let writer = try AtomicFileWriter(path, using: layer, permissions: permissions)
        try writer.append(bytes)
        try writer.commit(durable: durable)
    }

    /// As `write(_:to:using:durable:permissions:)`, for bytes that are in no array.
    ///
    /// - Parameters:
    ///   - bytes: the new contents.
    ///   - path: the file.
    ///   - layer: the file system.
    ///   - durable: whether to fsync.
    ///   - permissions: of the new file.
    /// - Throws: `FileError`.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, to path: String, using layer: any FileLayer = PosixFileLayer(),
        durable: Bool = true, permissions: UInt32? = nil
    ) throws(FileError) {
        let writer = try AtomicFileWriter(path, using: layer, permissions: permissions)
        try writer.append(bytes)
        try writer.commit(durable: durable)
    }

    /// Removes the temporary files that interrupted writes of earlier processes left in a folder.
    ///
    /// Call it with the container's lock held: a temporary file of another process that is still writing would go, too.
    ///
    /// - Parameters:
    ///   - folder: looked into, but not below.
    ///   - layer: the file system.
    /// - Returns: the names that were removed.
    /// - Throws: `FileError` when the folder cannot be read; a file that cannot be removed is passed over.
    @discardableResult
    package static func removeLeftovers(
        in folder: String, using layer: any FileLayer = PosixFileLayer()
    ) throws(FileError) -> [String] {
        var removed: [String] = []
        for name in try layer.list(folder) where TemporaryName.matches(name) && !TemporaryName.isOwn(name) {
            do throws(FileError) {
                try layer.remove(PathText.join(folder, name))
                removed.append(name)
            } catch {
                continue
            }
        }
        return removed
    }
}
