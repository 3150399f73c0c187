package import Application
import Logging
package import Lua

/// The tasks of scripts that should finish before the process stops or ends.
package final class BackgroundTasks {
    private struct Entry {
        let name: String
        let onExpire: LuaFunction?
        let start = MonotonicTime.now()
        /// The task that began it; nil if no script did. Its failure ends the background task, which would stay
        /// otherwise.
        weak var owner: ScriptTask?
    }

    private let runtime: Runtime
    /// By number.
    private var entries: [Int: Entry] = [:]
    private var lastNumber = 0
    /// The end of the time in the background; nil in the foreground.
    package private(set) var deadline: MonotonicTime?
    /// Whether a user has ended the wait of the way out; nil while there is none.
    private var isWaitEnded: Bool?

    init(_ runtime: Runtime) { self.runtime = runtime }

    package var isEmpty: Bool { entries.isEmpty }

    /// The names, in the order of their beginnings, and the seconds since them.
    package var pending: [(name: String, seconds: Double)] {
        let now = MonotonicTime.now()
        return entries.sorted { $0.key < $1.key }.map { ($0.value.name, now.seconds(since: $0.value.start)) }
    }

    /// Begins a task of the running code.
    ///
    /// - Returns: its number.
    package func begin(_ name: String, onExpire: LuaFunction?) -> Int {
        lastNumber += 1
        // In lines of the log, which it must not end.
        let name = VisibleText.line(name.shortened(to: Self.nameLimit))
        entries[lastNumber] = Entry(name: name, onExpire: onExpire, owner: runtime.scheduler.current)
        return lastNumber
    }

    /// Ends a task; one that has ended or expired stays ended.
    ///
    /// - Returns: whether a task of this number has begun.
    package func end(_ number: Int) -> Bool {
        guard number >= 1, number <= lastNumber else { return false }
        entries[number] = nil
        runtime.loop.poster.wake()
        return true
    }

    /// Ends the tasks of a failed handler, which does not reach the line that would end them.
    func endAll(of handler: ScriptTask) { entries = entries.filter { $0.value.owner !== handler } }

    private static let nameLimit = 200

    // MARK: Expiration

    /// Ends all tasks, and calls their expiration handlers.
    ///
    /// - Parameters:
    ///   - reason: why their time is up, for the log; nil to log nothing.
    ///   - isEnd: whether the process ends: a task that has no handler to hear of it has then failed.
    package func expire(_ reason: String? = nil, isEnd: Bool = false) {
        for (number, task) in entries.sorted(by: { $0.key < $1.key }) {
            entries[number] = nil
            if let reason { report(task, reason, isEnd: isEnd) }
            guard let function = task.onExpire else { continue }
            let run = runtime.scheduler.start(
                function, [], seconds: 1, onStart: { $0.title = "the onExpire of \(task.name)" })
            if case .failure(let error) = runtime.scheduler.finish(run) { record(task, error) }
        }
    }

    private func report(_ task: Entry, _ reason: String, isEnd: Bool) {
        if isEnd, task.onExpire == nil {
            return record(task, LuaError(.deadline, "it did not end: \(reason); it has no onExpire to hear of it"))
        }
        runtime.log.logger.warning("the background task \(task.name) has expired: \(reason)")
    }

    private func record(_ task: Entry, _ error: LuaError) {
        runtime.hooks.record(
            HookFailure(title: task.name, event: HookFailure.expiration, error: error, time: LifeCycleEvent.now()))
    }

    // MARK: Waiting

    /// Waits for the tasks until they have ended, their time is up, or the wait must end.
    ///
    /// - Parameters:
    ///   - limit: their time in seconds.
    ///   - mustEnd: asked before each turn of the loop.
    ///   - body: run after the end of all.
    func wait(seconds limit: Double, unless mustEnd: () -> Bool, then body: () -> Void) {
        wait(until: .now().advanced(by: limit), unless: mustEnd)
        expire(
            mustEnd() ? "the wait was ended" : "\(Self.text(limit)) before the stop are over (--background-time)")
        body()
    }

    /// Waits for the tasks on the way out, and for those that begin meanwhile, within their time together.
    ///
    /// - Parameters:
    ///   - limit: their time in seconds.
    ///   - mustEnd: asked before each turn of the loop.
    ///   - save: commits and saves what they have changed; it may begin more of them.
    func waitAtEnd(seconds limit: Double, unless mustEnd: () -> Bool, save: () -> Void) {
        guard !isEmpty else { return }
        isWaitEnded = false
        defer { isWaitEnded = nil }
        let end = MonotonicTime.now().advanced(by: limit)
        if limit > 0 {
            let names = pending.map(\.name).joined(separator: ", ")
            runtime.log.logger.info(
                "Waiting for \(entries.count.word("the background task", "the background tasks")) \(names.shortened(to: 4 * Self.nameLimit)), at most \(Self.text(limit))"
            )
        }
        while !isEmpty {
            wait(until: end) { isWaitEnded == true || mustEnd() }
            let isEnded = isWaitEnded == true || mustEnd()
            let isOver = isEnded || end <= .now()
            let reason = isEnded ? "the wait was ended" : "\(Self.text(limit)) at the end are over (--grace)"
            // It may run scripts: a request that stops them was obeyed.
            isWaitEnded = false
            expire(reason, isEnd: true)
            save()
            guard isOver else { continue }
            // Of tasks that begin now nobody waits for any.
            expire(reason, isEnd: true)
            break
        }
    }

    private func wait(until deadline: MonotonicTime, unless mustEnd: () -> Bool) {
        self.deadline = deadline
        defer { self.deadline = nil }
        runtime.scheduler.turnLoop(until: deadline) { !isEmpty && !mustEnd() }
    }

    /// Ctrl-C: ends the wait of the way out.
    ///
    /// - Returns: whether there is one.
    func endWait() -> Bool {
        guard isWaitEnded != nil else { return false }
        isWaitEnded = true
        runtime.loop.poster.wake()
        return true
    }

    /// Whether code that runs in a wait must stop, since it was ended.
    var stopsCode: Bool { isWaitEnded == true }

    private static func text(_ seconds: Double) -> String {
        Int(exactly: seconds).map { "\($0) s" } ?? "\(seconds) s"
    }
}
