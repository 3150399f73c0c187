public import Application
import CPlatform
import Glibc
import Images
import Items
import Logging
import Lua
import Wording

/// The life cycle: signals and scripts send events to the machine, and its actions are performed here.
extension ScriptHost {
    // MARK: Signals

    func received(_ signal: UnixSignal) {
        switch signal {
        case .interrupt: frontEndInterrupt()
        case .stop: handle(.suspend, cause: .sigtstp)
        case .resume: handle(.resume(inForeground: isInForeground), cause: .sigcont)
        case .terminate: endAfterTransaction(.sigterm)
        case .hangUp: endAfterTransaction(.sighup)
        default: onOtherSignal?(signal)
        }
    }

    /// Ends at once or, inside a transaction, after the running code was unwound and the transaction rolled back.
    private func endAfterTransaction(_ cause: LifeCycleCause) {
        // A repeated request during the exit skips the handlers.
        if lifeCycle.isHandling, machine.state == .notRunning, cause == .sigterm { lifeCycle.skipsHandlers = true }
        guard items.isInTransaction, state.depth > 0 else { return terminate(cause: cause, explicitly: false) }
        lifeCycle.deferredTermination = cause
    }

    /// Performs an exit that was deferred by a transaction.
    func endIfDeferred() {
        guard let cause = lifeCycle.deferredTermination, !items.isInTransaction else { return }
        lifeCycle.deferredTermination = nil
        terminate(cause: cause, explicitly: false)
    }

    private func frontEndInterrupt() {
        // Also while the prompt shows a value, whose `__tostring` may not return.
        if shared?.interruptWait() == true { return }
        if foreground == nil, scheduler.current == nil, state.depth == 0 {
            // A timer's read has the terminal.
            if input.interrupt() { return }
            if let onInterrupt { return onInterrupt() }
        }
        cancelForeground()
    }

    var isInForeground: Bool {
        let presence = lifeCycle.terminal.presence
        return presence == .foreground || presence == .headless
    }

    /// Polls the process's relation to the terminal, as before each prompt: the shell's `fg` of a running job sends no
    /// signal. Handlers learn of a change before this returns, unless they are already running.
    ///
    /// - Returns: the presence; one system call.
    @discardableResult
    package func pollTerminal() -> Terminal.Presence { lifeCycle.poller?.check() ?? lifeCycle.terminal.presence }

    func presenceChanged(_ presence: Terminal.Presence) {
        switch presence {
        case .foreground: handle(.resume(inForeground: true), cause: .terminal)
        case .background: handle(.resume(inForeground: false), cause: .terminal)
        case .hungUp: terminate(cause: .sighup, explicitly: false)
        case .headless: break
        }
    }

    // MARK: A front end that waits for the user

    /// One turn of the loop for a front end's question or pager; false if the code that it is for must stop: the
    /// application ends, its time is up.
    package func turn(timeout: Double?) -> Bool { scheduler.turn(timeout: timeout) }

    /// Whether the running code must stop, and a question on its behalf with it.
    package var mustEndWait: Bool { scheduler.mustEndWait }

    /// Runs a body that waits for the user. The time of handlers of the life cycle runs on; other code's does not.
    package func waitingForUser<Value>(_ body: () -> Value) -> Value {
        lifeCycle.isHandling ? body() : scheduler.withoutTime(body)
    }

    // MARK: Events

    /// Handles an event and performs its actions in order before it returns. Events received meanwhile follow.
    public func handle(_ event: ApplicationEvent, cause: LifeCycleCause, simulated: Bool = false) {
        lifeCycle.queue.append((event, cause, simulated))
        guard !lifeCycle.isHandling else { return }
        // A script's limit does not stop the host's own work; handlers have their own.
        let watch = cubby_watch_work(cubby_watch())
        defer { _ = cubby_watch_work(watch) }
        lifeCycle.isHandling = true
        defer { lifeCycle.isHandling = false }
        while !lifeCycle.queue.isEmpty {
            let next = lifeCycle.queue.removeFirst()
            if next.event == .suspend { machine.exitsOnSuspend = exitsOnSuspend }
            // An illegal transition, from a late event, changes nothing.
            guard let actions = try? machine.handle(next.event) else { continue }
            for action in actions { perform(action, next.cause, next.simulated) }
            updateFrontEnd(next.event)
        }
    }

    /// Gives the terminal to the front end while the process is in the foreground.
    private func updateFrontEnd(_ event: ApplicationEvent) {
        guard case .resume(let inForeground) = event, exitCode == nil else { return }
        if inForeground {
            frontEnd?.applicationDidEnterForeground()
        } else {
            frontEnd?.applicationWillEnterBackground()
            input.checkPresence()
        }
    }

