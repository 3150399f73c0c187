import Glibc

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

/// An output file named by a user. Only regular files, existing or new, are replaced atomically.
///
/// A symbolic link is kept and its target replaced. Devices and pipes, and open streams of the process (`/dev/stdout`),
/// are written directly. The host's own files use `AtomicFile`, since they are never reached by a link.
package enum FileTarget {
    private enum Place {
        case file(String)
        case special(String)
        case stream(Int32)
    }

    /// The kernel's own limit.
    private static let maximumLinks = 40

    /// Writes a whole file.
    ///
    /// - Parameters:
    ///   - bytes: the new contents.
    ///   - path: the file; the layer must allow each folder on the way through links.
    ///   - layer: the file system.
    ///   - durable: force a regular file to the disk.
    ///   - reachesStreams: whether names of the process's own descriptors are allowed: in its command line, not in
    ///     scripts.
    /// - Throws: `FileError`. Then a regular file is unchanged; a device or a pipe may have part of the bytes.
    package static func write(
        _ bytes: [UInt8], to path: String, using layer: any FileLayer = PosixFileLayer(), durable: Bool = true,
        reachesStreams: Bool = false
    ) throws(FileError) {
        try write(to: path, using: layer, durable: durable, reachesStreams: reachesStreams) { write throws(FileError) in
            try bytes.withBytes(write)
        }
    }

    /// Writes a whole file in pieces.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - layer: the file system.
    ///   - durable: force a regular file to the disk.
    ///   - permissions: a new file's; if nil, those of the replaced file, else `0o644` less the umask.
    ///   - reachesStreams: whether names of the process's own descriptors are allowed.
    ///   - body: calls its argument with each piece.
    /// - Throws: `FileError`, as above; what `body` throws.
    package static func write(
        to path: String, using layer: any FileLayer, durable: Bool = true, permissions: UInt32? = nil,
        reachesStreams: Bool = false,
        _ body: (_ write: (UnsafeRawBufferPointer) throws(FileError) -> Void) throws(FileError) -> Void
    ) throws(FileError) {
        switch try place(of: path, layer, reachesStreams) {
        case .file(let place):
            let writer = try AtomicFileWriter(place, using: layer, permissions: permissions)
            try body { piece throws(FileError) in try writer.append(piece) }
            try writer.commit(durable: durable)
        case .special(let place):
            let file = try layer.open(place, .special)
            defer { layer.close(file) }
            try body { piece throws(FileError) in try layer.writeAll(piece.bytes, to: file) }
        case .stream(StandardDescriptor.output):
            // Counted, as all that goes there.
            try body { piece throws(FileError) in try StandardStream.output.write(piece) }
            try StandardStream.output.flush()
        case .stream(let descriptor):
            StandardStream.flushAll()
            let file = OpenFile(descriptor: descriptor, path: path)
            try body { piece throws(FileError) in try layer.writeAll(piece.bytes, to: file) }
        }
    }

    /// Writes a file in pieces like ``write(_:to:using:durable:reachesStreams:)``. An error of the body leaves a
    /// regular file unchanged.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - layer: the file system.
    ///   - body: calls its argument with the next bytes.
    /// - Returns: the body's result.
    /// - Throws: `FileError`; what the body throws.
    package static func write<Result>(
        to path: String, using layer: any FileLayer,
        _ body: (_ append: @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Result
    ) throws -> Result {
        switch try place(of: path, layer, false) {
        case .file(let place):
            let writer = try AtomicFileWriter(place, using: layer)
            // A writer that is released without a commit abandons the new version.
            let result = try body { bytes in
                try writer.append(bytes)
                writer.beginSync()
            }
            try writer.commit(durable: true)
            return result
        case .special(let place):
            let file = try layer.open(place, .special)
            defer { layer.close(file) }
            return try body { try layer.writeAll($0.bytes, to: file) }
        case .stream: throw FileError(.write, path, code: FileLayerCode.denied)
        }
    }

    /// Begins a new version of a file, which appears when it is committed. A link stays, and its target is replaced.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - layer: the file system.
    /// - Returns: the writer.
    /// - Throws: `FileError`, also for a device and a pipe, which have no versions.
    package static func writer(for path: String, using layer: any FileLayer) throws(FileError) -> AtomicFileWriter {
        guard case .file(let place) = try place(of: path, layer, false) else {
            throw FileError(.write, path, code: FileLayerCode.denied, reason: "it is not a regular file")
        }
        return try AtomicFileWriter(place, using: layer)
    }

    private static func place(
        of path: String, _ layer: any FileLayer, _ reachesStreams: Bool
    ) throws(FileError) -> Place {
        var place = path
        for _ in 0...maximumLinks {
            if reachesStreams, let descriptor = StandardDescriptor.descriptor(of: place) { return .stream(descriptor) }
            switch try layer.status(place)?.kind {
            case .symbolicLink:
                let next = try layer.linkTarget(place)
                place = next.hasPrefix("/") ? next : PathText.join(PathText.parent(of: place), next)
            case .other, .socket: return .special(place)
            case .regular, .directory, nil: return .file(place)
            }
        }
        throw FileError(.write, path, code: FileLayerCode.tooManyLinks)
    }
}

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
