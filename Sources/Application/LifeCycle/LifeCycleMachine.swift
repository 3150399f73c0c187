import Glibc
import Platform

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
            + [.deliver(.willTerminate), .commit, .save, .finishBackgroundTasks, .enter(.notRunning), .exit]
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

/// A handler's event: its name, its cause and its time.
package struct LifeCycleEvent: Sendable, Hashable {
    /// A `LifeCycleCallback`'s raw value, or another moment's name: `willSave`, `didSave`.
    package var name: String
    package var cause: LifeCycleCause
    /// Whether a script simulated the event.
    package var simulated: Bool
    /// Seconds since 1970.
    package var time: Double

    /// - Parameters:
    ///   - name: the event's name.
    ///   - cause: its cause.
    ///   - simulated: whether a script simulated it.
    ///   - time: seconds since 1970; now, if not given.
    package init(name: String, cause: LifeCycleCause, simulated: Bool, time: Double = Self.now()) {
        self.name = name
        self.cause = cause
        self.simulated = simulated
        self.time = time
    }

    /// - Parameters:
    ///   - callback: the callback, which names the event.
    ///   - cause: its cause.
    ///   - simulated: whether a script simulated it.
    ///   - time: seconds since 1970; now, if not given.
    package init(
        _ callback: LifeCycleCallback, cause: LifeCycleCause, simulated: Bool = false, time: Double = Self.now()
    ) {
        self.init(name: callback.rawValue, cause: cause, simulated: simulated, time: time)
    }

    /// The wall clock, in seconds since 1970.
    ///
    /// - Returns: seconds with their fraction.
    package static func now() -> Double {
        Double(WallTime.now()) / 1e9
    }
}

/// One step of an event's transition; the steps are done in order.
package enum LifeCycleAction: Sendable, Hashable {
    /// Changes the application's state.
    case enter(ApplicationState)
    /// Calls the handlers, the delegate, and the observers.
    case deliver(LifeCycleCallback)
    /// Syncs the journal before the handlers run: the committed data is safe from then on.
    case syncJournal
    /// Commits the handlers' changes and syncs them.
    case commit
    /// Saves every store with changes, regardless of the handlers' outcome.
    case save
    /// Restores the state of the last run.
    case restore
    /// Saves the state for the next launch.
    case saveRestoration
    /// Drops that state: the user exited explicitly.
    case dropRestoration
    /// Waits for background tasks to end or expire before the process stops.
    case runBackgroundTasks
    /// Waits for them before the process ends, and saves what they have changed.
    case finishBackgroundTasks
    /// Stops as SIGTSTP does, and returns when continued. `resume` follows.
    case stopProcess
    case exit
}

/// A callback of the life cycle; the raw value is the event's name for scripts.
package enum LifeCycleCallback: String, Sendable, Hashable, CaseIterable {
    case willFinishLaunching
    case didFinishLaunching
    case didBecomeActive
    case willResignActive
    case didEnterBackground
    case willEnterForeground
    /// Continued without the terminal (SIGCONT after `bg`). Cocoa would say `didEnterBackground` again.
    case didResumeInBackground
    case willTerminate
    case didReceiveMemoryWarning

    /// The method of Cocoa's application delegate, `applicationDidEnterBackground`.
    package var applicationSelector: String { "application" + capitalized }

    /// The method of Cocoa's scene delegate; nil for callbacks that scenes do not have.
    package var sceneSelector: String? {
        switch self {
        case .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground: "scene" + capitalized
        default: nil
        }
    }

    /// Cocoa's notification of this moment; nil where it has none.
    package var notificationName: String? {
        switch self {
        case .willFinishLaunching, .didResumeInBackground: nil
        default: "UIApplication\(capitalized)Notification"
        }
    }

    /// The delegate's methods as Swift's `#function` prints them, the application's before the scene's.
    ///
    /// - Parameter isLaunch: at launch only scenes enter the foreground, not the application.
    /// - Returns: their names.
    package func functionNames(isLaunch: Bool = false) -> [String] {
        switch self {
        case .willFinishLaunching, .didFinishLaunching: ["application(_:\(rawValue)WithOptions:)"]
        case .didBecomeActive where isLaunch:
            ["sceneWillEnterForeground(_:)", "\(applicationSelector)(_:)", "sceneDidBecomeActive(_:)"]
        default: [applicationSelector, sceneSelector].compactMap { $0.map { $0 + "(_:)" } }
        }
    }

    private var capitalized: String { rawValue.prefix(1).uppercased() + String(rawValue.dropFirst()) }
}

/// An event that is illegal in the current state.
package struct IllegalTransition: Error, Sendable, Hashable, CustomStringConvertible {
    package var state: ApplicationState
    package var event: ApplicationEvent

    /// - Parameters:
    ///   - state: the application's state, which is unchanged.
    ///   - event: the illegal event.
    package init(state: ApplicationState, event: ApplicationEvent) {
        self.state = state
        self.event = event
    }

    package var message: String {
        let reason =
            switch (event, state) {
            case (_, .notRunning): "the application is not running"
            case (.launch, _): "the application is running already"
            case (_, .suspended): "the application is suspended and executes nothing until it is resumed"
            case (.pressHome, _): "the application is in the background already"
            case (.interrupt, .background), (.lock, .background): "the application is in the background"
            case (.interrupt, _): "an interruption is under way already"
            case (.endInterruption, _): "no interruption is under way"
            case (.lock, _): "the device is locked already"
            case (.unlock, _): "the device is not locked"
            default: "the application is \(state.rawValue)"
            }
        return "\(event.name) is not possible: \(reason)"
    }

    package var description: String { message }
}
