/// What can happen to an application, wherever it comes from: a signal, the terminal, or a script that simulates it.
public enum ApplicationEvent: Sendable, Hashable {
    /// The process began, with the terminal or, as with `&`, without it.
    case launch(inBackground: Bool)
    /// The user pressed Home and the process goes on: a script says so.
    case pressHome
    /// The user pressed Home and the process is to stop: SIGTSTP.
    case suspend
    /// The process was continued, or found itself in the foreground or out of it. In a state that fits already, nothing.
    case resume(inForeground: Bool)
    /// Something lies over the application: a call, say.
    case interrupt
    case endInterruption
    case lock
    case unlock
    /// The terminal's window lost the keyboard's focus. Terminals repeat themselves: so may this.
    case focusOut
    case focusIn
    /// The application has to go. A way out that the user chose explicitly drops the restoration archive.
    case terminate(explicitly: Bool)
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
