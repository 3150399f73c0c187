/// The cause of a life cycle event; the raw value is the name for scripts.
public enum LifeCycleCause: String, Sendable, Hashable, CaseIterable {
    /// The process started.
    case launch
    /// Ctrl-Z, or a request to stop.
    case sigtstp = "SIGTSTP"
    /// A continuation after a stop.
    case sigcont = "SIGCONT"
    /// The terminal is gone.
    case sighup = "SIGHUP"
    /// A request to end.
    case sigterm = "SIGTERM"
    /// Ctrl-C.
    case sigint = "SIGINT"
    /// Standard input ended: Ctrl-D, or the end of a script.
    case eof
    /// The terminal's window lost or gained the focus.
    case focus
    /// The process changed between foreground and background without a signal (`fg` of a running job).
    case terminal
    /// The kernel's pressure stall information: memory pressure.
    case psi
    /// A script's request.
    case script
    /// The journal has grown so long that the archive is rewritten.
    case journal
    /// No work is left.
    case idle
    /// The server of a shared collection connected or disconnected.
    case server
    /// The clocks advanced while the process was not running.
    case clock
}