    /// Handles a script's simulated event, and throws when it is illegal.
    func simulate(_ event: ApplicationEvent) throws(IllegalTransition) {
        // Before the launch only the process can be stopped or ended.
        if machine.state == .notRunning { throw IllegalTransition(state: .notRunning, event: event) }
        if !lifeCycle.isHandling {
            var trial = machine
            _ = try trial.handle(event)
        }
        commit()
        if event == .memoryWarning { lifeCycle.memorySource = "script" }
        handle(event, cause: .script, simulated: true)
    }

    private func perform(_ action: LifeCycleAction, _ cause: LifeCycleCause, _ simulated: Bool) {
        switch action {
        case .enter(let state): applicationState = state
        case .deliver(let callback): deliver(callback, cause, simulated)
        case .syncJournal, .commit: syncCommitted()
        case .save:
            saveFailure = saveNow(cause, simulated)
            lifeCycle.phaseDeadline = nil
        case .restore: restoreState()
        case .saveRestoration: saveRestorationState()
        case .dropRestoration: stores.restoration.drop()
        case .runBackgroundTasks: runBackgroundTasks()
        case .stopProcess: stopProcess()
        case .exit:
            exitCause = cause
            exitCode = lifeCycle.requestedExitCode ?? 0
            calls?.end()
        }
    }

    // MARK: Callbacks

    private func deliver(_ callback: LifeCycleCallback, _ cause: LifeCycleCause, _ simulated: Bool) {
        let isLaunch = applicationState == .active && cause == .launch
        var event = LifeCycleEvent(callback, cause: cause, simulated: simulated)
        let isLimited = callback == .didEnterBackground || callback == .willTerminate
        if isLimited {
            lifeCycle.phaseDeadline = MonotonicTime.now().advanced(by: options.callbackLimit)
            sandbox.service.notify("EXTEND_TIMEOUT_USEC=\(Int((options.callbackLimit + 1) * 1_000_000))")
        }
        let deadline = isLimited ? handlersDeadline : nil
        trace(callback, event, isLaunch: isLaunch)

        var details: [String: LuaValue] = [:]
        if callback == .didReceiveMemoryWarning {
            logger.log(level: levelOfMemoryWarning(), "Received memory warning.")
            details["source"] = .text(lifeCycle.memorySource)
        }
        event.name = callback.rawValue
        let scriptEvent = ScriptEvent(event, details: details)
        callDelegate(callback, event, isLaunch: isLaunch, until: deadline)
        if callback == .didReceiveMemoryWarning { images.clearCache() }
        hooks.deliver(scriptEvent, until: deadline)
        if let name = callback.notificationName { post(name, until: deadline) }
        if callback == .didEnterBackground, images.flushesInBackground, images.cacheCount > 0 { images.clearCache() }
        if callback == .didReceiveMemoryWarning { runtime.returnMemory() }
    }

    /// The handlers' deadline, which leaves time for the save.
    var handlersDeadline: MonotonicTime? {
        lifeCycle.phaseDeadline.map {
            $0.advanced(by: -min(LifeCycleContext.reservedForSave, options.callbackLimit / 2))
        }
    }

    private func post(_ name: String, until deadline: MonotonicTime?) {
        guard notifications.observerCount > 0 else { return }
        hooks.observersDeadline = deadline
        defer { hooks.observersDeadline = nil }
        notifications.post(name)
    }

    /// Calls Cocoa's delegate methods, application and scene, before the `on` handlers.
    private func callDelegate(
        _ callback: LifeCycleCallback, _ event: LifeCycleEvent, isLaunch: Bool, until deadline: MonotonicTime?
    ) {
        guard let delegate = lifeCycle.delegate else { return }
        checkDelegate()
        // A scene's first appearance counts as a return; the application's does not.
        let first = isLaunch && callback == .didBecomeActive ? LifeCycleCallback.willEnterForeground.sceneSelector : nil
        for selector in [first, callback.applicationSelector, callback.sceneSelector].compactMap({ $0 }) {
            guard let function = method(selector, of: delegate).callable else { continue }
            hooks.callObserver(
                function, [lifeCycle.applicationValue], title: "delegate.\(selector)", event: event.name,
                until: deadline)
        }
    }

