import ColumnEngine
import Files
import PropertyList

/// Writes a large archive to its file in pieces: another thread writes one piece and starts the disk's write-back while
/// the next is encoded. Call `wait` before closing the file.
final class ArchiveOutput: PropertyListOutput {
    /// Bytes per piece: large enough for the thread's overhead to be small.
    private static let pieceLength = 1 << 20

    private let path: String
    private let layer: any FileLayer
    private let writer: PieceWriter
    /// The piece being filled.
    private var piece: [UInt8] = []
    /// The file layer's error, of which the archiver only knows that something failed.
    private(set) var failure: FileError?

    init(_ file: OpenFile, _ layer: any FileLayer) {
        path = file.path
        self.layer = layer
        writer = PieceWriter(file, layer)
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError) {
        piece.append(contentsOf: bytes)
        guard piece.count >= Self.pieceLength else { return }
        try attempt { () throws(FileError) in try passOn() }
    }

    /// Waits until everything is written, and returns its checksum.
    func finish() throws(FileError) -> UInt64 {
        try passOn()
        writer.end()
        return try writer.result()
    }

    /// Waits until no write is in progress; then the file may be closed.
    func wait() {
        writer.end()
    }

    private func passOn() throws(FileError) {
        var made: [UInt8] = []
        swap(&made, &piece)
        piece = try writer.write(made)
        piece.reserveCapacity(2 * Self.pieceLength)
    }

    func makeScratch() throws(PropertyListError) -> any PropertyListScratch {
        try attempt { () throws(FileError) in try Scratch(self, beside: path) }
    }

    private func attempt<Value>(_ body: () throws(FileError) -> Value) throws(PropertyListError) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            if failure == nil { failure = error }
            throw PropertyListError(code: .writeStream, message: error.message)
        }
    }

    /// An unlinked file, open for reading and writing.
    private final class Scratch: PropertyListScratch {
        private let output: ArchiveOutput
        private let writing: OpenFile
        private let reading: OpenFile

        init(_ output: ArchiveOutput, beside path: String) throws(FileError) {
            self.output = output
            let layer = output.layer
            let path = PathText.join(PathText.parent(of: path), TemporaryName.next())
            writing = try layer.open(path, .createNew, permissions: 0o600)
            do throws(FileError) {
                reading = try layer.open(path, .read)
            } catch {
                layer.close(writing)
                try? layer.remove(path)
                throw error
            }
            try? layer.remove(path)
        }

        deinit {
            output.layer.close(writing)
            output.layer.close(reading)
        }

        func write(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError) {
            try output.attempt { () throws(FileError) in try output.layer.writeAll(bytes, to: writing) }
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws(PropertyListError) {
            var done = 0
            while done < buffer.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                let count = try output.attempt { () throws(FileError) in try output.layer.read(reading, into: rest) }
                guard count > 0 else {
                    throw PropertyListError(code: .readStream, message: "a scratch file of the archive is cut off")
                }
                done += count
            }
        }
    }
}
