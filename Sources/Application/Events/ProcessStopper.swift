import CPlatform
import Files

/// Suspends the process as the shell expects.
package enum ProcessStopper {
    /// Stops the process by SIGTSTP's default action, and returns when it is continued.
    ///
    /// Returns at once when no process could continue it: a session leader, a container, `ssh host cmd`. SIGSTOP is
    /// never used: it would leave such a process stopped forever. `PresencePoller.refresh()` tells whether it was
    /// continued in the foreground.
    ///
    /// - Returns: false when the kernel refused.
    @discardableResult
    package static func stopUntilContinued() -> Bool {
        // Buffered output would otherwise appear after the shell's prompt.
        StandardStream.flushAll()
        return cubby_stop_until_continued() == 0
    }
}
