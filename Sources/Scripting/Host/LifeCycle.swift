package import Application
import CPlatform
import Glibc
import Images
import Items
import Logging
package import Lua
import PropertyList

/// The life cycle: signals and scripts send events to its machine, and it performs the machine's actions. The last step
/// of a host.
package final class LifeCycle {
    let runtime: Runtime
    package let saver: StoreSaver
    let foreground: ForegroundCode
    package let delegate: ScriptDelegate
    package let backgroundTasks: BackgroundTasks
    package let restoration: RestorationState
    /// Handles Ctrl-C without running code, for the prompt.
    var onInterrupt: (() -> Void)?
    /// Handles signals outside the life cycle: a change of the window's size.
    var onOtherSignal: ((UnixSignal) -> Void)?
    /// Standard input, for scripts.
    private(set) lazy var input = StandardInput(self, handlesSignals: options.handlesSignals)
    /// Takes calls of functions of scripts from other threads.
    private(set) lazy var calls = HostCalls(self, timeLimit: options.timeLimit?.inSeconds)
    /// Whether an event is being handled.
    var isHandling = false
    /// Whether each callback is written to standard error.
    package var isTraced: Bool
    /// The latest ways through the states.
    package private(set) var trail = LifeCycleTrail()

    private let options: ScriptHostOptions
    private let stores: Stores
    private let service: ServiceManager
    private lazy var memory = MemoryWarnings(runtime, memoryPressure) { [unowned self] in
        handle(.memoryWarning, cause: .psi)
    }
    private let memoryPressure: MemoryPressureSource?
    private var machine = LifeCycleMachine()
    /// Events received while another one is handled; they follow it.
    private var queue: [(event: ApplicationEvent, cause: LifeCycleCause, simulated: Bool)] = []
    /// The controlling terminal.
    private let terminal: Terminal
    private var poller: JobStatePoller?
    private var signals: SignalSource?

    init(_ sandbox: Sandbox, _ stores: Stores, _ runtime: Runtime, _ options: ScriptHostOptions) {
        (self.stores, self.runtime, self.options) = (stores, runtime, options)
        isTraced = options.tracesLifeCycle
        (service, memoryPressure, terminal) = (sandbox.service, sandbox.memoryPressure, sandbox.terminal)
        saver = StoreSaver(stores, runtime, service, options.durability)
        if options.isInteractive, let path = stores.items.archivePath {
            saver.former = FormerArchive(path, sandbox.opened.files)
        }
        foreground = ForegroundCode(runtime)
        delegate = ScriptDelegate(runtime)
        backgroundTasks = BackgroundTasks(runtime)
        restoration = RestorationState(stores.restoration, runtime, saver)
        runtime.hooks.handlerFailed = { [unowned self] in backgroundTasks.endAll(of: $0) }
        runtime.hooks.handlerBegins = { [unowned self] in saver.beginChanges(inGroup: true) }
        runtime.scheduler.isInTransaction = { [items = stores.items] in items.isInTransaction }
        runtime.state.interruptHandler = { [unowned self] reasons in interrupted(reasons) }
        runtime.loop.onSignal = { [unowned self] signal in received(signal) }
    }

    private var status: ApplicationStatus { runtime.status }
    private var frontEnd: (any HostFrontEnd)? { runtime.output.frontEnd }

    // MARK: Launch and end

    /// Launches the application: the launch handlers, then the foreground (or the background).
    func launch() {
        let inBackground = options.handlesSignals && terminal.jobState == .background
        let name = LifeCycleCallback.didFinishLaunching.rawValue
        let failuresBefore = runtime.hooks.failureCount(of: name)
        handle(.launch(inBackground: inBackground), cause: .launch)
        if restoration.hasRestored, runtime.hooks.failureCount(of: name) > failuresBefore { restoration.dropAll() }
        guard status.exitCode == nil else { return }
        restoration.confirm()
        service.notify("READY=1\nSTATUS=\(status.state.rawValue)")
        guard options.handlesSignals else { return }
        // Only a loop that turns gives signs of life: a host that hangs is ended and started again.
        if let interval = service.watchdogInterval {
            runtime.loop.every(interval) { [service] in service.notify("WATCHDOG=1") }
        }
        memory.watch()
        watchGaps()
        let poller = JobStatePoller(look: { [terminal] in terminal.jobState }) { [unowned self] jobState in
            jobStateChanged(jobState)
        }
        poller.start(on: runtime.loop)
        self.poller = poller
    }

    /// Receives signals from now on.
    func takeSignals() throws {
        let interrupter = runtime.state.interrupter
        signals = try SignalSource(poster: runtime.loop.poster) { [watchdog = runtime.scheduler.watchdog] signal in
            let stops = [.interrupt, .terminate, .hangUp].contains(signal)
            interrupter.interrupt(stops ? [.events, .urgent] : .events)
            if stops { watchdog?.stopNow() }
        }
    }

    /// Ends the application for a script, after the transaction that it is in. Of the statuses that scripts choose the first
    /// one counts, also in a handler of an exit that none has chosen.
    ///
    /// - Throws: `LuaMismatch` for a status beyond a byte, of which the system would keep the last one: 256 would be a success.
    ///   A negative one, as in C, is that of its byte: -1 is 255.
    package func exit(_ code: Int64?) throws(LuaMismatch) {
        if let code {
            guard let status = Int32(exactly: code), (-128...255).contains(status) else {
                throw LuaMismatch("an exit status from 0 to 255 expected, got \(code)", argument: "code")
            }
            self.status.requestEnd(status, isChosen: true)
        }
        endAfterTransaction(.script)
    }

    /// Terminates in order: the handlers run, the items are saved.
    func terminate(_ code: Int32 = 0, cause: LifeCycleCause, explicitly: Bool) {
        guard status.exitCode == nil else { return }
        service.notify("STOPPING=1")
        runtime.loop.onFirstWait = nil
        // Later calls during the exit do not change its status.
        status.requestEnd(code)
        frontEnd?.applicationWillTerminate()
        handle(.terminate(explicitly: explicitly), cause: cause)
    }

    /// Ends at once or, inside a transaction, after the running code was unwound and the transaction rolled back.
    private func endAfterTransaction(_ cause: LifeCycleCause) {
        // A repeated request during the exit skips the handlers.
        if isHandling, machine.state == .notRunning, cause == .sigterm { status.skipHandlers() }
        guard stores.items.isInTransaction, runtime.state.depth > 0 else {
            return terminate(cause: cause, explicitly: cause == .script)
        }
        status.deferEnd(cause)
        runtime.state.interrupter.interrupt(.events)
    }

    /// Performs an exit that was deferred by a transaction.
    func endIfDeferred() {
        guard !stores.items.isInTransaction, let cause = status.takeDeferredEnd() else { return }
        terminate(cause: cause, explicitly: cause == .script)
    }

    /// Called when the host is released.
    func close() {
        signals?.stop()
        runtime.scheduler.watchdog?.close()
        calls.end()
        saver.shared?.end()
    }

    // MARK: Signals

    private func received(_ signal: UnixSignal) {
        switch signal {
        case .interrupt: if !backgroundTasks.endWait() { frontEndInterrupt() }
        case .stop: handle(.suspend, cause: .sigtstp)
        case .resume: handle(.resume(inForeground: isInForeground), cause: .sigcont)
        case .terminate: endAfterTransaction(.sigterm)
        case .hangUp: endAfterTransaction(.sighup)
        default: onOtherSignal?(signal)
        }
    }

    private func frontEndInterrupt() {
        // Also while the prompt shows a value, whose `__tostring` may not return.
        if saver.shared?.interruptWait() == true { return }
        if foreground.isIdle {
            // A timer's read has the terminal.
            if input.interrupt() { return }
            if let onInterrupt { return onInterrupt() }
        }
        foreground.cancel()
    }

    private func interrupted(_ reasons: LuaInterrupter.Reason) -> LuaState.InterruptDecision {
        let scheduler = runtime.scheduler
        if let error = scheduler.takeStop() {
            foreground.dropInterrupt()
            return scheduler.stopCurrent(error)
        }
        if reasons.contains(.memory), let error = memory.scriptsAreShort() { return scheduler.stopCurrent(error) }
        if reasons.contains(.events) {
            foreground.dropInterrupt()
            scheduler.drainPending()
            if status.skipsHandlers, status.exitCode == nil, isHandling {
                return scheduler.stopCurrent(LuaError(.cancelled, "stopped: a second SIGTERM came"))
            }
            if backgroundTasks.stopsCode { return scheduler.stopCurrent(TaskScheduler.interruption) }
            if status.exitCode != nil || status.deferredEnd != nil || status.isKilled() {
                return .stop(LuaError(.cancelled, "the application has ended"), depth: 1)
            }
            if foreground.isInterrupted {
                foreground.dropInterrupt()
                return scheduler.stopCurrent(TaskScheduler.interruption)
            }
            if let decision = scheduler.stopRequested() { return decision }
        }
        return reasons.contains(.deadline) ? scheduler.stopExpired() : .resume
    }

    private var isInForeground: Bool { [.foreground, .headless].contains(terminal.jobState) }

    /// Polls the process's relation to the terminal, as before each prompt: the shell's `fg` of a running job sends no
    /// signal. Handlers learn of a change before this returns, unless they are already running.
    ///
    /// - Returns: the state; one system call.
    func pollTerminal() -> Terminal.JobState { poller?.check() ?? terminal.jobState }

    private func jobStateChanged(_ jobState: Terminal.JobState) {
        switch jobState {
        case .foreground: handle(.resume(inForeground: true), cause: .terminal)
        case .background: handle(.resume(inForeground: false), cause: .terminal)
        case .hungUp: terminate(cause: .sighup, explicitly: false)
        case .headless: break
        }
    }

    // MARK: Events

    /// Handles an event and performs its actions in order before it returns. Events received meanwhile follow.
    package func handle(_ event: ApplicationEvent, cause: LifeCycleCause, simulated: Bool = false) {
        queue.append((event, cause, simulated))
        guard !isHandling else { return }
        // A script's limit does not stop the host's own work; handlers have their own.
        let watch = cubby_watch_work(cubby_watch())
        defer { _ = cubby_watch_work(watch) }
        isHandling = true
        defer { isHandling = false }
        let version = stores.items.isInTransaction ? stores.items.version : nil
        defer { if let version { warn(ofChangesInTransactionSince: version) } }
        while !queue.isEmpty {
            let next = queue.removeFirst()
            if next.event == .suspend { machine.exitsOnSuspend = exitsOnSuspend }
            // An illegal transition, from a late event, changes nothing.
            let state = machine.state
            guard let actions = try? machine.handle(next.event) else { continue }
            if let way = LifeCycleWay(from: state, actions, next.cause, isSimulated: next.simulated) { trail.add(way) }
            for action in actions { perform(action, next.cause, next.simulated) }
            updateFrontEnd(next.event)
        }
        // Running code ends at its next instruction.
        if status.exitCode != nil, runtime.state.depth > 0 { runtime.state.interrupter.interrupt(.events) }
    }

    /// Says that what handlers changed while a transaction was open depends on it.
    private func warn(ofChangesInTransactionSince version: UInt64) {
        guard stores.items.isInTransaction, stores.items.version != version else { return }
        runtime.log.logger.warning(
            "handlers changed items while a transaction was open: if it fails, their changes are rolled back with it")
    }

    /// Whether an event waits that must not wait for a user: the next one of the process, or the end.
    var hasUrgentEvent: Bool {
        queue.contains { next in
            if case .terminate = next.event { true } else { next.event == .suspend }
        }
    }

    /// Gives the terminal to the front end while the process is in the foreground.
    private func updateFrontEnd(_ event: ApplicationEvent) {
        guard case .resume(let inForeground) = event, status.exitCode == nil else { return }
        if inForeground {
            frontEnd?.applicationDidEnterForeground()
        } else {
            frontEnd?.applicationWillEnterBackground()
            input.checkJobState()
        }
    }

    /// Handles a script's simulated event.
    ///
    /// - Throws: `IllegalTransition`; `StoreError` if the script's changes were rolled back: nothing happens then.
    package func simulate(_ event: ApplicationEvent) throws {
        // Before the launch only the process can be stopped or ended.
        if machine.state == .notRunning { throw IllegalTransition(state: .notRunning, event: event) }
        if !isHandling {
            var trial = machine
            _ = try trial.handle(event)
        }
        try saver.settle()
        if event == .memoryWarning { memory.source = "script" }
        handle(event, cause: .script, simulated: true)
    }

    /// Whether Home ends the application: the option, else the preference `UIApplicationExitsOnSuspend`.
    private var exitsOnSuspend: Bool {
        options.exitsOnSuspend ?? (stores.defaults.value(forKey: "UIApplicationExitsOnSuspend") == .boolean(true))
    }

    private func perform(_ action: LifeCycleAction, _ cause: LifeCycleCause, _ simulated: Bool) {
        switch action {
        case .enter(let state): status.enter(state)
        case .deliver(let callback): deliver(callback, cause, simulated)
        case .syncJournal, .commit: saver.syncCommitted()
        case .save:
            status.saveFailure = saver.saveNow(cause, simulated)
            runtime.hooks.endPhase()
        case .restore: restoration.restore()
        case .saveRestoration: restoration.save()
        case .dropRestoration: restoration.drop()
        case .runBackgroundTasks: runBackgroundTasks()
        case .finishBackgroundTasks: finishBackgroundTasks(cause, simulated)
        case .stopProcess: stopProcess(cause)
        case .exit:
            status.end(cause)
            calls.end()
        }
    }

    // MARK: Callbacks

    private func deliver(_ callback: LifeCycleCallback, _ cause: LifeCycleCause, _ simulated: Bool) {
        let (hooks, images) = (runtime.hooks, stores.images)
        let isLaunch = status.state == .active && cause == .launch
        var event = LifeCycleEvent(callback, cause: cause, simulated: simulated)
        let isLimited = callback == .didEnterBackground || callback == .willTerminate
        if isLimited {
            hooks.beginPhase(seconds: options.callbackLimit.inSeconds)
            extendTimeout(options.callbackLimit.inSeconds)
        }
        let deadline = isLimited ? hooks.handlersDeadline : nil
        trace(callback, event, isLaunch: isLaunch)

        var details: [String: LuaValue] = [:]
        if callback == .didReceiveMemoryWarning {
            runtime.log.logger.log(level: memory.level(), "Received memory warning.")
            details["source"] = .text(memory.source)
        }
        event.name = callback.rawValue
        let scriptEvent = ScriptEvent(event, details: details)
        // Cocoa's delegate methods come before the `on` handlers.
        delegate.call(callback, event, isLaunch: isLaunch, until: deadline)
        if callback == .didReceiveMemoryWarning { images.clearCache() }
        hooks.deliver(scriptEvent, until: deadline)
        if let name = callback.notificationName { post(name, until: deadline) }
        if callback == .didEnterBackground, images.flushesInBackground, images.cacheCount > 0 { images.clearCache() }
        if callback == .didReceiveMemoryWarning { runtime.returnMemory() }
    }

    private func post(_ name: String, until deadline: MonotonicTime?) {
        guard runtime.notifications.observerCount > 0 else { return }
        runtime.hooks.observersDeadline = deadline
        defer { runtime.hooks.observersDeadline = nil }
        runtime.notifications.post(name)
    }

    /// Logs each delegate method, as `#function` prints it.
    private func trace(_ callback: LifeCycleCallback, _ event: LifeCycleEvent, isLaunch: Bool) {
        guard isTraced else { return }
        let names = callback.functionNames(isLaunch: isLaunch)
        let origin = event.simulated ? "\(event.cause.rawValue), simulated" : event.cause.rawValue
        for name in names {
            // With the longest state and cause behind it, a line fits 80 columns.
            let gap = String(repeating: " ", count: max(1, 48 - name.utf8.count))
            runtime.output.putError("\(name)\(gap)\(status.state.rawValue), \(origin)\n")
        }
    }

    // MARK: Background and stop

    /// The time between entering the background and the stop.
    func runBackgroundTasks() {
        defer { dropSuspensions() }
        guard !backgroundTasks.isEmpty else { return }
        // A second Ctrl-Z, or an exit, expires all tasks at once.
        backgroundTasks.wait(seconds: options.backgroundLimit.inSeconds, unless: { !queue.isEmpty }) {
            saver.syncCommitted()
            saver.saveNow(.sigtstp, false)
        }
    }

    /// The time at the end, after the last save: for the tasks that its handlers have begun, and for all others.
    private func finishBackgroundTasks(_ cause: LifeCycleCause, _ simulated: Bool) {
        guard !backgroundTasks.isEmpty else { return }
        let limit = options.graceLimit.inSeconds
        extendTimeout(limit + options.callbackLimit.inSeconds)
        service.notify("STATUS=waiting for background tasks")
        backgroundTasks.waitAtEnd(seconds: limit, unless: { status.skipsHandlers }) {
            saver.syncCommitted()
            runtime.hooks.beginPhase(seconds: options.callbackLimit.inSeconds)
            status.saveFailure = saver.saveNow(cause, simulated)
            runtime.hooks.endPhase()
        }
        // What the last expiration handlers have changed: in the journal, for the next launch.
        saver.syncCommitted()
    }

    /// Asks the service manager for time, and a second more.
    private func extendTimeout(_ seconds: Double) {
        service.notify("EXTEND_TIMEOUT_USEC=\(Int(min((seconds + 1) * 1_000_000, 1e15)))")
    }

    /// Drops further Ctrl-Zs before the stop: they mean the same stop.
    private func dropSuspensions() {
        runtime.loop.drainPending()
        queue.removeAll { $0.event == .suspend }
    }

    private func stopProcess(_ cause: LifeCycleCause) {
        runtime.output.flush()
        frontEnd?.applicationWillStop()
        saver.shared?.suspend()
        service.notify("STATUS=suspended")
        let reads = cause == .terminal
        let signal = reads || input.waitsInBackground ? UnixSignal.backgroundRead : .stop
        var ends = false
        // What came since the stop was asked for is newer: a continuation, a request to end, or the terminal, which `fg`
        // of a running job gives without a signal.
        let outcome = signals?.stop(by: signal) { [unowned self] in
            dropSuspensions()
            ends = queue.contains { if case .terminate = $0.event { true } else { false } }
            return ends || queue.contains { $0.cause == .sigcont } || (reads && isInForeground)
        }
        if outcome == nil { ProcessStopper.stopUntilContinued() }
        saver.shared?.resume()
        _ = poller?.refresh()
        if let outcome, signal == .backgroundRead { input.didStop(outcome) }
        // The continuation itself is told here, first in the queue: events received while the process was stopped find it
        // resumed.
        runtime.loop.drainPending()
        queue.removeAll { $0.cause == .sigcont }
        queue.insert((.resume(inForeground: !ends && isInForeground), .sigcont, false), at: 0)
    }

    /// Handles sleep of the machine and freezes of the process, which are detected afterwards.
    private func watchGaps() {
        runtime.loop.onGap = { [unowned self] gap in
            let (name, seconds) =
                switch gap {
                case .slept(let seconds): ("systemDidWake", seconds)
                case .frozen(let seconds): ("wasSuspended", seconds)
                }
            guard status.exitCode == nil else { return }
            runtime.hooks.deliver(
                ScriptEvent(
                    LifeCycleEvent(name: name, cause: .clock, simulated: false),
                    details: ["seconds": .number(seconds)]))
        }
    }
}
