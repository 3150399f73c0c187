import CPlatform
import Glibc

/// The process's controlling terminal, if it has one.
public final class Terminal {
    /// Where the process stands with the terminal.
    public enum Presence: String, Sendable, Hashable {
        /// Its process group is the terminal's foreground group.
        case foreground
        /// Another group is: started with `&`, or continued with `bg`.
        case background
        /// There is no terminal: a pipe, cron, a service. Such a process is as good as in the foreground until it ends.
        case headless
        /// There was one, and it is gone.
        case hungUp
    }

    private let descriptor: Int32
    private let isOwned: Bool

    /// Finds the terminal: standard input, or what `/dev/tty` names when that is redirected. Make it before a sandbox closes
    /// `/dev`.
    public convenience init() {
        if tcgetpgrp(STDIN_FILENO) >= 0 {
            self.init(descriptor: STDIN_FILENO, isOwned: false)
        } else {
            self.init(descriptor: open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC), isOwned: true)
        }
    }

    /// - Parameters:
    ///   - descriptor: a terminal, or less than 0 for none.
    ///   - isOwned: whether to close it at the end.
    public init(descriptor: Int32, isOwned: Bool) {
        self.descriptor = descriptor
        self.isOwned = isOwned
    }

    deinit { if isOwned, descriptor >= 0 { close(descriptor) } }

    /// Where the process stands now; one system call.
    public var presence: Presence {
        guard descriptor >= 0 else { return .headless }
        let group = tcgetpgrp(descriptor)
        if group >= 0 { return group == getpgrp() ? .foreground : .background }
        return errno == EIO ? .hungUp : .headless
    }

    /// Has the terminal put back as it is now when a signal ends the process: a crash, Ctrl-\, a `kill`.
    ///
    /// - Parameter sequences: what takes back what was asked of the terminal; at most 64 bytes.
    public static func restoreAfterCrash(sequences: String) {
        // Without a terminal there is nothing to put back.
        _ = cubby_tty_rescue(STDIN_FILENO, STDOUT_FILENO, sequences)
    }
}
