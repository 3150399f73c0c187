import CPlatform
package import Files
import Glibc

/// The process's controlling terminal, if it has one.
package final class Terminal {
    /// The process's relation to the terminal.
    package enum JobState: String, Sendable, Hashable {
        /// Its process group is the terminal's foreground group.
        case foreground
        /// Another group is in the foreground: started with `&`, or continued with `bg`.
        case background
        /// There is no terminal: a pipe, cron, a service. The process counts as in the foreground.
        case headless
        /// The terminal is gone.
        case hungUp
    }

    private let descriptor: Int32
    private let isOwned: Bool

    /// Finds the terminal: standard input, or `/dev/tty` when that is redirected. Create it before a sandbox closes
    /// `/dev`.
    package convenience init() {
        if tcgetpgrp(StandardDescriptor.input) >= 0 || !ProcessSurroundings.current.areOfProcess {
            self.init(descriptor: StandardDescriptor.input, isOwned: false)
        } else {
            self.init(descriptor: open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC), isOwned: true)
        }
    }

    /// - Parameters:
    ///   - descriptor: a terminal, or a negative number for none.
    ///   - isOwned: whether to close it at the end.
    package init(descriptor: Int32, isOwned: Bool) {
        self.descriptor = descriptor
        self.isOwned = isOwned
    }

    deinit { if isOwned, descriptor >= 0 { close(descriptor) } }

    /// The current relation; one system call.
    package var jobState: JobState {
        guard descriptor >= 0 else { return .headless }
        // A terminal that a thread is bound to has no process groups.
        if !ProcessSurroundings.current.areOfProcess, isatty(descriptor) == 1 { return .foreground }
        let group = tcgetpgrp(descriptor)
        if group >= 0 { return group == getpgrp() ? .foreground : .background }
        return errno == EIO ? .hungUp : .headless
    }

    /// Restores the terminal's present mode when a signal ends the process: a crash, Ctrl-\, a `kill`.
    ///
    /// - Parameter sequences: the sequences that undo the terminal's requested modes; at most 64 bytes.
    package static func restoreAfterCrash(sequences: String) {
        guard ProcessSurroundings.current.areOfProcess else { return }
        // Without a terminal there is nothing to restore.
        _ = cubby_tty_rescue(STDIN_FILENO, STDOUT_FILENO, sequences)
    }
}

/// The meaning of a read without bytes.
package enum InputEnd: Sendable, Hashable {
    /// Ctrl-D, or the end of a file or a pipe.
    case endOfInput
    /// The terminal is gone: its end of file comes before SIGHUP, or instead of it.
    case hangUp
    /// The process is in the background and must not read: not an end; retry in the foreground.
    case inBackground
    /// Retry: interrupted, or no input yet.
    case notYet
    case failure(FileError)

    /// Classifies the result of `read`.
    ///
    /// - Parameters:
    ///   - count: the result, 0 or less.
    ///   - code: its `errno`, when `count` is negative.
    ///   - ready: the ready events of the descriptor.
    ///   - jobState: the process's relation to the terminal; `.headless` for other input.
    /// - Returns: the meaning.
    package static func classify(count: Int, code: Int32, ready: ReadyEvents, jobState: Terminal.JobState) -> InputEnd {
        if count < 0 {
            switch code {
            case EINTR, EAGAIN: return .notYet
            case EIO where jobState == .background: return .inBackground
            case EIO where jobState != .headless: return .hangUp
            default: return .failure(FileError(.read, "standard input", code: code))
            }
        }
        // A pipe also reports a hang-up at its ordinary end.
        let isTerminal = jobState != .headless
        return jobState == .hungUp || (isTerminal && ready.contains(.hangUp)) ? .hangUp : .endOfInput
    }
}

/// Reports when the process enters or leaves the foreground.
///
/// It polls, because the shell's `fg` of a running job sends no signal.
package final class JobStatePoller {
    /// The default polling interval in seconds.
    package static let interval = 0.25

    package private(set) var last: Terminal.JobState
    private let look: () -> Terminal.JobState
    private let handler: (Terminal.JobState) -> Void
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - look: reads `Terminal.jobState`.
    ///   - handler: called when the state has changed.
    package init(look: @escaping () -> Terminal.JobState, handler: @escaping (Terminal.JobState) -> Void) {
        self.look = look
        self.handler = handler
        last = look()
    }

    deinit { timer?.cancel() }

    /// Starts polling.
    ///
    /// - Parameters:
    ///   - loop: runs the timer.
    ///   - interval: seconds.
    package func start(on loop: EventLoop, every interval: Double = JobStatePoller.interval) {
        timer?.cancel()
        timer = loop.every(interval) { [weak self] in self?.check() }
    }

    package func stop() {
        timer?.cancel()
        timer = nil
    }

    /// Polls without a report, for callers that act on the result. Call it after every continuation: otherwise a later
    /// return to the foreground is not reported as a change.
    ///
    /// - Returns: the state.
    package func refresh() -> Terminal.JobState {
        last = look()
        return last
    }

    /// Polls and reports a change, as before each prompt.
    ///
    /// - Returns: the state.
    @discardableResult
    package func check() -> Terminal.JobState {
        let now = look()
        if now != last {
            last = now
            handler(now)
        }
        return now
    }
}

/// Suspends the process as the shell expects.
package enum ProcessStopper {
    /// Stops the process by a signal's default action, and returns when it is continued.
    ///
    /// Returns at once when no process could continue it: a session leader, a container, `ssh host cmd`. SIGSTOP is
    /// never used: it would leave such a process stopped forever. `JobStatePoller.refresh()` tells whether it was
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
