import CPlatform
import Files
import Glibc
import Synchronization

/// The signs of a thread's life that a ``StopWatchdog`` looks at.
package final class LoopPulse: Sendable {
    private let turns = Atomic<Int>(0)
    private let waiting = Atomic<Bool>(false)

    package init() {}

    /// The number of turns of the loop.
    var beats: Int { turns.load(ordering: .relaxed) }
    /// Whether the loop waits for events: a stop wakes it.
    var isWaiting: Bool { waiting.load(ordering: .acquiring) }

    func willWait() { waiting.store(true, ordering: .releasing) }

    func didWait() {
        turns.add(1, ordering: .relaxed)
        waiting.store(false, ordering: .releasing)
    }
}

/// Work that takes as long as it takes, and that no watchdog ends: a commit, a save, a program with the terminal.
package enum UnstoppableWork {
    fileprivate static let count = Atomic<Int>(0)

    /// Begins such work, until ``end()``.
    package static func begin() { count.add(1, ordering: .releasing) }

    package static func end() { count.subtract(1, ordering: .releasing) }
}

/// Reports a stop that is overdue: a deadline, Ctrl-C, SIGTERM or SIGHUP that has not reached the running script for some
/// seconds, because the host's own code neither ends nor looks.
///
/// A net below the checks of long functions, and not their replacement. A thread of its own looks while something has to
/// stop. It counts looks and not the clock's time: none in which the process was stopped, or its thread had no processor
/// or waited for the disk.
package final class StopWatchdog: Sendable {
    /// What a watchdog does, and when.
    package struct Plan: Sendable {
        /// Seconds after which a stop is overdue.
        package var patience: Double
        /// Called once, on the watchdog's thread, with a sentence that names the function.
        package var report: @Sendable (String) -> Void

        package init(patience: Double, report: @escaping @Sendable (String) -> Void) {
            self.patience = patience
            self.report = report
        }
    }

    /// The signs of life of the running code, and its place; called on the watchdog's thread.
    package struct Subject: Sendable {
        /// A number that changes whenever the code serves interrupts.
        let beats: @Sendable () -> Int
        /// The function that runs, and the line that called it.
        let place: @Sendable () -> String?

        package init(beats: @escaping @Sendable () -> Int, place: @escaping @Sendable () -> String?) {
            self.beats = beats
            self.place = place
        }
    }

    /// The number of looks without a sign of life after which a stop is overdue.
    private static let looks = 20
    /// The number of looks with nothing to stop after which the thread rests.
    private static let idleLooks = 8

    private struct Rest {
        var isAwake = false
        var isClosed = false
        var hasThread = false
    }

    private let plan: Plan
    private let subject: Subject
    private let pulse: LoopPulse
    /// The kernel's number of the thread that runs the code.
    private let thread: Int32
    private let rest = Monitor(Rest())
    private let isResting = Atomic<Bool>(true)
    /// How deep the thread is in code of scripts.
    private let depth = Atomic<Int>(0)
    /// In nanoseconds of the monotonic clock; 0 for none.
    private let deadline = Atomic<Int64>(0)
    private let isRequested = Atomic<Bool>(false)
    /// The number of looks so far.
    let lookCount = Atomic<Int>(0)

    /// A watchdog for the calling thread.
    package init(_ plan: Plan, _ subject: Subject, _ pulse: LoopPulse) {
        (self.plan, self.subject, self.pulse) = (plan, subject, pulse)
        thread = cubby_thread_id()
    }

    /// Records that code of scripts begins, and that it has ended.
    package func enter() { depth.add(1, ordering: .releasing) }
    package func leave() { depth.subtract(1, ordering: .releasing) }

    /// Records the deadline of the running code.
    package func expect(_ end: MonotonicTime?) {
        deadline.store(end?.nanoseconds ?? 0, ordering: .sequentiallyConsistent)
        if end != nil { wake() }
    }

    /// Records that the running code must stop now; from any thread.
    package func stopNow() {
        isRequested.store(true, ordering: .sequentiallyConsistent)
        wake()
    }

    /// Ends the thread.
    package func close() { rest.change { $0.isClosed = true } }

    private func wake() {
        guard isResting.exchange(false, ordering: .sequentiallyConsistent) else { return }
        let starts = rest.change { rest in
            defer { (rest.isAwake, rest.hasThread) = (true, true) }
            return !rest.hasThread
        }
        // Without a thread there is no watchdog, and the rest goes on.
        if starts { _ = DetachedThread.start { [self] in run() } }
    }

    private func run() {
        var former = (beats: subject.beats() &+ pulse.beats, ticks: Self.ticks(of: thread).count)
        var silent = 0
        var idle = 0
        while true {
            let wait = secondsToWait
            usleep(UInt32(wait * 1_000_000))
            if rest.change({ $0.isClosed }) { return }
            lookCount.add(1, ordering: .relaxed)
            let beats = subject.beats() &+ pulse.beats
            let state = Self.ticks(of: thread)
            let isAlive = beats != former.beats || pulse.isWaiting || depth.load(ordering: .acquiring) == 0
            if isAlive {
                isRequested.store(false, ordering: .sequentiallyConsistent)
                silent = 0
            } else if isDue, UnstoppableWork.count.load(ordering: .acquiring) == 0, state.isItsOwn(since: former.ticks)
            {
                silent += 1
            }
            former = (beats, state.count)
            if silent >= Self.looks {
                let place = subject.place()
                guard beats == subject.beats() &+ pulse.beats, !pulse.isWaiting else { continue }
                let seconds = Int(exactly: plan.patience).map(String.init) ?? "\(plan.patience)"
                plan.report("a stop is overdue by \(seconds) s: \(place ?? "the host's own code") does not end")
                return
            }
            idle = isAlive && deadline.load(ordering: .relaxed) == 0 ? idle + 1 : 0
            if idle > Self.idleLooks {
                idle = 0
                guard takeRest() else { return }
            }
        }
    }

    /// Whether the code must have stopped by now.
    private var isDue: Bool {
        let end = deadline.load(ordering: .relaxed)
        return isRequested.load(ordering: .relaxed) || (end != 0 && end <= MonotonicTime.now().nanoseconds)
    }

    /// Seconds to the next look: a part of the patience, more before a distant deadline.
    private var secondsToWait: Double {
        let step = plan.patience / Double(Self.looks)
        let end = deadline.load(ordering: .relaxed)
        guard end != 0, !isRequested.load(ordering: .relaxed) else { return step }
        return max(step, min(Double(end &- MonotonicTime.now().nanoseconds) / 1e9, 4 * step))
    }

    /// Waits until there is something to stop; false at the end.
    private func takeRest() -> Bool {
        rest.change { $0.isAwake = false }
        isResting.store(true, ordering: .sequentiallyConsistent)
        // What came before the flag was seen.
        if deadline.load(ordering: .sequentiallyConsistent) != 0 || isRequested.load(ordering: .sequentiallyConsistent)
        {
            isResting.store(false, ordering: .sequentiallyConsistent)
            return true
        }
        return rest.wait(until: { $0.isAwake || $0.isClosed }) { !$0.isClosed }
    }

    // MARK: The thread's state

    /// The kernel's state of a thread, and the processor time that it has used.
    private struct ThreadLook {
        var letter: Character?
        var count: Int

        /// Whether the thread had the processor since an earlier look, or waits for something that is not the disk.
        func isItsOwn(since former: Int) -> Bool {
            guard let letter else { return true }
            return letter == "S" || count > former
        }
    }

    /// Reads a thread's state; empty where the kernel does not tell.
    private static func ticks(of thread: Int32) -> ThreadLook {
        let bytes = try? PosixFileLayer().contents(of: "/proc/self/task/\(thread)/stat", limit: 4096)
        // The name, in parentheses, may contain anything.
        let text = bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
        guard let end = text.lastIndex(of: ")") else { return ThreadLook(letter: nil, count: 0) }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 12 else { return ThreadLook(letter: nil, count: 0) }
        return ThreadLook(letter: fields[0].first, count: (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0))
    }
}
