import CPlatform
import Files
import Glibc

/// Suspends the process as the shell expects.
package enum ProcessStopper {
    /// Stops the process by a signal's default action, and returns when it is continued.
    ///
    /// Returns at once when no process could continue it: a session leader, a container, `ssh host cmd`. SIGSTOP is
    /// never used: it would leave such a process stopped forever. `PresencePoller.refresh()` tells whether it was
    /// continued in the foreground.
    ///
    /// - Parameters:
    ///   - signal: SIGTSTP, or SIGTTIN, which stops the whole process group, as the kernel does it for a read of the
    ///     terminal in the background.
    ///   - isCancelled: called when the stop is pending, which a SIGCONT removes from then on: whether to drop it.
    /// - Returns: false when it was dropped, or the kernel refused.
    @discardableResult
    package static func stopUntilContinued(
        by signal: UnixSignal = .stop, unless isCancelled: (() -> Bool)? = nil
    ) -> Bool {
        // Buffered output would otherwise appear after the shell's prompt.
        StandardStream.flushAll()
        if signal == .backgroundRead { kill(0, signal.rawValue) }
        guard var isCancelled else { return cubby_stop_until_continued(signal.rawValue, nil, nil) == 0 }
        return withUnsafeMutablePointer(to: &isCancelled) { closure in
            cubby_stop_until_continued(
                signal.rawValue,
                { context in context?.assumingMemoryBound(to: (() -> Bool).self).pointee() == true ? 1 : 0 }, closure)
        } == 0
    }
}
