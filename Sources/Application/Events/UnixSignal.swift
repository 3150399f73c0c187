import Glibc

/// A signal that the life cycle handles.
package struct UnixSignal: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Ctrl-C: interrupts the running script.
    package static let interrupt = UnixSignal(rawValue: SIGINT)
    /// Ctrl-Z: Home.
    package static let stop = UnixSignal(rawValue: SIGTSTP)
    /// Continued, in the foreground or not.
    package static let resume = UnixSignal(rawValue: SIGCONT)
    package static let terminate = UnixSignal(rawValue: SIGTERM)
    /// The terminal is gone.
    package static let hangUp = UnixSignal(rawValue: SIGHUP)
    /// The terminal's size changed.
    package static let windowChange = UnixSignal(rawValue: SIGWINCH)
    /// A background process tried to read from the terminal; the read fails with `EIO`.
    package static let backgroundRead = UnixSignal(rawValue: SIGTTIN)
    /// A background process tried to write to the terminal or to change it.
    package static let backgroundWrite = UnixSignal(rawValue: SIGTTOU)

    package var description: String {
        switch self {
        case .interrupt: "SIGINT"
        case .stop: "SIGTSTP"
        case .resume: "SIGCONT"
        case .terminate: "SIGTERM"
        case .hangUp: "SIGHUP"
        case .windowChange: "SIGWINCH"
        case .backgroundRead: "SIGTTIN"
        case .backgroundWrite: "SIGTTOU"
        default: "signal \(rawValue)"
        }
    }

    /// The cause in life cycle events; nil for unrelated signals.
    package var cause: LifeCycleCause? {
        switch self {
        case .interrupt: .sigint
        case .stop: .sigtstp
        case .resume: .sigcont
        case .terminate: .sigterm
        case .hangUp: .sighup
        default: nil
        }
    }
}
