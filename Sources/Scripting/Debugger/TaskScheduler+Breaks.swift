import Application

/// Work that waits for the end of a break.
struct HeldWork {
    /// What it is of: a timer is held once, however often it comes due.
    let owner: AnyObject
    let perform: () -> Void
}

/// Tasks while a script stands at a break.
///
/// The loop turns then, for signals, for the user's input and for the life cycle, whose handlers run: the application can go
/// to the background, save and end. All other tasks wait (timers, ends of waits, entries of attached prompts, calls from
/// Swift), so that what the user looks at changes by the user's own hand alone.
extension TaskScheduler {
    /// Runs a step of a task, at once or after the break.
    func hold(_ task: ScriptTask, _ perform: @escaping () -> Void) {
        if held == nil || task.isOfBreak {
            perform()
        } else {
            held?.append(HeldWork(owner: task, perform: perform))
        }
    }

    /// Holds work until the end of the break; false without one.
    func holds(_ owner: AnyObject, _ perform: @escaping () -> Void) -> Bool {
        guard let work = held else { return false }
        if !work.contains(where: { $0.owner === owner }) { held?.append(HeldWork(owner: owner, perform: perform)) }
        return true
    }

    /// Runs the user's look at a script that stands still.
    ///
    /// - Parameters:
    ///   - timeRunsOn: whether the time limits of tasks count this time.
    ///   - body: the look.
    /// - Returns: what it returns.
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
