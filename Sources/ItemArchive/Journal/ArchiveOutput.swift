import ColumnEngine
import Files
import PropertyList

/// A large archive on its way into its file, piece by piece: while another thread writes a piece and sets the disk going,
/// the next is made. Whoever closes the file calls `wait` before.
final class ArchiveOutput: PropertyListOutput {
    /// How many bytes make a piece: enough for a thread to be little beside them.
    private static let pieceLength = 1 << 20

    private let path: String
    private let layer: any FileLayer
    private let writer: PieceWriter
    /// The piece that is being made.
    private var piece: [UInt8] = []
    /// What the file layer said, where the archiver knows only that something failed.
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

    /// Waits until everything is written, and gives the checksum of it.
    func finish() throws(FileError) -> UInt64 {
        try passOn()
        writer.end()
        return try writer.result()
    }

    /// Waits until nothing is being written; the file may be closed then.
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

    /// A file that has no name any more, open for both.
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
