import Application
import Lua

/// The handlers: who is registered for what, in which order, and how they are called.
final class HookCenter {
    static let nestingLimit = 8
    static let warningSeconds = 0.25
    static let failuresBeforePause = 3

    private let scheduler: TaskScheduler
    private let eventClass: LuaClass<ScriptEvent>
    private var hooks: [String: [Hook]] = [:]
    private var lastOrder = 0
    /// The events that are being delivered now, outermost first.
    private var chain: [String] = []
    private(set) var failures: [HookFailure] = []
    private var failureCounts: [String: Int] = [:]
    /// All that ever were, those that are no longer kept among them.
    private(set) var failureCount = 0
    /// Called for each failure, where the user looks.
    var report: (HookFailure) -> Void = { _ in }
    var warn: (String) -> Void = { _ in }
    /// Called when a handler has ended, by an error too: its changes are committed.
    var handlerEnded: () -> Void = {}
    /// Whether handlers are passed over: a second SIGTERM wants the way out, and nothing but the save.
    var isHurried: () -> Bool = { false }
    /// Whether the application has ended, or is going to when a transaction has been rolled back.
    var hasEnded: () -> Bool = { false }
    /// Seconds for an observer, or a method of the delegate.
    var observerLimit = Hook.Options().budget
    /// When the observers of what is being posted must have ended.
    var observersDeadline: MonotonicTime?
    /// What was registered since init.lua began; nil outside of it. A newer init.lua takes its place.
    private(set) var recorded: [Hook]?
    /// The group whose function runs now.
    private var openGroup: String?

    init(_ scheduler: TaskScheduler, eventClass: LuaClass<ScriptEvent>) {
        self.scheduler = scheduler
        self.eventClass = eventClass
    }

    // MARK: Registration

    /// Registers a handler; the same `id` on the same event is replaced in its place.
    func add(_ event: String, _ options: Hook.Options, _ function: LuaFunction?) -> Hook {
        var options = options
        options.group = options.group ?? openGroup
        if let id = options.id, let old = hooks[event]?.first(where: { $0.options.id == id }) {
            let hook = Hook(event: event, order: old.order, options: options, function: function)
            remove(old)
            insert(hook)
            return hook
        }
        lastOrder += 1
        let hook = Hook(event: event, order: lastOrder, options: options, function: function)
        insert(hook)
        return hook
    }

    /// Puts back what `remove` took away, in its old place.
    func restore(_ hook: Hook) {
        guard hook.isRemoved else { return }
        hook.isRemoved = false
        insert(hook)
    }

    /// Collects what `body` registers.
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

    func remove(_ hook: Hook) {
        guard hook.function != nil else { return }
        hook.isRemoved = true
        hooks[hook.event]?.removeAll { $0 === hook }
    }

    /// Removes what matches; returns how many.
    func remove(where matches: (Hook) -> Bool) -> Int {
        let found = all.filter { $0.function != nil && matches($0) }
        found.forEach(remove)
        return found.count
    }

    /// Runs a function whose registrations belong to a group; those of an earlier run are replaced by it, or stay when it
    /// fails.
    func group(_ name: String, _ body: () throws -> Void) rethrows {
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
    }

    /// All hooks, by event and in the order of their calls.
    var all: [Hook] { hooks.keys.sorted().flatMap { hooks[$0] ?? [] } }

    func hooks(for event: String) -> [Hook] { hooks[event] ?? [] }
    func hasHooks(for event: String) -> Bool { !(hooks[event] ?? []).isEmpty }

    // MARK: Delivery

    /// The error of an event that is raised too deep within others; nil when there is room.
    /// `generation` is how many events of this name came before, each in answer to the one before it.
    func nestingError(for name: String, generation: Int = 0) -> LuaError? {
        let chain = chain + Array(repeating: name, count: generation)
        guard chain.count >= Self.nestingLimit else { return nil }
        return LuaError(
            .runtime,
            "events are nested more than \(Self.nestingLimit) deep: \((chain + [name]).joined(separator: " → "))")
    }

