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
        /// The number of posted continuations.
        let continuations = Atomic<Int>(0)

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
                if number == SIGCONT { continuations.add(1, ordering: .releasing) }
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
        ProcessSurroundings.current.deliverSignals { [thread] in pthread_kill(thread, $0) }
    }

    deinit { stop() }

    /// Ends the thread. Signals stay blocked and pending. Idempotent.
    package func stop() {
        guard isRunning else { return }
        isRunning = false
        ProcessSurroundings.current.deliverSignals(to: nil)
        shared.isStopped.store(true, ordering: .releasing)
        pthread_kill(thread, SIGCONT)
        pthread_join(thread, nil)
    }

    /// What became of a stop.
    package enum Stop: Sendable {
        /// The process was stopped, and continued.
        case done
        /// It was not stopped: it had been cancelled, or continued before it took effect.
        case cancelled
        /// It cannot be stopped: nobody could continue it.
        case impossible
    }

    /// Stops the process, until it is continued.
    ///
    /// A SIGTSTP received before is dropped: it means the same stop, and would stop the process again if the signal thread
    /// took it after the continuation. A SIGCONT received before the stop is not lost: it has been posted, or cancels it.
    ///
    /// - Parameters:
    ///   - signal: the signal whose default action stops it.
    ///   - isCancelled: called with all earlier signals posted: whether the process is not to be stopped after all.
    /// - Returns: what became of it.
    package func stop(by signal: UnixSignal = .stop, isCancelled: @escaping () -> Bool) -> Stop {
        shared.dropsStops.store(true, ordering: .releasing)
        defer { shared.dropsStops.store(false, ordering: .releasing) }
        // Raising a stop removes a continuation that is still pending: take it first.
        awaitThread()
        let before = shared.continuations.load(ordering: .acquiring)
        let isStopped = ProcessStopper.stopUntilContinued(by: signal) { [self] in
            awaitThread()
            return isCancelled()
        }
        awaitThread()
        guard isStopped else { return .cancelled }
        return shared.continuations.load(ordering: .acquiring) == before ? .impossible : .done
    }

    /// Waits until the thread has posted all signals received so far: it takes them in the order of their numbers, and a
    /// change of the window's size is the last that matters here.
    private func awaitThread() {
        let before = shared.windowChanges.load(ordering: .acquiring)
        simulate(UnixSignal(rawValue: SIGWINCH))
        for _ in 0..<100 where shared.windowChanges.load(ordering: .acquiring) == before { usleep(1000) }
    }

    /// Sends a signal to the signal thread only, as if the process had received it.
    ///
    /// - Parameter signal: a signal that `SignalMask` blocks.
    package func simulate(_ signal: UnixSignal) { pthread_kill(thread, signal.rawValue) }
}

/// A signal that the life cycle handles.
package struct UnixSignal: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Ctrl-C: interrupts the running script.
    package static let interrupt = UnixSignal(rawValue: SIGINT)
    /// Ctrl-Z: Home.
    package static let stop = UnixSignal(rawValue: SIGTSTP)
    /// Continued, in the foreground or not.
    package static let resume = UnixSignal(rawValue: SIGCONT)
    package static let terminate = UnixSignal(rawValue: SIGTERM)
    /// The terminal is gone.
    package static let hangUp = UnixSignal(rawValue: SIGHUP)
    /// The terminal's size changed.
    package static let windowChange = UnixSignal(rawValue: SIGWINCH)
    /// A background process tried to read from the terminal; the read fails with `EIO`.
    package static let backgroundRead = UnixSignal(rawValue: SIGTTIN)
    /// A background process tried to write to the terminal or to change it.
    package static let backgroundWrite = UnixSignal(rawValue: SIGTTOU)

    package var description: String {
        switch self {
        case .interrupt: "SIGINT"
        case .stop: "SIGTSTP"
        case .resume: "SIGCONT"
        case .terminate: "SIGTERM"
        case .hangUp: "SIGHUP"
        case .windowChange: "SIGWINCH"
        case .backgroundRead: "SIGTTIN"
        case .backgroundWrite: "SIGTTOU"
        default: "signal \(rawValue)"
        }
    }
}

/// Blocks signals, so that one thread can wait for them.
public enum SignalMask {
    /// Blocks the signals of the life cycle in this thread and the threads that it creates. Call it at the top of
    /// `main`, before any other thread exists: an unblocked thread would take their default action.
    ///
    /// Signals that the parent ignores (`nohup`) stay ignored. Child processes inherit the mask: `posix_spawn` them
    /// with an empty one.
    ///
    /// - Returns: false when the kernel refused.
    @discardableResult
    public static func blockAtLaunch() -> Bool { cubby_signals_block() == 0 }

    /// Unblocks the signals, for commands without a life cycle.
    package static func restore() {
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
    }
}
