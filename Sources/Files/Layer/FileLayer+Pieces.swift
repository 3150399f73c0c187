import CPlatform

extension FileLayer {
    /// Reads an open file from its position to its end in pieces of at most a megabyte.
    ///
    /// - Parameters:
    ///   - file: open for reading.
    ///   - body: takes a piece, which is valid during the call only.
    /// - Throws: `FileError`, also when the work is interrupted; what `body` throws.
    package func forEachPiece(
        of file: OpenFile, _ body: (UnsafeRawBufferPointer) throws(FileError) -> Void
    ) throws(FileError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            if cubby_work_is_stopped() != 0 { throw FileError(.read, file.path, code: FileLayerCode.interrupted) }
            let count = try read(file, into: buffer)
            if count == 0 { return }
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// The SHA-256 of a file's contents.
    ///
    /// - Parameter path: the file.
    /// - Returns: its 32 bytes.
    /// - Throws: `FileError` when it cannot be read.
    package func digest(of path: String) throws(FileError) -> [UInt8] {
        let file = try open(path, .read)
        defer { close(file) }
        var digest = SHA256()
        try forEachPiece(of: file) { piece in digest.update(piece) }
        return digest.finish()
    }
}
