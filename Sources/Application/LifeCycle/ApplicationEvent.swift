/// An event of an application: from a signal, the terminal, or a script's simulation.
public enum ApplicationEvent: Sendable, Hashable {
    /// The process started, with the terminal or without it (`&`).
    case launch(inBackground: Bool)
    /// The user pressed Home and the process continues: simulated by a script.
    case pressHome
    /// The user pressed Home and the process stops: SIGTSTP.
    case suspend
    /// The process was continued, or changed between foreground and background. Ignored in a matching state.
    case resume(inForeground: Bool)
    /// The application is covered by an overlay, such as a call.
    case interrupt
    /// The interruption is over.
    case endInterruption
    /// The session is locked.
    case lock
    /// The session is unlocked.
    case unlock
    /// The terminal's window lost the keyboard focus. Terminals repeat this event.
    case focusOut
    /// The terminal has the focus again.
    case focusIn
    /// The application terminates. An explicit exit of the user drops the restoration archive.
    case terminate(explicitly: Bool)
    /// Memory is short.
    case memoryWarning

    /// The event's name without its arguments, for messages.
    public var name: String {
        switch self {
        case .launch: "launch"
        case .pressHome: "pressHome"
        case .suspend: "suspend"
        case .resume: "resume"
        case .interrupt: "interrupt"
        case .endInterruption: "endInterruption"
        case .lock: "lock"
        case .unlock: "unlock"
        case .focusOut: "focusOut"
        case .focusIn: "focusIn"
        case .terminate: "terminate"
        case .memoryWarning: "memoryWarning"
        }
    }
}
