/// The state machine of an application's life: events in, actions out.
///
/// Independent of signals, files and clocks. `state` is the state after all actions of the last event; the `enter`
/// actions mark the moments at which Cocoa changes the visible state.
package struct LifeCycleMachine: Sendable, Hashable {
    /// The reasons why a foreground application is inactive. Several may hold at once.
    private struct Overlay: OptionSet, Sendable, Hashable {
        let rawValue: UInt8
        static let interruption = Overlay(rawValue: 1)
        static let lock = Overlay(rawValue: 2)
        static let focus = Overlay(rawValue: 4)
    }

    package private(set) var state: ApplicationState = .notRunning
    /// Cocoa's `UIApplicationExitsOnSuspend`: Home ends the application instead of suspending it.
    package var exitsOnSuspend = false
    private var overlay: Overlay = []
    /// Whether the application has ended; otherwise `notRunning` is the time before the launch.
    private var hasEnded = false

    package init() {}

    /// Handles an event.
    ///
    /// - Parameter event: the event.
    /// - Returns: the actions, in order; none in a matching state.
    /// - Throws: `IllegalTransition`; the machine is unchanged.
    package mutating func handle(_ event: ApplicationEvent) throws(IllegalTransition) -> [LifeCycleAction] {
        switch (event, state) {
        case (.launch(let inBackground), .notRunning) where !hasEnded:
            return launch(inBackground: inBackground)
        // Before the launch, while `init.lua` runs, nothing is delivered; the process stops and ends as at any other time.
        case (.suspend, .notRunning) where !hasEnded:
            return exitsOnSuspend ? endBeforeLaunch() : [.syncJournal, .commit, .save, .stopProcess]
        case (.resume, .notRunning) where !hasEnded: return []
        case (.terminate, .notRunning) where !hasEnded: return endBeforeLaunch()

        case (.pressHome, .active), (.pressHome, .inactive):
            return enterBackground()
        case (.suspend, .active), (.suspend, .inactive):
            let steps = enterBackground()
            return exitsOnSuspend ? steps + end(explicitly: false) : steps + stop()
        case (.suspend, .background):
            if exitsOnSuspend { return [.syncJournal] + end(explicitly: false) }
            // The callbacks were delivered before; this saves later changes, if any.
            return [.syncJournal, .commit, .save] + stop()

        case (.resume(true), .suspended):
            return [.enter(.background)] + enterForeground()
        case (.resume(true), .background):
            return enterForeground()
        case (.resume(false), .suspended):
            state = .background
            return [.enter(.background), .deliver(.didResumeInBackground)]
        case (.resume(false), .active), (.resume(false), .inactive):
            // Stopped and continued from outside without notice, or the shell took the terminal.
            return enterBackground()
        case (.resume(true), .active), (.resume(true), .inactive), (.resume(false), .background):
            return []

        case (.interrupt, .active), (.interrupt, .inactive): return try cover(.interruption, event)
        case (.endInterruption, .inactive): return try uncover(.interruption, event)
        case (.lock, .active), (.lock, .inactive): return try cover(.lock, event)
        case (.unlock, .inactive): return try uncover(.lock, event)
        case (.focusOut, .active), (.focusOut, .inactive):
            return overlay.contains(.focus) ? [] : try cover(.focus, event)
        case (.focusIn, .inactive):
            return overlay.contains(.focus) ? try uncover(.focus, event) : []
        case (.focusIn, .active), (.focusIn, .background), (.focusOut, .background):
            return []

        case (.terminate(let explicitly), .active), (.terminate(let explicitly), .inactive):
            return enterBackground() + end(explicitly: explicitly)
        case (.terminate(let explicitly), .background):
            return [.syncJournal] + end(explicitly: explicitly)

        case (.memoryWarning, .active), (.memoryWarning, .inactive), (.memoryWarning, .background):
            return [.deliver(.didReceiveMemoryWarning)]

        default:
            throw IllegalTransition(state: state, event: event)
        }
    }

    /// The two launch callbacks with the restoration between them, then foreground or background.
    private mutating func launch(inBackground: Bool) -> [LifeCycleAction] {
        let launching: [LifeCycleAction] = [
            .enter(inBackground ? .background : .inactive),
            .deliver(.willFinishLaunching), .restore, .deliver(.didFinishLaunching),
        ]
        if inBackground {
            state = .background
            return launching + [.deliver(.didEnterBackground), .commit, .save]
        }
        state = .active
        return launching + [.enter(.active), .deliver(.didBecomeActive)]
    }

    /// From the foreground to the background: the data first, then the handlers; the save is unconditional.
    private mutating func enterBackground() -> [LifeCycleAction] {
        var steps: [LifeCycleAction] = [.syncJournal]
        if state == .active { steps += [.deliver(.willResignActive), .enter(.inactive)] }
        state = .background
        overlay = []
        return steps + [.enter(.background), .deliver(.didEnterBackground), .commit, .save, .saveRestoration]
    }

    private mutating func enterForeground() -> [LifeCycleAction] {
        state = .active
        overlay = []
        return [.deliver(.willEnterForeground), .enter(.inactive), .enter(.active), .deliver(.didBecomeActive)]
    }

    private mutating func stop() -> [LifeCycleAction] {
        state = .suspended
        return [.runBackgroundTasks, .enter(.suspended), .stopProcess]
    }

    /// Ends the process; the state of the last run stays for the next launch.
    private mutating func endBeforeLaunch() -> [LifeCycleAction] {
        hasEnded = true
        return [.syncJournal, .commit, .save, .exit]
    }

    /// Terminates an application in the background.
    private mutating func end(explicitly: Bool) -> [LifeCycleAction] {
        state = .notRunning
        hasEnded = true
        return (explicitly ? [.dropRestoration] : [])
            + [.deliver(.willTerminate), .commit, .save, .enter(.notRunning), .exit]
    }

    private mutating func cover(_ reason: Overlay, _ event: ApplicationEvent) throws(IllegalTransition)
        -> [LifeCycleAction]
    {
        guard !overlay.contains(reason) else { throw IllegalTransition(state: state, event: event) }
        overlay.insert(reason)
        guard state == .active else { return [] }
        state = .inactive
        return [.deliver(.willResignActive), .enter(.inactive)]
    }

    private mutating func uncover(_ reason: Overlay, _ event: ApplicationEvent) throws(IllegalTransition)
        -> [LifeCycleAction]
    {
        guard overlay.contains(reason) else { throw IllegalTransition(state: state, event: event) }
        overlay.remove(reason)
        guard overlay.isEmpty else { return [] }
        state = .active
        return [.enter(.active), .deliver(.didBecomeActive)]
    }
}
