import Application

/// A piece of an archive that a thread writes.
struct WrittenPiece: Sendable {
    var bytes: [UInt8]
    /// Of all pieces up to this one, once it is written.
    var checksum: RunningChecksum
    var failure: FileError?

    mutating func write(to file: OpenFile, _ layer: any FileLayer) {
        do throws(FileError) {
            try bytes.withBytes { bytes throws(FileError) in try layer.writeAll(bytes, to: file) }
            layer.beginSync(file)
            bytes.withUnsafeBytes { checksum.add($0) }
        } catch {
            failure = error
        }
    }
}
