import ColumnEngine
import Files
import Glibc

/// A thread that writes the pieces of a file one after the other, and sets the disk going, while the next is made.
///
/// One piece may wait: a thread that is woken for each would come late to many of them.
final class PieceWriter {
    private struct State: Sendable {
        var waiting: [UInt8]?
        /// The memory of a piece that is written.
        var spare: [UInt8] = []
        var isEnding = false
        var failure: FileError?
        /// Of all pieces, when they are written.
        var checksum = RunningChecksum()
        /// Where the system gives no thread, each piece is written when it comes.
        var isInline = false
    }

    private let file: OpenFile
    private let layer: any FileLayer
    private let state = Monitor(State())
    private var thread: WorkerThread<Void>?

    /// - Parameters:
    ///   - file: is to stay open until `end` has returned.
    ///   - layer: what writes it.
    init(_ file: OpenFile, _ layer: any FileLayer) {
        self.file = file
        self.layer = layer
    }

    /// Takes a piece, once there is none waiting, and gives memory for another.
    ///
    /// - Throws: what an earlier piece could not be written for.
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

    /// Waits until all is written; nothing can be added any more.
    func end() {
        state.change { $0.isEnding = true }
        _ = thread?.join()
    }

    /// The checksum of all that was written, after `end`.
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