    /// Calls the handlers of an event, in order, each protected on its own; the others run whatever one does.
    ///
    /// - Parameters:
    ///   - event: what they are given.
    ///   - deadline: when the time of all of them together is up; nil for no limit.
    ///   - stopsAtFailure: whether the first failure ends the delivery, for changes that it refuses.
    ///   - own: the host's part, called in its place among the hooks unless it was refused.
    /// - Returns: the first failure.
    @discardableResult
    func deliver(
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
        for hook in snapshot where !hook.isRemoved {
            guard let function = hook.function else {
                callOwn(event, own)
                continue
            }
            guard !hook.isPaused, !hook.isRunning, !isHurried() else { continue }
            if hook.options.once { remove(hook) }
            if let error = call(hook, function, value, event) {
                first = first ?? error
                if stopsAtFailure { break }
            }
            if stopsAtFailure, event.veto != nil { break }
        }
        return first
    }

    /// The host's own part of an event; it is counted when it has ended.
    private func callOwn(_ event: ScriptEvent, _ own: (() -> Void)?) {
        guard let own, event.veto == nil else { return }
        own()
        // It is done: nobody refuses it any more.
        event.close()
    }

    /// Counts the host's own part of an event as any handler's.
    func countOwn(_ event: String, _ seconds: Double, failure: String?) {
        for hook in hooks[event] ?? [] where hook.function == nil { hook.statistics.add(seconds, failure: failure) }
    }

    /// Calls a function that is no hook, an observer or a delegate's method, under the same protection and time limit.
    func callObserver(
        _ function: LuaFunction, _ arguments: [LuaValue], title: String, event: String,
        until deadline: MonotonicTime? = nil
    ) {
        let deadline = deadline ?? observersDeadline
        guard !isHurried() else { return }
        if let error = nestingError(for: event) {
            return record(HookFailure(title: title, event: event, error: error, time: LifeCycleEvent.now()))
        }
        chain.append(event)
        defer { chain.removeLast() }
        let left = deadline.map { $0.seconds(since: .now()) } ?? .infinity
        var error: LuaError?
        if left > 0 {
            let task = scheduler.start(function, arguments, seconds: min(observerLimit, left))
            if case .failure(let failure) = scheduler.finish(task) { error = failure }
            scheduler.following(task, handlerEnded)
        } else {
            error = LuaError(.deadline, "not run: the time for \(event) was used up before it")
        }
        if let error { record(HookFailure(title: title, event: event, error: error, time: LifeCycleEvent.now())) }
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
        let start = MonotonicTime.now()
        let task = scheduler.start(
            function, [value], seconds: budget == .infinity ? nil : budget,
            generation: event.generation.map { $0 + 1 })
        let result = scheduler.finish(task)
        let seconds = MonotonicTime.now().seconds(since: start)
        hook.isRunning = false
        scheduler.following(task, handlerEnded)
        switch result {
        case .success:
            hook.statistics.add(seconds, failure: nil)
            if seconds > Self.warningSeconds {
                warn("the handler \(hook.title) took \(Int(seconds * 1000)) ms")
            }
            return nil
        case .failure(var error):
            if error.kind == .deadline { error.message = "stopped after \(Int(seconds * 1000)) ms: its time was up" }
            hook.statistics.add(seconds, failure: error.message)
            failed(hook, error, event)
            return error
        }
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

    /// How many failures there were of an event's handlers.
    func failureCount(of event: String) -> Int { failureCounts[event] ?? 0 }

    func record(_ failure: HookFailure) {
        // What the way out, or the end of an attached prompt's entry, stopped has not failed.
        if failure.error.kind == .cancelled, hasEnded() || scheduler.entry != nil { return }
        failureCounts[failure.event, default: 0] += 1
        failureCount += 1
        failures.insert(failure, at: 0)
        if failures.count > 50 { failures.removeLast() }
        report(failure)
    }
}
