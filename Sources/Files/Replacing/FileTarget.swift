import Glibc

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
            try bytes.withUnsafeBytesThrowing(write)
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
            try body { piece throws(FileError) in try layer.writeAll(piece, to: file) }
        case .stream(STDOUT_FILENO):
            // Counted, as all that goes there.
            try body { piece throws(FileError) in try StandardStream.output.write(piece) }
            try StandardStream.output.flush()
        case .stream(let descriptor):
            StandardStream.flushAll()
            let file = OpenFile(descriptor: descriptor, path: path)
            try body { piece throws(FileError) in try layer.writeAll(piece, to: file) }
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
            return try body { try layer.writeAll($0, to: file) }
        case .stream: throw FileError(.write, path, code: FileLayerCode.denied)
        }
    }

    private static func place(
        of path: String, _ layer: any FileLayer, _ reachesStreams: Bool
    ) throws(FileError) -> Place {
        var place = path
        for _ in 0...maximumLinks {
            if reachesStreams, let descriptor = OwnStream.descriptor(of: place) { return .stream(descriptor) }
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
