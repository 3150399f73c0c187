import Application
package import Lua

/// Waits of scripts and of the host, by those of the scheduler.
extension TaskScheduler {
    /// Suspends the calling script.
    ///
    /// - Parameters:
    ///   - call: the waiting binding's call.
    ///   - register: takes the function that ends the wait, and returns a function that cancels it.
    /// - Returns: the binding's result.
    /// - Throws: `cancelled` or `deadline`, when a nested wait is ended by Ctrl-C, the application's end or the
    ///   script's deadline. Scripts cannot catch it.
    package func wait(_ call: LuaCall, _ register: @escaping (@escaping () -> Void) -> () -> Void) throws -> LuaResults
    {
        try wait(for: call) { resume in register { resume { $0.returnsNothing() } } }
    }

    /// Suspends the calling script until values arrive, which are the call's results.
    package func waitForValues(
        _ call: LuaCall, _ register: @escaping (@escaping ([LuaValue]) -> Void) -> () -> Void
    ) throws -> LuaResults {
        try wait(for: call) { resume in register { values in resume { try $0.returns(values: values) } } }
    }

    /// Turns of the loop for the host itself, while a condition holds. The deadline stops code that runs meanwhile, too.
    func turnLoop(until deadline: MonotonicTime, while condition: () -> Bool) {
        let outer = commonDeadline
        commonDeadline = deadline
        defer {
            commonDeadline = outer
            armDeadline()
        }
        while condition() {
            let left = deadline.seconds(since: .now())
            if left <= 0 { break }
            turnLoop(timeout: left)
        }
    }
}

/// The waits of a test, in which no time passes.
extension TaskScheduler {
    /// Serves what is ready, and what other threads work on, without letting the time of timers pass.
    func serveWaitingWork() {
        while !mustEndWait {
            if turnLoop(timeout: 0) { continue }
            guard loop.awaitsReplies else { return }
            turnLoop(timeout: 1)
        }
    }

    /// Has code whose time has passed stop at its next instruction.
    func checkDeadlines() {
        armDeadline()
        if let nearest = nearestDeadline, nearest <= .now() { state.interrupter.interrupt(.deadline) }
    }

    /// The limit of a test is real time: virtual time does not count.
    func postponeTests(nanoseconds: Int64) {
        let tasks = stack + waiting.values + awaited
        var postponed: Set<ObjectIdentifier> = []
        for task in tasks where task.countsRealTime && postponed.insert(ObjectIdentifier(task)).inserted {
            task.deadline = task.deadline.map { MonotonicTime(nanoseconds: $0.nanoseconds &+ nanoseconds) }
        }
    }
}

/// Tasks while a script is paused at a break.
///
/// The event loop then runs for signals, the user's input and the life cycle. Life-cycle handlers run: the application
/// can go to the background, save and end. All other tasks wait (timers, ends of waits, entries of attached prompts,
/// calls from Swift), so that only the user changes the state that is examined.
extension TaskScheduler {
    /// Whether the next step of a task waits for the end of a break.
    func isHeld(_ task: ScriptTask) -> Bool { held != nil && !task.isOfBreak }

    /// Defers a step of a task until the end of the break.
    func hold(_ task: ScriptTask, _ perform: @escaping () -> Void) {
        held?.append(HeldWork(owner: task, perform: perform))
    }

    /// Defers work until the end of the break; false if there is none.
    func holds(_ owner: AnyObject, _ perform: @escaping () -> Void) -> Bool {
        guard let work = held else { return false }
        if !work.contains(where: { $0.owner === owner }) { held?.append(HeldWork(owner: owner, perform: perform)) }
        return true
    }

    /// Runs a body whose time does not count towards the limits of the running code: the user thinks.
    func withoutTime<Value>(_ body: () -> Value) -> Value {
        let start = MonotonicTime.now()
        let limited = stack.filter { $0.deadline != nil }
        let left = limited.map { $0.deadline?.seconds(since: start) ?? 0 }
        for task in limited { task.deadline = nil }
        armDeadline()
        defer {
            for (task, seconds) in zip(limited, left) { task.deadline = .now().advanced(by: seconds) }
            armDeadline()
        }
        return body()
    }

    /// Runs a body while a script is paused.
    ///
    /// - Parameters:
    ///   - timeRunsOn: whether this time counts towards the time limits of tasks.
    ///   - body: the code to run.
    /// - Returns: the body's result.
    func standStill<Value>(timeRunsOn: Bool, _ body: () -> Value) -> Value {
        let start = MonotonicTime.now()
        let limited = timeRunsOn ? [] : (stack + waiting.values).filter { $0.deadline != nil }
        let left = limited.map { $0.deadline?.seconds(since: start) ?? 0 }
        let timed = limited.filter { $0.deadlineTimer != nil }
        for task in limited {
            task.deadline = nil
            task.deadlineTimer?.cancel()
            task.deadlineTimer = nil
        }
        held = []
        armDeadline()
        let value = body()
        for (task, seconds) in zip(limited, left) { task.deadline = .now().advanced(by: seconds) }
        timed.forEach(setDeadlineTimer)
        if !timeRunsOn { secondsAtBreaks += MonotonicTime.now().seconds(since: start) }
        let work = held ?? []
        held = nil
        armDeadline()
        for item in work { loop.after(0, handler: item.perform) }
        return value
    }
}
