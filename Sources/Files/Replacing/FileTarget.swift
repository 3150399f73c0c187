/// A file that somebody named to be written: atomic replacement is for what is, or will be, a regular file.
///
/// A symbolic link stays, and the file that it leads to is replaced. A device or a pipe is written to as it is, and so is a
/// stream that the process has open (`/dev/stdout`). The host's own files are another matter: they are never reached by a
/// link, and `AtomicFile` is for them.
package enum FileTarget {
    private enum Place {
        case file(String)
        case special(String)
        case stream(Int32)
    }

    /// The kernel's own limit.
    private static let mostLinks = 40

    /// Writes all of a file.
    ///
    /// - Parameters:
    ///   - bytes: the new contents.
    ///   - path: where; each folder that a link leads to has to be one that the layer lets through.
    ///   - layer: the file system.
    ///   - durable: force a regular file to the disk.
    ///   - reachesStreams: whether names of this process's own descriptors mean these: for its command line, not for scripts.
    /// - Throws: `FileError`. A regular file is then as it was; what was written to a device or a pipe stays written.
    package static func write(
        _ bytes: [UInt8], to path: String, using layer: any FileLayer = PosixFileLayer(), durable: Bool = true,
        reachesStreams: Bool = false
    ) throws(FileError) {
        switch try place(of: path, layer, reachesStreams) {
        case .file(let place): try AtomicFile.write(bytes, to: place, using: layer, durable: durable)
        case .special(let place):
            let file = try layer.open(place, .special)
            defer { layer.close(file) }
            try bytes.withUnsafeBytesThrowing { bytes throws(FileError) in try layer.writeAll(bytes, to: file) }
        case .stream(let descriptor):
            OwnStream.flush()
            let file = OpenFile(descriptor: descriptor, path: path)
            try bytes.withUnsafeBytesThrowing { bytes throws(FileError) in try layer.writeAll(bytes, to: file) }
        }
    }

    private static func place(
        of path: String, _ layer: any FileLayer, _ reachesStreams: Bool
    ) throws(FileError) -> Place {
        var place = path
        for _ in 0...mostLinks {
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
