import Application
import Glibc

/// A thread that writes the pieces of a file one after the other, and sets the disk going, while the next is made.
///
/// One piece may wait: a thread that is woken for each would come late to many of them.
final class PieceWriter: @unchecked Sendable {
    private let file: OpenFile
    private let layer: any FileLayer
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    // These are what `lock` guards, which is why this class may be shared.
    private var waiting: [UInt8]?
    private var spare: [UInt8] = []
    private var isEnding = false
    private var failure: FileError?
    /// Of what is written: the thread's, and when that has ended the owner's.
    private var checksum = RunningChecksum()
    // The owner's alone.
    private var thread: WorkerThread<Void>?
    private var isInline = false

    /// - Parameters:
    ///   - file: is to stay open until `end` has returned.
    ///   - layer: what writes it.
    init(_ file: OpenFile, _ layer: any FileLayer) {
        self.file = file
        self.layer = layer
        pthread_mutex_init(lock, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(lock)
        changed.deallocate()
        lock.deallocate()
    }

    /// Takes a piece, once there is none waiting, and gives memory for another.
    ///
    /// - Throws: what an earlier piece could not be written for.
    func write(_ piece: consuming [UInt8]) throws(FileError) -> [UInt8] {
        if thread == nil { start() }
        if isInline {
            failure = failure ?? writeNow(piece)
            if let failure { throw failure }
            piece.removeAll(keepingCapacity: true)
            return piece
        }
        var memory: [UInt8] = []
        let failure = locked {
            while waiting != nil, self.failure == nil { pthread_cond_wait(changed, lock) }
            if self.failure == nil { waiting = piece }
            swap(&memory, &spare)
            pthread_cond_broadcast(changed)
            return self.failure
        }
        if let failure { throw failure }
        return memory
    }

    /// Waits until all is written; nothing can be added any more.
    func end() {
        locked {
            isEnding = true
            pthread_cond_broadcast(changed)
        }
        _ = thread?.join()
    }

    /// The checksum of all that was written, after `end`.
    func result() throws(FileError) -> UInt64 {
        if let failure { throw failure }
        return checksum.value
    }

    private func start() {
        let owner = pthread_self()
        thread = WorkerThread { [self] in
            // Without a thread for it, each piece is written when it comes.
            if pthread_equal(pthread_self(), owner) != 0 { isInline = true } else { writeAll() }
        }
    }

    private func writeAll() {
        while var piece = next() {
            let failure = writeNow(piece)
            piece.removeAll(keepingCapacity: true)
            locked {
                spare = piece
                self.failure = failure
                pthread_cond_broadcast(changed)
            }
            if failure != nil { return }
        }
    }

    /// The piece that waits; nil when there will be none.
    private func next() -> [UInt8]? {
        locked {
            while waiting == nil, !isEnding { pthread_cond_wait(changed, lock) }
            pthread_cond_broadcast(changed)
            return waiting.take()
        }
    }

    private func writeNow(_ piece: [UInt8]) -> FileError? {
        do throws(FileError) {
            try piece.withBytes { bytes throws(FileError) in try layer.writeAll(bytes, to: file) }
            layer.beginSync(file)
            piece.withUnsafeBytes { checksum.add($0) }
            return nil
        } catch {
            return error
        }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body()
    }
}
