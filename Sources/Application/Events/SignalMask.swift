import CPlatform
import Glibc

/// Takes the signals out of the kernel's hands, so that one thread can wait for them.
public enum SignalMask {
    /// Blocks the signals of the life cycle in this thread and in those that it makes. Call it at the top of `main`, before
    /// any other thread exists: a thread that has them unblocked would take them with their default action.
    ///
    /// Signals that the parent set to be ignored (`nohup`) stay ignored. A blocked mask is inherited by programs that are
    /// started: `posix_spawn` them with an empty mask.
    ///
    /// - Returns: false when the kernel refused.
    @discardableResult
    public static func blockAtLaunch() -> Bool { cubby_signals_block() == 0 }

    /// Lets signals end this thread again: for what has no life cycle, and nobody who waits for signals.
    public static func restore() {
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
    }
}
