import CPlatform
package import Files
import Glibc
import Synchronization

/// The signal thread: it posts signals to the loop and calls the interrupter.
///
/// `SignalMask.blockAtLaunch()` must have been called at the top of `main`.
package final class SignalSource {
    /// Called on the signal thread after each post, to interrupt a running script.
    package typealias Interrupter = @Sendable (UnixSignal) -> Void

    /// The thread's state, which may outlive this object for a moment.
    private final class Shared: Sendable {
        let poster: EventPoster
        let interrupter: Interrupter?
        let isStopped = Atomic<Bool>(false)
        /// Whether SIGTSTP is ignored.
        let dropsStops = Atomic<Bool>(false)
        /// The number of posted changes of the window's size.
        let windowChanges = Atomic<Int>(0)

        init(poster: EventPoster, interrupter: Interrupter?) {
            self.poster = poster
            self.interrupter = interrupter
        }

        func serve() {
            while true {
                let number = cubby_signals_wait()
                if isStopped.load(ordering: .acquiring) { return }
                guard number > 0 else { return }
                let signal = UnixSignal(rawValue: number)
                if signal == .stop, dropsStops.load(ordering: .acquiring) { continue }
                poster.post(signal)
                interrupter?(signal)
                if number == SIGWINCH { windowChanges.add(1, ordering: .releasing) }
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
    ///   - interrupter: called on the signal thread; it must not block.
    /// - Throws: `FileError` when no thread could be made.
    package init(poster: EventPoster, interrupter: Interrupter? = nil) throws(FileError) {
        shared = Shared(poster: poster, interrupter: interrupter)
        let box = Unmanaged.passRetained(shared)
        // Created with the signals blocked, so that no signal takes its default action.
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

    /// Ends the thread. Signals stay blocked and pending. Idempotent.
    package func stop() {
        guard isRunning else { return }
        isRunning = false
        shared.isStopped.store(true, ordering: .releasing)
        pthread_kill(thread, SIGCONT)
        pthread_join(thread, nil)
    }

    /// Stops the process with a body. Drops a SIGTSTP received before: it means the same stop, and would stop the
    /// process again if the signal thread took it after the continuation.
    package func stoppingOnce(_ body: () -> Void) {
        shared.dropsStops.store(true, ordering: .releasing)
        body()
        // The thread takes signals in order: after this one, it has taken all earlier ones.
        let before = shared.windowChanges.load(ordering: .acquiring)
        simulate(UnixSignal(rawValue: SIGWINCH))
        for _ in 0..<100 where shared.windowChanges.load(ordering: .acquiring) == before { usleep(1000) }
        shared.dropsStops.store(false, ordering: .releasing)
    }

    /// Sends a signal to the signal thread only, as if the process had received it.
    ///
    /// - Parameter signal: a signal that `SignalMask` blocks.
    package func simulate(_ signal: UnixSignal) { pthread_kill(thread, signal.rawValue) }
}
