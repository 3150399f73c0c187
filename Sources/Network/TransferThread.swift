import CNetwork
import Files
import Glibc
import Synchronization

/// The thread that performs a client's transfers, all at once.
///
/// It lives from the first transfer to the client's end. Its signals are blocked like those of any thread of the host, and
/// the kernel's fence around the process holds it, too.
final class TransferThread: Sendable {
    private struct State: Sendable {
        var new: [HTTPTransfer] = []
        /// The objects and not their identities, which another transfer may get.
        var cancelled: [HTTPTransfer] = []
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let library: CurlLibrary
    /// The library's handle for many transfers.
    private let handle: Handle
    private let thread: WorkerThread<Bool>

    // Guard: the thread alone uses it, but for the wake-up, which the library allows to all.
    private struct Handle: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }

    /// - Throws: `HTTPError` without memory or without a thread.
    init(_ library: CurlLibrary) throws(HTTPError) {
        guard let pointer = library.table.pointee.curl_multi_init() else {
            throw HTTPError(.unknown, "libcurl has no memory")
        }
        self.library = library
        handle = Handle(pointer: pointer)
        let begin = TransferStart()
        let caller = UInt(bitPattern: Int(pthread_self()))
        thread = WorkerThread {
            // On the calling thread it would not return.
            guard UInt(bitPattern: Int(pthread_self())) != caller else {
                begin.fail()
                return false
            }
            begin.wait()?.work()
            return true
        }
        guard begin.give(self) else {
            _ = library.table.pointee.curl_multi_cleanup(pointer)
            throw HTTPError(.unknown, "the system gives no thread for connections")
        }
    }

    /// Performs a transfer; it is reported on the thread, unless it is cancelled.
    func add(_ transfer: HTTPTransfer) {
        state.withLock { $0.new.append(transfer) }
        wake()
    }

    /// Gives up a transfer, which is not reported then.
    func cancel(_ transfer: HTTPTransfer) {
        state.withLock { $0.cancelled.append(transfer) }
        wake()
    }

    /// Gives up all transfers, and waits for the thread's end.
    func end() {
        state.withLock { $0.hasEnded = true }
        wake()
        _ = thread.join()
    }

    private func wake() { _ = library.table.pointee.curl_multi_wakeup(handle.pointer) }

    // MARK: On the thread

    private func work() {
        let curl = library.table.pointee
        var running: [UnsafeMutableRawPointer: HTTPTransfer] = [:]
        while true {
            let (new, cancelled, hasEnded) = state.withLock { state in
                defer { (state.new, state.cancelled) = ([], []) }
                return (state.new, state.cancelled, state.hasEnded)
            }
            if hasEnded { break }
            for transfer in new where !cancelled.contains(where: { $0 === transfer }) {
                guard let easy = transfer.begin(library) else { continue }
                // A transfer that nobody performs would never end.
                let isAdded = curl.curl_multi_add_handle(handle.pointer, easy) == 0
                if isAdded { running[easy] = transfer } else { transfer.end(27, library) }
            }
            for transfer in cancelled {
                guard let easy = running.first(where: { $0.value === transfer })?.key else { continue }
                running[easy] = nil
                _ = curl.curl_multi_remove_handle(handle.pointer, easy)
                transfer.release(library)
            }
            var count: Int32 = 0
            _ = curl.curl_multi_perform(handle.pointer, &count)
            var left: Int32 = 0
            while let message = curl.curl_multi_info_read(handle.pointer, &left) {
                // The message is gone with the handle.
                guard message.pointee.kind == 1, let easy = message.pointee.easy else { continue }
                let result = message.pointee.data.result
                _ = curl.curl_multi_remove_handle(handle.pointer, easy)
                running.removeValue(forKey: easy)?.end(result, library)
            }
            _ = curl.curl_multi_poll(handle.pointer, nil, 0, running.isEmpty ? 60_000 : 1000, nil)
        }
        for (easy, transfer) in running {
            _ = curl.curl_multi_remove_handle(handle.pointer, easy)
            transfer.release(library)
        }
        _ = curl.curl_multi_cleanup(handle.pointer)
    }
}

/// Hands the thread its object, which is complete only after the thread was started.
private final class TransferStart: Sendable {
    private struct State: Sendable {
        var owner: TransferThread?
        var hasFailed = false
    }

    private let state = Monitor(State())

    /// There is no thread.
    func fail() { state.change { $0.hasFailed = true } }

    /// - Returns: whether there is a thread.
    func give(_ thread: TransferThread) -> Bool {
        state.change { state in
            if !state.hasFailed { state.owner = thread }
            return !state.hasFailed
        }
    }

    func wait() -> TransferThread? {
        state.wait(until: { $0.owner != nil }) { state in
            defer { state.owner = nil }
            return state.owner
        }
    }
}
