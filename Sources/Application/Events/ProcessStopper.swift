import CPlatform

/// Suspends the process as the shell expects it.
package enum ProcessStopper {
    /// Stops the process by SIGTSTP's default action; returns when it was continued.
    ///
    /// Returns at once when nobody could continue the process: a session leader, a container, `ssh host cmd`. It never uses
    /// SIGSTOP, which would leave such a process stuck for ever. Whether it was continued in the foreground,
    /// `PresencePoller.refresh()` tells.
    ///
    /// - Returns: false when the kernel refused.
    @discardableResult
    package static func stopUntilContinued() -> Bool {
        // What C holds back would appear after the shell's prompt otherwise.
        cubby_flush_output()
        return cubby_stop_until_continued() == 0
    }
}
