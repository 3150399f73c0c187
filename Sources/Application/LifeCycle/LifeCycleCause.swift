/// What really happened when an application is told of its life; the raw value is the name for scripts.
public enum LifeCycleCause: String, Sendable, Hashable, CaseIterable {
    /// The process began.
    case launch
    case sigtstp = "SIGTSTP"
    case sigcont = "SIGCONT"
    case sighup = "SIGHUP"
    case sigterm = "SIGTERM"
    case sigint = "SIGINT"
    /// Standard input ended: Ctrl-D, or a script that was read to its end.
    case eof
    /// The terminal's window lost or gained the focus.
    case focus
    /// The process was found in the foreground, or out of it, without a signal (`fg` of a running job).
    case terminal
    /// The kernel's pressure stall information: memory is short.
    case psi
    /// A script asked for it.
    case script
    /// The journal has grown so long that the archive is written anew.
    case journal
    case idle
    /// Clocks that went on while the process did not.
    case clock
}
