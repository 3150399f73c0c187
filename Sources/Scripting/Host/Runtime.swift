package import Application
import CPlatform
import Logging
package import Lua
import TimeZones

/// What scripts run in: the step after the stores.
package struct Runtime {
    /// The Lua state in which the scripts run.
    package let state: LuaState
    /// The event loop, with timers and watched descriptors.
    package let loop: EventLoop
    package let scheduler: TaskScheduler
    package let hooks: HookCenter
    /// Values of property lists, dates and the like in the state.
    package let values: ValueBridge
    /// What the host says.
    package let log: HostLog
    let status = ApplicationStatus()
    /// Notifications between scripts, the host and the embedding program.
    package let notifications = ApplicationNotificationCenter()
    /// The texts of chunks by name, for excerpts in error messages.
    let sources = SourceTexts()
    /// The modules that `require` has read.
    let modules = LoadedModules()
    let entryWarnings = EntryWarnings()
    let replacements = Replacements()

    /// - Throws: `LuaError`, or the error of the loop's descriptors.
    init(_ options: ScriptHostOptions, _ log: HostLog) throws {
        self.log = log
        state = try LuaState(limits: LuaLimits(memory: options.memoryLimit, output: options.outputLimit))
        loop = try EventLoop()
        scheduler = TaskScheduler(state, loop: loop)
        values = ValueBridge(state, zones: ZoneDatabase(variable: options.timeZone ?? ProcessEnvironment.value("TZ")))
        hooks = HookCenter(scheduler, eventClass: ScriptEvent.makeClass(in: state))
        scheduler.isEnding = { [status] in status.isEnding }
        scheduler.entryChanged = { [log, entryWarnings] entry in
            log.output.entry = entry
            entryWarnings.reset()
        }
        hooks.observerLimit = min(options.timeLimit?.inSeconds ?? hooks.observerLimit, hooks.observerLimit)
        hooks.callbackLimit = options.callbackLimit.inSeconds
        hooks.skipsHandlers = { [status] in status.skipsHandlers || status.isKilled() }
        hooks.hasEnded = { [status] in status.stopsCode }
        hooks.report = { [log, sources] failure in
            log.report("error in \(failure.subject): \(ErrorText.describe(failure.error, sources: sources))")
        }
        hooks.warn = { [log] text in log.logger.warning("\(text)") }
    }

    package var output: ScriptOutput { log.output }

    /// The watchdog of this thread, if there is a plan for one.
    func makeWatchdog(_ plan: StopWatchdog.Plan?) -> StopWatchdog? {
        guard let plan else { return nil }
        let interrupter = state.interrupter
        let subject = StopWatchdog.Subject(beats: { interrupter.beats }, place: { interrupter.place(within: 1) })
        return StopWatchdog(plan, subject, loop.pulse)
    }

    /// Returns the memory that scripts freed to the system.
    package func returnMemory() {
        state.collectGarbage()
        _ = cubby_trim_memory()
    }
}

/// How far the application's life has come, for all that ends with it. The life cycle changes it.
final class ApplicationStatus {
    /// The state as handlers see it: it changes at the same times as in Cocoa.
    private(set) var state = ApplicationState.notRunning
    /// Set when the application has ended: the process's exit status.
    private(set) var exitCode: Int32?
    /// The cause of the application's end; nil while it runs.
    private(set) var exitCause: LifeCycleCause?
    /// The failure of the last save before the background or the end; nil when it succeeded, or nothing had to be
    /// saved.
    var saveFailure: (any Error)?
    /// The cause of an exit that waits for the rollback of a transaction: half a transaction is never saved.
    private(set) var deferredEnd: LifeCycleCause?
    /// Whether a second SIGTERM came during the exit: handlers are skipped, the save is not.
    private(set) var skipsHandlers = false
    /// The status of the first request to end; nil before it.
    private var requestedCode: Int32?
    /// Whether a script has chosen the status.
    private var hasChosenCode = false

    /// Whether a test has the process as if killed: nothing of it runs any more.
    var isKilled: () -> Bool = { false }

    /// Whether nested waits must end now.
    var isEnding: Bool { exitCode != nil || skipsHandlers || isKilled() }

    /// Whether code is stopped because the application ends, which is no failure of that code. Handlers that a second
    /// SIGTERM stops are reported.
    var stopsCode: Bool {
        exitCode != nil || deferredEnd != nil || (requestedCode != nil && !skipsHandlers) || isKilled()
    }

    func enter(_ state: ApplicationState) { self.state = state }

    /// Requests the end with a status: the first one counts, or the first that a script has chosen.
    func requestEnd(_ code: Int32, isChosen: Bool = false) {
        if isChosen ? !hasChosenCode : requestedCode == nil { requestedCode = code }
        hasChosenCode = hasChosenCode || isChosen
    }

    func deferEnd(_ cause: LifeCycleCause) { deferredEnd = cause }

    func takeDeferredEnd() -> LifeCycleCause? {
        defer { deferredEnd = nil }
        return deferredEnd
    }

    func skipHandlers() { skipsHandlers = true }

    /// Ends the application with the requested status.
    func end(_ cause: LifeCycleCause) {
        exitCause = cause
        exitCode = requestedCode ?? 0
    }
}
