public import Application
import Glibc
import Logging
import Lua
import Stores

/// The life of the application: signals and scripts put events in, the machine says what is to be done, this does it.
extension ScriptHost {
    // MARK: Launch and end

    /// Launches the application: handlers registered so far, then `init.lua`, then the foreground (or the background).
    public func launch() {
        let inBackground = options.handlesSignals && lifeCycle.terminal.presence == .background
        if options.runsInitScript { runInitScript() }
        handle(.launch(inBackground: inBackground), cause: .launch)
        guard options.handlesSignals else { return }
        let terminal = lifeCycle.terminal
        let poller = PresencePoller(look: { terminal.presence }) { [unowned self] presence in presenceChanged(presence)
        }
        poller.start(on: loop)
        lifeCycle.poller = poller
    }

    /// A broken script is reported and skipped: it must not lock its owner out.
    private func runInitScript() {
        let path = PathText.join(container.scripts, "init.lua")
        guard let source = try? PosixFileLayer().contents(of: path, limit: 16 << 20) else { return }
        let name = DisplayPath.abbreviate(path)
        sources.remember(String(decoding: source, as: UTF8.self), as: name)
        if case .failure(let error) = run(source, name: "@" + name) {
            output.writeError(
                "\(ErrorText.describe(error, sources: sources))\n(init.lua was skipped; the rest goes on)\n")
        }
    }

    /// The orderly way out: the handlers run, the items are saved. The host is of no use afterwards.
    public func terminate(_ code: Int32 = 0, cause: LifeCycleCause, explicitly: Bool) {
        guard exitCode == nil else { return }
        lifeCycle.requestedExitCode = code
        handle(.terminate(explicitly: explicitly), cause: cause)
        // Running code is to end at its next instruction.
        if exitCode != nil, state.depth > 0 { state.interrupter.interrupt(.events) }
    }

    /// Serves events and timers until the application has ended.
    public func runUntilTerminated() {
        output.flush()
        loop.run(until: { exitCode != nil })
    }

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

    /// Ends at once or, inside a transaction, when the running code has been unwound and the transaction rolled back.
    private func endAfterTransaction(_ cause: LifeCycleCause) {
        guard items.isInTransaction, state.depth > 0 else { return terminate(cause: cause, explicitly: false) }
        lifeCycle.deferredTermination = cause
    }

    /// The way out that a transaction held up.
    func endIfDeferred() {
        guard let cause = lifeCycle.deferredTermination, !items.isInTransaction else { return }
        lifeCycle.deferredTermination = nil
        terminate(cause: cause, explicitly: false)
    }

    private func frontEndInterrupt() {
        // Also when the prompt shows a value, whose `__tostring` may run without end.
        if foreground == nil, scheduler.current == nil, state.depth == 0, let onInterrupt { return onInterrupt() }
        cancelForeground()
    }

    private var isInForeground: Bool {
        let presence = lifeCycle.terminal.presence
        return presence == .foreground || presence == .headless
    }

    private func presenceChanged(_ presence: Terminal.Presence) {
        switch presence {
        case .foreground: handle(.resume(inForeground: true), cause: .terminal)
        case .background: handle(.resume(inForeground: false), cause: .terminal)
        case .hungUp: terminate(cause: .sighup, explicitly: false)
        case .headless: break
        }
    }

    // MARK: Events

    /// Takes an event in and does what it asks for, in order, before it returns. Events that come meanwhile follow.
    public func handle(_ event: ApplicationEvent, cause: LifeCycleCause, simulated: Bool = false) {
        lifeCycle.queue.append((event, cause, simulated))
        guard !lifeCycle.isHandling else { return }
        lifeCycle.isHandling = true
        defer { lifeCycle.isHandling = false }
        while !lifeCycle.queue.isEmpty {
            let next = lifeCycle.queue.removeFirst()
            // What can't happen in this state, an event that came late, changes nothing.
            guard let actions = try? machine.handle(next.event) else { continue }
            for action in actions { perform(action, next.cause, next.simulated) }
            tellFrontEnd(next.event)
        }
    }

    /// The terminal is the front end's while the process is in front of it, and nobody's else.
    private func tellFrontEnd(_ event: ApplicationEvent) {
        guard case .resume(let inForeground) = event, exitCode == nil else { return }
        if inForeground {
            frontEnd?.applicationDidEnterForeground()
        } else {
            frontEnd?.applicationWillEnterBackground()
        }
    }

