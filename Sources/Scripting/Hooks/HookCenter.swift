package import Application
package import Lua

/// The registered handlers, their order, and their calls.
package final class HookCenter {
    static let nestingLimit = 8
    static let warningSeconds = 0.25
    static let failuresBeforePause = 3

    private let scheduler: TaskScheduler
    private let eventClass: LuaClass<ScriptEvent>
    private var hooks: [String: [Hook]] = [:]
    private var lastOrder = 0
    /// The events in delivery, outermost first.
    private var chain: [String] = []
    package private(set) var failures: [HookFailure] = []
    private var failureCounts: [String: Int] = [:]
    /// The number of failures, including those no longer kept.
    private(set) var failureCount = 0
    /// Reports each failure to the user.
    var report: (HookFailure) -> Void = { _ in }
    var warn: (String) -> Void = { _ in }
    /// Called before a handler. What it returns is called when the handler has ended, with or without an error: it commits
    /// the changes, and returns the failure that has rolled them back.
    var handlerBegins: () -> () -> LuaError? = { { nil } }
    /// Called before the commit if the handler failed.
    var handlerFailed: (ScriptTask) -> Void = { _ in }
    /// Whether handlers are skipped: after a second SIGTERM only the save runs.
    var skipsHandlers: () -> Bool = { false }
    /// Whether the application has ended, or will end after the rollback of a transaction.
    var hasEnded: () -> Bool = { false }
    /// The time limit of an observer, or of a delegate's method, in seconds.
    var observerLimit = Hook.Options().budget
    /// The deadline of the current post's observers.
    var observersDeadline: MonotonicTime?
    /// Seconds reserved for the save, out of the time for `didEnterBackground` or `willTerminate`.
    private static let reservedForSave = 1.0
    /// Seconds for the handlers of `didEnterBackground` or `willTerminate`, and the save.
    var callbackLimit = 5.0
    /// The end of the limited phase of the life cycle: a callback, and the save after it.
    private var phaseEnd: MonotonicTime?
    private var reserved = 0.0
    /// The registrations since the start of init.lua; nil outside it. A reloaded init.lua replaces them.
    private(set) var recorded: [Hook]?
    /// The group whose function is running.
    private var openGroup: String?

    init(_ scheduler: TaskScheduler, eventClass: LuaClass<ScriptEvent>) {
        self.scheduler = scheduler
        self.eventClass = eventClass
    }

    // MARK: Limited phases

    /// Begins a phase: its handlers and the save after them have some seconds together.
    func beginPhase(seconds: Double) {
        phaseEnd = .now().advanced(by: seconds)
        reserved = Self.reserve(of: seconds)
    }

    /// The seconds of a phase that its handlers leave to the save.
    static func reserve(of seconds: Double) -> Double { min(reservedForSave, seconds / 2) }

    /// The seconds that all handlers of an event have together on the way to the background, or out; nil for no limit.
    func timeLimit(of event: String) -> Double? {
        EventDeclaration.limited.contains(event) ? callbackLimit - Self.reserve(of: callbackLimit) : nil
    }

    func endPhase() { phaseEnd = nil }

    /// The deadline of handlers, which leaves time for the save; nil outside of a phase.
    package var handlersDeadline: MonotonicTime? { phaseEnd?.advanced(by: -reserved) }

    /// The deadlines of a save's handlers, which get a quarter of the reserved time.
    var willSaveDeadline: MonotonicTime? { extended(handlersDeadline) }
    var didSaveDeadline: MonotonicTime? { extended(phaseEnd) }

    private func extended(_ deadline: MonotonicTime?) -> MonotonicTime? {
        deadline.map { max($0, MonotonicTime.now().advanced(by: Self.reservedForSave / 4)) }
    }

    // MARK: Registration

    /// Registers a handler; one with the same `id` and event is replaced in its place.
    func add(_ event: String, _ options: Hook.Options, _ function: LuaFunction?) -> Hook {
        var options = options
        options.group = options.group ?? openGroup
        if let id = options.id, let old = hooks[event]?.first(where: { $0.options.id == id }) {
            let hook = Hook(event: event, order: old.order, options: options, function: function)
            remove(old)
            insert(hook)
            record([old], replacedBy: [hook])
            return hook
        }
        lastOrder += 1
        let hook = Hook(event: event, order: lastOrder, options: options, function: function)
        insert(hook)
        return hook
    }

    /// Restores a removed handler in its former place.
    func restore(_ hook: Hook) {
        guard hook.isRemoved else { return }
        hook.isRemoved = false
        hook.replacement = nil
        insert(hook)
    }

    /// Records which registrations replace former ones: a delivery that is under way calls the new ones in their place. Those
    /// with the same event and id belong together, and those without an id in their order.
    func record(_ former: [Hook], replacedBy hooks: [Hook]) {
        var free = hooks
        for old in former where old.isRemoved && old.replacement == nil {
            let place = free.firstIndex { $0.event == old.event && $0.options.id == old.options.id }
            if let place { old.replacement = free.remove(at: place) }
        }
    }

    /// Collects the registrations of `body`.
    func recording(_ body: () -> Void) -> [Hook] {
        recorded = []
        body()
        defer { recorded = nil }
        return recorded ?? []
    }

    private func insert(_ hook: Hook) {
        recorded?.append(hook)
        var list = hooks[hook.event] ?? []
        let position = list.firstIndex { ($0.options.priority, $0.order) > (hook.options.priority, hook.order) }
        list.insert(hook, at: position ?? list.count)
        hooks[hook.event] = list
    }

    package func remove(_ hook: Hook) {
        guard hook.function != nil else { return }
        hook.isRemoved = true
        hooks[hook.event]?.removeAll { $0 === hook }
    }

    /// Removes matching handlers and returns their number.
    package func remove(where matches: (Hook) -> Bool) -> Int {
        let found = all.filter { $0.function != nil && matches($0) }
        found.forEach(remove)
        return found.count
    }

    /// Runs a function whose registrations form a group; they replace those of an earlier run, which stay when it
    /// fails.
    package func group(_ name: String, _ body: () throws -> Void) rethrows {
        let former = all.filter { $0.function != nil && $0.options.group == name }
        former.forEach(remove)
        let outer = openGroup
        openGroup = name
        defer { openGroup = outer }
        do { try body() } catch {
            _ = remove { $0.options.group == name }
            former.forEach(restore)
            throw error
        }
        record(former, replacedBy: all.filter { $0.options.group == name })
    }

    /// All hooks, by event and in call order.
    package var all: [Hook] { hooks.keys.sorted().flatMap { hooks[$0] ?? [] } }

    package func hasHooks(for event: String) -> Bool { !(hooks[event] ?? []).isEmpty }

    // MARK: Delivery

    /// The error for events that are nested too deeply; nil within the limit. `generation` is the number of previous
    /// events of this name in a chain of responses.
    func nestingError(for name: String, generation: Int = 0) -> LuaError? {
        let chain = chain + Array(repeating: name, count: generation)
        guard chain.count >= Self.nestingLimit else { return nil }
        return LuaError(
            .runtime,
            "events are nested more than \(Self.nestingLimit) deep: \((chain + [name]).joined(separator: " → "))")
    }

    /// Calls the handlers of an event in order, each protected separately; a failure does not prevent the others.
    ///
    /// - Parameters:
    ///   - event: the handlers' argument.
    ///   - deadline: the common deadline; nil for none.
    ///   - stopsAtFailure: whether the first failure ends the delivery, for events whose handlers can refuse a change.
    ///   - own: the host's part, called in its place among the hooks unless refused.
    /// - Returns: the first failure.
    @discardableResult
    package func deliver(
        _ event: ScriptEvent, until deadline: MonotonicTime? = nil, stopsAtFailure: Bool = false,
        own: (() -> Void)? = nil
    ) -> LuaError? {
        let name = event.event.name
        let snapshot = hooks[name] ?? []
        if snapshot.isEmpty { return nil }
        if let error = nestingError(for: name, generation: event.generation ?? 0) {
            record(HookFailure(title: name, event: name, error: error, time: event.event.time))
            if snapshot.contains(where: { $0.function == nil }) { callOwn(event, own) }
            return error
        }
        chain.append(name)
        defer { chain.removeLast() }
        event.deadline = deadline
        let value = eventClass.value(event)
        defer { event.end() }
        var first: LuaError?
        for entry in snapshot {
            guard let hook = entry.inForce else { continue }
            guard let function = hook.function else {
                callOwn(event, own)
                continue
            }
            guard !hook.isPaused, !hook.isRunning, !skipsHandlers() else { continue }
            if hook.options.once { remove(hook) }
            if let error = call(hook, function, value, event) {
                first = first ?? error
                if stopsAtFailure { break }
            }
            if stopsAtFailure, event.veto != nil { break }
        }
        return first
    }

    /// Delivers a script's own event.
    ///
    /// - Throws: `LuaError` for events nested too deeply, with their chain.
    package func emit(_ name: String, info: LuaValue) throws(LuaError) {
        if let error = nestingError(for: name) { throw error }
        deliver(ScriptEvent(LifeCycleEvent(name: name, cause: .script, simulated: true), details: ["info": info]))
    }

    /// Calls the host's part of an event and records its statistics.
    private func callOwn(_ event: ScriptEvent, _ own: (() -> Void)?) {
        guard let own, event.veto == nil else { return }
        own()
        // The change is done: it can no longer be refused.
        event.close()
    }

    /// Records the statistics of the host's part of an event.
    func countOwn(_ event: String, _ seconds: Double, failure: String?) {
        for hook in hooks[event] ?? [] where hook.function == nil { hook.statistics.add(seconds, failure: failure) }
    }

    /// Calls an observer or a delegate's method with the protection and time limit of a hook.
    package func callObserver(
        _ function: LuaFunction, _ arguments: [LuaValue], title: String, event: String,
        until deadline: MonotonicTime? = nil
    ) {
        let deadline = deadline ?? observersDeadline
        guard !skipsHandlers() else { return }
        if let error = nestingError(for: event) {
            return record(HookFailure(title: title, event: event, error: error, time: LifeCycleEvent.now()))
        }
        chain.append(event)
        defer { chain.removeLast() }
        let left = deadline.map { $0.seconds(since: .now()) } ?? .infinity
        var errors: [LuaError] = []
        if left > 0 {
            let commit = handlerBegins()
            let task = scheduler.start(
                function, arguments, seconds: min(observerLimit, left), onStart: { $0.title = "the handler \(title)" })
            if case .failure(let failure) = scheduler.finish(task) {
                errors.append(failure)
                handlerFailed(task)
            }
            if let loss = scheduler.following(task, commit) { errors.append(loss) }
        } else {
            errors.append(LuaError(.deadline, "not run: the time for \(event) was used up before it"))
        }
        for error in errors {
            record(HookFailure(title: title, event: event, error: error, time: LifeCycleEvent.now()))
        }
    }

    private func call(_ hook: Hook, _ function: LuaFunction, _ value: LuaValue, _ event: ScriptEvent) -> LuaError? {
        let left = event.deadline.map { $0.seconds(since: .now()) } ?? .infinity
        let budget = min(hook.options.budget > 0 ? hook.options.budget : .infinity, left)
        guard budget > 0 else {
            let error = LuaError(
                .deadline, "not run: the time for \(event.event.name) was used up by the handlers before it")
            record(HookFailure(title: hook.title, event: hook.event, error: error, time: event.event.time))
            return error
        }
        hook.isRunning = true
        let commit = handlerBegins()
        let (start, breaks) = (MonotonicTime.now(), scheduler.secondsAtBreaks)
        let task = scheduler.start(
            function, [value], seconds: budget == .infinity ? nil : budget,
            generation: event.generation.map { $0 + 1 }, onStart: { $0.title = "the handler \(hook.title)" })
        let result = scheduler.finish(task)
        let seconds = MonotonicTime.now().seconds(since: start) - (scheduler.secondsAtBreaks - breaks)
        hook.isRunning = false
        var errors: [LuaError] = []
        if case .failure(let error) = result {
            errors.append(error)
            handlerFailed(task)
        }
        if let loss = scheduler.following(task, commit) { errors.append(loss) }
        hook.statistics.add(seconds, failure: errors.first?.message)
        for error in errors { failed(hook, error, event) }
        if errors.isEmpty, seconds > Self.warningSeconds {
            warn("the handler \(hook.title) took \(Int(seconds * 1000)) ms")
        }
        return errors.first
    }

    private func failed(_ hook: Hook, _ error: LuaError, _ event: ScriptEvent) {
        record(HookFailure(title: hook.title, event: hook.event, error: error, time: event.event.time))
        if hook.statistics.consecutiveFailures >= Self.failuresBeforePause,
            !EventDeclaration.neverPaused.contains(hook.event),
            !hook.isPaused
        {
            hook.isPaused = true
            warn(
                "the handler \(hook.title) failed \(Self.failuresBeforePause) times in a row and is paused: hook:resume() takes it up again"
            )
        }
    }

    /// The number of failures of an event's handlers.
    func failureCount(of event: String) -> Int { failureCounts[event] ?? 0 }

    func record(_ failure: HookFailure) {
        // A cancellation by the application's end, or by the end of an attached prompt's entry, is not a failure.
        if failure.error.kind == .cancelled, hasEnded() || scheduler.entry != nil { return }
        failureCounts[failure.event, default: 0] += 1
        failureCount += 1
        failures.insert(failure, at: 0)
        if failures.count > 50 { failures.removeLast() }
        report(failure)
    }
}