    /// A delegate's method, own or inherited through tables. An `__index` function is not called: it would run without
    /// a limit.
    private func method(_ selector: String, of delegate: LuaTable) -> LuaValue {
        var table = delegate
        for _ in 0..<64 {
            let value = table[selector]
            if !value.isNil { return value }
            guard case .table(let next)? = table.metatable?["__index"] else { return .nil }
            table = next
        }
        return .nil
    }

    /// Logs each delegate method, as `#function` prints it.
    private func trace(_ callback: LifeCycleCallback, _ event: LifeCycleEvent, isLaunch: Bool) {
        guard options.tracesLifeCycle else { return }
        let names = callback.functionNames(isLaunch: isLaunch)
        let origin = event.simulated ? "\(event.cause.rawValue), simulated" : event.cause.rawValue
        for name in names {
            let gap = String(repeating: " ", count: max(1, 54 - name.utf8.count))
            output.putError("\(name)\(gap)\(applicationState.rawValue), \(origin)\n")
        }
    }

    func syncCommitted() {
        if case .failure(let error) = commit() { report(error.underlying ?? error, of: .items) }
        guard !items.isReadOnly else { return }
        do { try items.synchronize() } catch { report(error, of: .items) }
    }

    /// Earlier changes of the running code are a commit of their own: a stop or a kill during the transaction leaves them
    /// in the journal. A failure stays for the next commit.
    func commitBeforeTransaction() {
        if shared == nil, !items.isInTransaction { commit(inGroup: true) }
    }

    /// Logs a failure to write, unless it was logged since the last success.
    func report(_ error: any Error, of area: WriteFailures.Area) {
        if let text = writeFailures.text(area, error) { logger.error("\(text)") }
    }
}

/// The state of the life cycle between two events.
struct LifeCycleContext {
    /// Seconds reserved for the save, out of the time for `didEnterBackground` or `willTerminate`.
    static let reservedForSave = 1.0
    /// The deadline of the current callback and the save after it.
    var phaseDeadline: MonotonicTime?
    /// Whether a second SIGTERM came during the exit: handlers are skipped, the save is not.
    var skipsHandlers = false
    /// The value of `app.restoration` for the next launch.
    var restoration: LuaTable?
    /// Whether the state of the last run was restored in this launch.
    var hasRestored = false
    /// Whether scripts were warned about their own limit and still exceed it.
    var hasWarnedScripts = false
    /// The source of the memory warning.
    var memorySource = "script"
    /// When a warning of the machine was last shown.
    var lastMachineWarning: MonotonicTime?
    /// Whether Ctrl-C came while a script was running.
    var cancelRequested = false
    /// The cause of an exit that waits for the rollback of a transaction: half a transaction is never saved.
    var deferredTermination: LifeCycleCause?
    /// Events received while another one is handled; they follow it.
    var queue: [(event: ApplicationEvent, cause: LifeCycleCause, simulated: Bool)] = []
    var isHandling = false
    /// The status of the first `terminate`; nil before it.
    var requestedExitCode: Int32?
    /// Whether a script has chosen the status.
    var hasChosenExitCode = false
    var backgroundDeadline: MonotonicTime?
    /// The script's table of Cocoa's delegate methods, and `app` as their argument.
    var delegate: LuaTable?
    /// The names of the delegate's functions already checked.
    var checkedMethods: Set<String> = []
    var applicationValue = LuaValue.nil
    /// Background tasks of scripts, by number.
    var backgroundTasks: [Int: BackgroundTask] = [:]
    var lastBackgroundTask = 0
    /// The controlling terminal.
    var terminal = Terminal()
    var poller: PresencePoller?
}

/// The time between entering the background and the stop.
extension ScriptHost {
    func runBackgroundTasks() {
        defer { dropSuspensions() }
        guard !lifeCycle.backgroundTasks.isEmpty else { return }
        let deadline = MonotonicTime.now().advanced(by: options.backgroundLimit)
        lifeCycle.backgroundDeadline = deadline
        defer { lifeCycle.backgroundDeadline = nil }
        while !lifeCycle.backgroundTasks.isEmpty {
            let left = deadline.seconds(since: .now())
            // A second Ctrl-Z, or an exit, expires all tasks at once.
            if left <= 0 || !lifeCycle.queue.isEmpty { break }
            loop.runOnce(timeout: left)
        }
        expireBackgroundTasks()
        syncCommitted()
        saveNow(.sigtstp, false)
    }

    /// Ends all background tasks, and calls their expiration handlers.
    package func expireBackgroundTasks() {
        for (number, task) in lifeCycle.backgroundTasks.sorted(by: { $0.key < $1.key }) {
            lifeCycle.backgroundTasks[number] = nil
            guard let function = task.onExpire else { continue }
            let run = scheduler.start(function, [], seconds: 1)
            if case .failure(let error) = scheduler.finish(run) {
                hooks.record(
                    HookFailure(title: task.name, event: "expiration", error: error, time: LifeCycleEvent.now()))
            }
        }
    }

