import Files
import Glibc
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
            try output.attempt { () throws(FileError) in try output.layer.writeAll(bytes.bytes, to: writing) }
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

/// A thread that writes the pieces of a file, and starts the disk's write-back, while the next one is made.
///
/// One piece may be queued: waking the thread up for each piece would often be late.
final class PieceWriter {
    private struct State: Sendable {
        var waiting: [UInt8]?
        /// The memory of a written piece.
        var spare: [UInt8] = []
        var isEnding = false
        var failure: FileError?
        /// The checksum of the written pieces.
        var checksum = RunningChecksum()
        /// If the system grants no thread, each piece is written synchronously.
        var isInline = false
    }

    private let file: OpenFile
    private let layer: any FileLayer
    private let state = Monitor(State())
    private var thread: WorkerThread<Void>?

    /// - Parameters:
    ///   - file: must stay open until `end` has returned.
    ///   - layer: the file layer.
    init(_ file: OpenFile, _ layer: any FileLayer) {
        self.file = file
        self.layer = layer
    }

    /// Takes a piece, once none is queued, and returns memory for another.
    ///
    /// - Throws: the error of an earlier piece.
    package func write(_ piece: [UInt8]) throws(FileError) -> [UInt8] {
        if thread == nil { start() }
        var memory: [UInt8] = []
        let failure = state.wait(until: { $0.waiting == nil || $0.failure != nil }) { state in
            if state.failure == nil {
                if state.isInline {
                    state.failure = Self.write(piece, to: file, layer, &state.checksum)
                } else {
                    state.waiting = piece
                }
            }
            swap(&memory, &state.spare)
            return state.failure
        }
        if let failure { throw failure }
        return memory
    }

    /// Waits until everything is written; no more pieces can be added.
    func end() {
        state.change { $0.isEnding = true }
        _ = thread?.join()
    }

    /// The checksum of the written bytes, after `end`.
    func result() throws(FileError) -> UInt64 {
        let (failure, checksum) = state.change { ($0.failure, $0.checksum) }
        if let failure { throw failure }
        return checksum.value
    }

    private func start() {
        let owner = pthread_self()
        thread = WorkerThread { [state, file, layer] in
            if pthread_equal(pthread_self(), owner) != 0 {
                state.change { $0.isInline = true }
            } else {
                Self.writeAll(state, to: file, layer)
            }
        }
    }

    private static func writeAll(_ state: Monitor<State>, to file: OpenFile, _ layer: any FileLayer) {
        var checksum = RunningChecksum()
        while var piece = state.wait(until: { $0.waiting != nil || $0.isEnding }, { $0.waiting.take() }) {
            let failure = write(piece, to: file, layer, &checksum)
            piece.removeAll(keepingCapacity: true)
            state.change { state in
                swap(&state.spare, &piece)
                state.failure = failure
                state.checksum = checksum
            }
            if failure != nil { return }
        }
    }

    private static func write(
        _ piece: [UInt8], to file: OpenFile, _ layer: any FileLayer, _ checksum: inout RunningChecksum
    ) -> FileError? {
        do throws(FileError) {
            try layer.writeAll(piece.span.bytes, to: file)
            layer.beginSync(file)
            piece.withUnsafeBytes { checksum.add($0) }
            return nil
        } catch {
            return error
        }
    }
}
