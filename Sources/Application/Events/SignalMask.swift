import CPlatform
import Glibc

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
    public static func restore() {
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
    }
}