    /// Ends the background tasks of a failed handler, which does not reach the line that would end them.
    func endBackgroundTasks(of handler: ScriptTask) {
        lifeCycle.backgroundTasks = lifeCycle.backgroundTasks.filter { $0.value.owner !== handler }
    }

    /// Drops further Ctrl-Zs before the stop: they mean the same stop.
    private func dropSuspensions() {
        loop.drainPending()
        lifeCycle.queue.removeAll { $0.event == .suspend }
    }

    func stopProcess() {
        output.flush()
        frontEnd?.applicationWillStop()
        sandbox.service.notify("STATUS=suspended")
        let signal = input.waitsInBackground ? UnixSignal.backgroundRead : .stop
        var ends = false
        // What came since the stop was asked for is newer: a continuation, or a request to end.
        let outcome = signals?.stop(by: signal) { [unowned self] in
            dropSuspensions()
            ends = lifeCycle.queue.contains { if case .terminate = $0.event { true } else { false } }
            return ends || lifeCycle.queue.contains { $0.cause == .sigcont }
        }
        if outcome == nil { ProcessStopper.stopUntilContinued() }
        _ = lifeCycle.poller?.refresh()
        if let outcome, signal == .backgroundRead { input.didStop(outcome) }
        // The continuation itself is told here, first in the queue: events received while the process was stopped find it
        // resumed.
        loop.drainPending()
        lifeCycle.queue.removeAll { $0.cause == .sigcont }
        lifeCycle.queue.insert((.resume(inForeground: !ends && isInForeground), .sigcont, false), at: 0)
    }

    // MARK: Detected afterwards

    /// Handles sleep of the machine and freezes of the process, which are detected afterwards.
    func watchGaps() {
        loop.onGap = { [unowned self] gap in
            let (name, seconds) =
                switch gap {
                case .slept(let seconds): ("systemDidWake", seconds)
                case .frozen(let seconds): ("wasSuspended", seconds)
                }
            guard exitCode == nil else { return }
            hooks.deliver(
                ScriptEvent(
                    LifeCycleEvent(name: name, cause: .clock, simulated: false),
                    details: ["seconds": .number(seconds)]))
        }
    }
}

/// A task of a script that should finish before the process stops.
struct BackgroundTask {
    let name: String
    let onExpire: LuaFunction?
    /// The task that began it; nil if no script did. Its failure ends the background task, which would stay otherwise.
    weak var owner: ScriptTask?
}

/// The script's delegate: functions with the names of Cocoa's delegate methods.
extension ScriptHost {
    /// The names of delegate methods.
    static let delegateSelectors = LifeCycleCallback.allCases.flatMap { callback in
        [callback.applicationSelector, callback.sceneSelector].compactMap { $0 }
    }

    /// Warns once about each function whose name resembles that of a delegate method.
    func checkDelegate() {
        guard let delegate = lifeCycle.delegate else { return }
        for name in functionNames(of: delegate).sorted() where !lifeCycle.checkedMethods.contains(name) {
            lifeCycle.checkedMethods.insert(name)
            guard Self.isMisspelt(name) else { continue }
            let hint = NearestNames.hint(for: name, among: Self.delegateSelectors)
            let advice = hint.isEmpty ? "; help(\"app.delegate\") lists the methods" : hint
            logger.warning("app.delegate.\(name) is not a method of the life cycle and is never called\(advice)")
        }
    }

    /// Whether a name is not a method's but has the start of one, or is one edit away from one.
    private static func isMisspelt(_ name: String) -> Bool {
        if delegateSelectors.contains(name) { return false }
        for prefix in ["application", "scene"] where name.hasPrefix(prefix) {
            guard let next = name.dropFirst(prefix.count).unicodeScalars.first else { break }
            if ("A"..."Z").contains(next) { return true }
        }
        return delegateSelectors.contains { NearestNames.isOneSlip(name, $0) }
    }

    /// The names of a delegate's functions, including inherited ones.
    private func functionNames(of delegate: LuaTable) -> Set<String> {
        var names: Set<String> = []
        var table = delegate
        for _ in 0..<64 {
            try? table.forEach { key, value in
                if case .function = value, let name = key.textValue { names.insert(name) }
                return true
            }
            guard case .table(let next)? = table.metatable?["__index"] else { break }
            table = next
        }
        return names
    }
}
