import CPlatform
package import Files
import Glibc
import Synchronization

/// The thread that waits for signals. It posts them to the loop, calls the interrupter, and does nothing else.
///
/// `SignalMask.blockAtLaunch()` must have been called at the top of `main`.
package final class SignalSource {
    /// Called on the signal thread for every signal after it was posted, so that a running script can be made to look.
    package typealias Interrupter = @Sendable (UnixSignal) -> Void

    /// What the thread sees of this object: it may outlive it by a moment.
    private final class Shared: Sendable {
        let poster: EventPoster
        let interrupter: Mutex<Interrupter?>
        let isStopped = Atomic<Bool>(false)

        init(poster: EventPoster, interrupter: Interrupter?) {
            self.poster = poster
            self.interrupter = Mutex(interrupter)
        }

        func serve() {
            while true {
                let number = cubby_signals_wait()
                if isStopped.load(ordering: .acquiring) { return }
                guard number > 0 else { return }
                let signal = UnixSignal(rawValue: number)
                poster.post(signal)
                let interrupter = interrupter.withLock { $0 }
                interrupter?(signal)
            }
        }
    }

    private let shared: Shared
    private var thread = pthread_t()
    private var isRunning = false

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - poster: the loop's.
    ///   - interrupter: called on the signal thread; it must not block, and may be set later.
    /// - Throws: `FileError` when no thread could be made.
    package init(poster: EventPoster, interrupter: Interrupter? = nil) throws(FileError) {
        shared = Shared(poster: poster, interrupter: interrupter)
        let box = Unmanaged.passRetained(shared)
        // Born with the signals blocked, so that there is no moment at which one would do what it does by default.
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &before)
        cubby_signals_block()
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Shared>.fromOpaque(argument).takeRetainedValue().serve()
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            box.release()
            throw FileError(.open, "the signal thread", code: result)
        }
        isRunning = true
    }

    deinit { stop() }

    /// Sets what is called on the signal thread; nil for nothing.
    ///
    /// - Parameter interrupter: replaces the one before.
    package func setInterrupter(_ interrupter: Interrupter?) {
        shared.interrupter.withLock { $0 = interrupter }
    }

    /// Ends the thread. Signals stay blocked, and wait. Does nothing the second time.
    package func stop() {
        guard isRunning else { return }
        isRunning = false
        shared.isStopped.store(true, ordering: .releasing)
        pthread_kill(thread, SIGCONT)
        pthread_join(thread, nil)
    }

    /// Sends a signal to the waiting thread only, as if the process had received it.
    ///
    /// - Parameter signal: one of those that `SignalMask` blocks.
    package func simulate(_ signal: UnixSignal) { pthread_kill(thread, signal.rawValue) }
}
