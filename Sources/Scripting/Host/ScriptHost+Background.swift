import Application
import Glibc
import Items
import Lua

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
        service.notify("STATUS=suspended")
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
