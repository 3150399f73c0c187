/// A layer with its own resolution of paths. Calls on open files are those of `PosixFileLayer`.
public protocol PathLayer: FileLayer {}

extension PathLayer {
    private var real: PosixFileLayer { PosixFileLayer() }

    public func close(_ file: OpenFile) { real.close(file) }

    public func discard(_ file: OpenFile) { real.discard(file) }

    public func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try real.read(file, into: buffer)
    }

    public func read(
        _ file: OpenFile, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(FileError) -> Int {
        try real.read(file, at: offset, into: buffer)
    }

    public func writeAll(_ bytes: UnsafeRawBufferPointer, to file: OpenFile) throws(FileError) {
        try real.writeAll(bytes, to: file)
    }

    public func writeAll(
        _ bytes: UnsafeRawBufferPointer, to file: OpenFile, at offset: Int
    ) throws(FileError) {
        try real.writeAll(bytes, to: file, at: offset)
    }

    public func sync(_ file: OpenFile) throws(FileError) { try real.sync(file) }

    public func syncData(_ file: OpenFile) throws(FileError) { try real.syncData(file) }

    public func beginSync(_ file: OpenFile) { real.beginSync(file) }

    /// Changes a file's size, in bytes.
    public func truncate(_ file: OpenFile, to size: Int) throws(FileError) { try real.truncate(file, to: size) }

    /// Changes a file's permissions.
    public func setPermissions(_ file: OpenFile, to permissions: UInt32) throws(FileError) {
        try real.setPermissions(file, to: permissions)
    }

    /// The status of an open file.
    public func status(_ file: OpenFile) throws(FileError) -> FileStatus { try real.status(file) }

    public func map(_ file: OpenFile) throws(FileError) -> MappedFile { try real.map(file) }
}
