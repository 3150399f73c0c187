import Application

/// Work that is deferred until the end of a break.
struct HeldWork {
    /// The owner: a timer is deferred once, however often it fires.
    let owner: AnyObject
    let perform: () -> Void
}

/// Tasks while a script is paused at a break.
///
/// The event loop then runs for signals, the user's input and the life cycle. Life-cycle handlers run: the application
/// can go to the background, save and end. All other tasks wait (timers, ends of waits, entries of attached prompts,
/// calls from Swift), so that only the user changes the state that is examined.
extension TaskScheduler {
    /// Runs a step of a task, at once or after the break.
    func hold(_ task: ScriptTask, _ perform: @escaping () -> Void) {
        if held == nil || task.isOfBreak {
            perform()
        } else {
            held?.append(HeldWork(owner: task, perform: perform))
        }
    }

    /// Defers work until the end of the break; false if there is none.
    func holds(_ owner: AnyObject, _ perform: @escaping () -> Void) -> Bool {
        guard let work = held else { return false }
        if !work.contains(where: { $0.owner === owner }) { held?.append(HeldWork(owner: owner, perform: perform)) }
        return true
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
