package import Files
import Glibc

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
    ///   - presence: the process's relation to the terminal; `.headless` for other input.
    /// - Returns: the meaning.
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
        // A pipe also reports a hang-up at its ordinary end.
        let isTerminal = presence != .headless
        return presence == .hungUp || (isTerminal && ready.contains(.hangUp)) ? .hangUp : .endOfInput
    }
}
