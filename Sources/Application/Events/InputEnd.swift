package import Files
import Glibc

/// What it means that a read gave nothing.
package enum InputEnd: Sendable, Hashable {
    /// Ctrl-D, or the end of a file or a pipe.
    case endOfInput
    /// The terminal is gone. Its end of file comes before SIGHUP, or instead.
    case hangUp
    /// The process is in the background and may not read: no end at all; try again in the foreground.
    case inBackground
    /// Try again: interrupted, or nothing there yet.
    case notYet
    case failure(FileError)

    /// Classifies what `read` returned.
    ///
    /// - Parameters:
    ///   - count: what it returned, 0 or less.
    ///   - code: `errno` at that moment, when `count` is less than 0.
    ///   - ready: what the loop said about the descriptor.
    ///   - presence: where the process stands with the terminal; `.headless` when the input is none.
    /// - Returns: what it means.
    package static func classify(count: Int, code: Int32, ready: ReadyEvents, presence: Terminal.Presence) -> InputEnd {
        if count < 0 {
            switch code {
            case EINTR, EAGAIN: return .notYet
            case EIO:
                if presence == .background { return .inBackground }
                return presence == .headless
                    ? .failure(FileError(.read, "standard input", code: code)) : .hangUp
            default: return .failure(FileError(.read, "standard input", code: code))
            }
        }
        // A pipe reports a hang-up at its ordinary end as well.
        let isTerminal = presence != .headless
        return presence == .hungUp || (isTerminal && ready.contains(.hangUp)) ? .hangUp : .endOfInput
    }
}
