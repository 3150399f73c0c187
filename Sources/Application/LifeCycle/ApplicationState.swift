/// An application's state, in Cocoa's terms.
package enum ApplicationState: String, Sendable, Hashable, CaseIterable {
    /// Not launched, or terminated: executes no code, has no memory.
    case notRunning
    /// In the foreground, but receiving no events: between two states, or behind an overlay.
    case inactive
    /// In the foreground and receiving events.
    case active
    /// Not visible, still executing code.
    case background
    /// In memory, executing no code; may be terminated without notice.
    case suspended
}

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
    package var name: String {
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

/// An event of the life cycle that changed the state, with the way from the state before.
package struct LifeCycleWay: Sendable, Hashable {
    /// A step of the way.
    package enum Step: Sendable, Hashable {
        case callback(LifeCycleCallback)
        case save
        case state(ApplicationState)
    }

    package let cause: LifeCycleCause
    /// Whether a script simulated the event.
    package let isSimulated: Bool
    /// The state before.
    package let start: ApplicationState
    package let steps: [Step]

    /// The way of actions; nil if they enter no state.
    package init?(
        from start: ApplicationState, _ actions: [LifeCycleAction], _ cause: LifeCycleCause, isSimulated: Bool
    ) {
        let steps: [Step] = actions.compactMap { action in
            switch action {
            case .enter(let state): .state(state)
            case .deliver(let callback): .callback(callback)
            case .save: .save
            default: nil
            }
        }
        guard steps.contains(where: { if case .state = $0 { true } else { false } }) else { return nil }
        (self.start, self.steps, self.cause, self.isSimulated) = (start, steps, cause, isSimulated)
    }

    /// The states, with that before.
    package var states: [ApplicationState] {
        [start] + steps.compactMap { if case .state(let state) = $0 { state } else { nil } }
    }
}

/// The latest ways of an application.
package struct LifeCycleTrail: Sendable, Hashable {
    private static let limit = 16

    /// The ways, the latest last.
    package private(set) var ways: [LifeCycleWay] = []

    package init() {}

    package mutating func add(_ way: LifeCycleWay) {
        if ways.count == Self.limit { ways.removeFirst() }
        ways.append(way)
    }

    /// The ways since the application was last in the state where the latest way ended: after a return to the foreground,
    /// the way out and the way back. A few at most.
    package var latest: ArraySlice<LifeCycleWay> {
        guard let end = ways.last?.states.last else { return [] }
        let first = ways.lastIndex { $0.states.dropLast().contains(end) } ?? ways.startIndex
        return ways[max(first, ways.endIndex - 4)...]
    }
}
