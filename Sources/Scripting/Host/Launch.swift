public import Application
import Files
import Glibc
import Items
import Logging
import Lua
import PropertyList
import Wording

/// The launch and the end of the application.
extension ScriptHost {
    /// Launches the application: `init.lua`, the launch handlers, then the foreground (or the background).
    public func launch() {
        if options.runsInitScript { runInitScript() }
        // It may have ended the application, or a signal that came meanwhile.
        guard exitCode == nil else { return }
        let inBackground = options.handlesSignals && lifeCycle.terminal.presence == .background
        let failuresBefore = hooks.failureCount(of: LifeCycleCallback.didFinishLaunching.rawValue)
        handle(.launch(inBackground: inBackground), cause: .launch)
        if lifeCycle.hasRestored, hooks.failureCount(of: LifeCycleCallback.didFinishLaunching.rawValue) > failuresBefore
        {
            stores.restoration.drop()
            lifeCycle.restoration = nil
            logger.warning("The state of the last run is dropped: restoring it failed")
        }
        guard exitCode == nil else { return }
        stores.restoration.confirm()
        sandbox.service.notify("READY=1\nSTATUS=\(applicationState.rawValue)")
        guard options.handlesSignals else { return }
        if options.watchesInitScript { watchInitScript() }
        watchMemory()
        watchGaps()
        let terminal = lifeCycle.terminal
        let poller = PresencePoller(look: { terminal.presence }) { [unowned self] presence in presenceChanged(presence)
        }
        poller.start(on: loop)
        lifeCycle.poller = poller
    }

    /// Ends the application with a status that a script has chosen: the first choice, also in a handler of an exit that
    /// none has chosen.
    func exit(_ code: Int32) {
        if !lifeCycle.hasChosenExitCode { lifeCycle.requestedExitCode = code }
        lifeCycle.hasChosenExitCode = true
        terminate(code, cause: .script, explicitly: true)
    }

    /// Terminates in order: the handlers run, the items are saved. The host is unusable afterwards.
    public func terminate(_ code: Int32 = 0, cause: LifeCycleCause, explicitly: Bool) {
        guard exitCode == nil else { return }
        sandbox.service.notify("STOPPING=1")
        loop.onFirstWait = nil
        // Later calls during the exit do not change its status.
        if lifeCycle.requestedExitCode == nil { lifeCycle.requestedExitCode = code }
        frontEnd?.applicationWillTerminate()
        handle(.terminate(explicitly: explicitly), cause: cause)
        // Running code ends at its next instruction.
        if exitCode != nil, state.depth > 0 { state.interrupter.interrupt(.events) }
    }

    /// Whether a signal, the terminal's end or Home ended the application, rather than its script or the end of its
    /// input.
    package var wasEndedBySystem: Bool {
        switch exitCause {
        case .sigterm, .sighup, .sigtstp, .terminal: true
        default: false
        }
    }

    /// Serves events and timers until the application has ended.
    public func runUntilTerminated() {
        output.flush()
        loop.run(until: { exitCode != nil })
    }

    /// Whether Home ends the application: the option, else the preference `UIApplicationExitsOnSuspend`.
    var exitsOnSuspend: Bool {
        if let given = options.exitsOnSuspend { return given }
        return defaults.value(forKey: "UIApplicationExitsOnSuspend") == .boolean(true)
    }

    // MARK: State for the next launch

    /// `app.restoration`, created on first access.
    var restorationTable: LuaTable {
        if let table = lifeCycle.restoration { return table }
        let table = state.makeTable()
        lifeCycle.restoration = table
        return table
    }

    func restoreState() {
        switch stores.restoration.restore() {
        case .none: break
        case .refused(let reason): logger.warning("The state of the last run is dropped: \(reason)")
        case .state(let values):
            guard case .table(let table)? = try? self.values.lua(.fields(values)) else {
                return logger.warning("The state of the last run is dropped: it is too large for the memory of scripts")
            }
            lifeCycle.restoration = table
            lifeCycle.hasRestored = true
        }
    }

    func saveRestorationState() {
        guard let table = lifeCycle.restoration else { return stores.restoration.drop() }
        do {
            switch try values.propertyList(.table(table), path: "app.restoration") {
            case .dictionary(let state):
                guard let fields = state.fields else {
                    return logger.warning("app.restoration is not kept: a table with names as keys expected")
                }
                try stores.restoration.save(fields)
            case .array([]): stores.restoration.drop()
            default: logger.warning("app.restoration is not kept: a table with names as keys expected")
            }
        } catch let error as ValueBridge.Refusal {
            logger.warning("app.restoration is not kept: \(error.message)")
        } catch {
            guard let text = writeFailures.text(.restoration, error) else { return }
            logger.warning("app.restoration is not kept: \(text)")
        }
    }
}
