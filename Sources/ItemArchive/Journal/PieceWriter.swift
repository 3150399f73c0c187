import ColumnEngine
import Files
import Glibc

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
            try piece.withBytes { bytes throws(FileError) in try layer.writeAll(bytes, to: file) }
            layer.beginSync(file)
            piece.withUnsafeBytes { checksum.add($0) }
            return nil
        } catch {
            return error
        }
    }
}