    /// The same for a script's wish, which is told why it can't be.
    func simulate(_ event: ApplicationEvent) throws(IllegalTransition) {
        if !lifeCycle.isHandling {
            var trial = machine
            _ = try trial.handle(event)
        }
        commit()
        handle(event, cause: .script, simulated: true)
    }

    private func perform(_ action: LifeCycleAction, _ cause: LifeCycleCause, _ simulated: Bool) {
        switch action {
        case .enter(let state): applicationState = state
        case .deliver(let callback): deliver(callback, cause, simulated)
        case .syncJournal, .commit: syncCommitted()
        case .save: saveNow(cause, simulated)
        case .restore, .saveRestoration, .dropRestoration: break
        case .runBackgroundTasks: runBackgroundTasks()
        case .stopProcess: stopProcess()
        case .exit: exitCode = lifeCycle.requestedExitCode
        }
    }

    private func deliver(_ callback: LifeCycleCallback, _ cause: LifeCycleCause, _ simulated: Bool) {
        let isLimited = callback == .didEnterBackground || callback == .willTerminate
        let event = ScriptEvent(LifeCycleEvent(callback, cause: cause, simulated: simulated))
        let limit = isLimited ? lifeCycle.callbackLimit - lifeCycle.reservedForSave : nil
        callDelegate(callback, event)
        if callback == .didReceiveMemoryWarning {
            logger.info("Received memory warning.")
            images.clearCache()
        }
        hooks.deliver(event, seconds: limit)
        if callback == .didReceiveMemoryWarning { state.collectGarbage() }
    }

    /// Cocoa's own spellings, application and scene, before the `on` handlers.
    private func callDelegate(_ callback: LifeCycleCallback, _ event: ScriptEvent) {
        guard let delegate = lifeCycle.delegate else { return }
        for selector in [callback.applicationSelector, callback.sceneSelector].compactMap({ $0 }) {
            guard case .function(let function) = method(selector, of: delegate) else { continue }
            let seconds = min(options.timeLimit ?? 2, 2)
            let task = scheduler.start(function, [lifeCycle.applicationValue], seconds: seconds)
            if case .failure(let error) = scheduler.finish(task) {
                hooks.record(
                    HookFailure(
                        title: "delegate.\(selector)", event: event.event.name, error: error, time: event.event.time))
            }
            commit()
        }
    }

    /// A delegate's method, its own or inherited through tables. An `__index` that is a function would run without a limit.
    private func method(_ selector: String, of delegate: LuaTable) -> LuaValue {
        var table = delegate
        for _ in 0..<64 {
            let value = table.rawGet(.text(selector))
            if !value.isNil { return value }
            guard case .table(let next)? = table.metatable?.rawGet("__index") else { return .nil }
            table = next
        }
        return .nil
    }

    private func syncCommitted() {
        if case .failure(let error) = commit() { logger.error("\(error.message)") }
        guard !items.isReadOnly else { return }
        do { try items.synchronize() } catch { logger.error("\(error.message)") }
    }

    // MARK: Background and stop

    private func runBackgroundTasks() {
        guard !lifeCycle.backgroundTasks.isEmpty else { return }
        let deadline = MonotonicTime.now().advanced(by: lifeCycle.backgroundTaskLimit)
        lifeCycle.backgroundDeadline = deadline
        defer { lifeCycle.backgroundDeadline = nil }
        while !lifeCycle.backgroundTasks.isEmpty {
            let left = deadline.seconds(since: .now())
            // A second Ctrl-Z, or a way out, expires all tasks at once.
            if left <= 0 || !lifeCycle.queue.isEmpty { break }
            loop.runOnce(timeout: left)
        }
        for (number, task) in lifeCycle.backgroundTasks.sorted(by: { $0.key < $1.key }) {
            lifeCycle.backgroundTasks[number] = nil
            guard let function = task.onExpire else { continue }
            let run = scheduler.start(function, [], seconds: 1)
            if case .failure(let error) = scheduler.finish(run) {
                hooks.record(
                    HookFailure(title: task.name, event: "expiration", error: error, time: LifeCycleEvent.now()))
            }
        }
        lifeCycle.queue.removeAll { $0.event == .suspend }
        syncCommitted()
    }

    private func stopProcess() {
        output.flush()
        frontEnd?.applicationWillStop()
        ProcessStopper.stopUntilContinued()
        _ = lifeCycle.poller?.refresh()
        // First of what is queued: whatever came while the process was stopped finds it awake.
        lifeCycle.queue.insert((.resume(inForeground: isInForeground), .sigcont, false), at: 0)
    }
}
