import CPlatform
import Glibc

/// The process's controlling terminal, if it has one.
package final class Terminal {
    /// The process's relation to the terminal.
    package enum Presence: String, Sendable, Hashable {
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
        if tcgetpgrp(STDIN_FILENO) >= 0 {
            self.init(descriptor: STDIN_FILENO, isOwned: false)
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
    package var presence: Presence {
        guard descriptor >= 0 else { return .headless }
        let group = tcgetpgrp(descriptor)
        if group >= 0 { return group == getpgrp() ? .foreground : .background }
        return errno == EIO ? .hungUp : .headless
    }

    /// Restores the terminal's present mode when a signal ends the process: a crash, Ctrl-\, a `kill`.
    ///
    /// - Parameter sequences: the sequences that undo the terminal's requested modes; at most 64 bytes.
    package static func restoreAfterCrash(sequences: String) {
        // Without a terminal there is nothing to restore.
        _ = cubby_tty_rescue(STDIN_FILENO, STDOUT_FILENO, sequences)
    }
}
