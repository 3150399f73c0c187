import Glibc

/// A signal that the process is told of.
public struct UnixSignal: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: Int32

    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Ctrl-C: interrupts the running script.
    public static let interrupt = UnixSignal(rawValue: SIGINT)
    /// Ctrl-Z: Home.
    public static let stop = UnixSignal(rawValue: SIGTSTP)
    /// Continued, in the foreground or not.
    public static let resume = UnixSignal(rawValue: SIGCONT)
    public static let terminate = UnixSignal(rawValue: SIGTERM)
    /// The terminal went away.
    public static let hangUp = UnixSignal(rawValue: SIGHUP)
    /// The terminal's size changed.
    public static let windowChange = UnixSignal(rawValue: SIGWINCH)
    /// A background process tried to read from the terminal; the read fails with `EIO`.
    public static let backgroundRead = UnixSignal(rawValue: SIGTTIN)
    /// A background process tried to write to the terminal or to change it.
    public static let backgroundWrite = UnixSignal(rawValue: SIGTTOU)

    public var description: String {
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

    /// The cause to name in events of the life cycle; nil for signals that are none of its business.
    public var cause: LifeCycleCause? {
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
