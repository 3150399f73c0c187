internal import CPlatform
internal import Platform
internal import Synchronization

/// The executor of one engine: a separate thread, with a stack for deeply nested scripts. Signals are left to the
/// program's other threads.
///
/// The thread retains its executor until it ends, so jobs can be enqueued during the engine's last release.
final class EngineThread: SerialExecutor {
    /// As for the main thread: Lua's nesting limits need a fraction of it, and untouched pages cost nothing.
    private static let stackSize = 8 << 20

    /// A job that has not begun, and the flag of the run that it begins; nil if it is another job.
    private typealias Queued = (job: UnownedJob, run: StopFlag?)

    private struct State {
        var jobs: [Queued] = []
        /// The first of the jobs that have not begun.
        var first = 0
        /// Whether a job is being run.
        var isBusy = false
        var hasEnded = false
        /// Waits with a deadline.
        var limited: [ObjectIdentifier: (end: MonotonicTime, wait: RunWait)] = [:]
        /// At or before the first of these deadlines.
        var nextEnd: MonotonicTime?
        /// When ``EngineWatch`` looks at the jobs and the waits; nil for never.
        var watchTime: MonotonicTime?

        var isIdle: Bool { !isBusy && first == jobs.count }

        mutating func takeJob() -> UnownedJob? {
            isBusy = first < jobs.count
            guard isBusy else { return nil }
            let job = jobs[first].job
            first += 1
            // Without moving the others each time.
            if first == jobs.count || first == 256 {
                jobs.removeFirst(first)
                first = 0
            }
            return job
        }

        /// The jobs whose runs must not begin any more.
        mutating func takeOverdue(_ now: MonotonicTime) -> [UnownedJob] {
            var overdue: [UnownedJob] = []
            watchTime = nil
            let queued = jobs[first...]
            (jobs, first) = ([], 0)
            for each in queued {
                if let run = each.run, run.giveUp(now) {
                    overdue.append(each.job)
                } else {
                    jobs.append(each)
                    if let end = each.run?.end { watchTime = min(watchTime ?? end, end) }
                }
            }
            return overdue
        }

        /// Appends a job; returns when it has to be looked at, if that is earlier than before.
        mutating func append(_ job: UnownedJob, _ run: StopFlag?) -> MonotonicTime? {
            let isNext = isIdle
            jobs.append((job, run))
            guard !isNext, let run, let end = run.isSet ? .now() : run.end, watchTime.map({ end < $0 }) ?? true else {
                return nil
            }
            watchTime = end
            return end
        }

        /// When the waits must be looked at, if that is earlier than before: the thread runs a job, and cannot.
        mutating func watchWaits() -> MonotonicTime? {
            guard isBusy, let nextEnd, watchTime.map({ nextEnd < $0 }) ?? true else { return nil }
            watchTime = nextEnd
            return nextEnd
        }

        mutating func takeDue(_ now: MonotonicTime) -> [RunWait] {
            guard let nextEnd, nextEnd <= now else { return [] }
            let due = limited.filter { $0.value.end <= now }
            for key in due.keys { limited[key] = nil }
            self.nextEnd = limited.values.lazy.map(\.end).min()
            return due.values.map(\.wait)
        }
    }

    private let state = Mutex(State())
    private let wake = ThreadSignal()
    /// Whether the thread sleeps, or is about to: it must be woken.
    private let sleeps = Atomic<Bool>(false)
    /// The requests to look at the state, and the jobs that were run.
    private let requests = Atomic<Int>(0)
    private let ended = Atomic<Int>(0)
    private let ownPatience = Patience()
    private let callersPatience = Patience()

    /// The threads blocked by a wait for the current Swift task: it must not wait for one of them in turn.
    @TaskLocal static var blocked: Set<ObjectIdentifier> = []

    init() throws(LuaError) {
        let retained = Unmanaged.passRetained(self)
        let result = cubby_thread_start(
            Self.stackSize,
            { argument in
                if let argument { Unmanaged<EngineThread>.fromOpaque(argument).takeRetainedValue().runJobs() }
                return nil
            }, retained.toOpaque(), nil)
        guard result == 0 else {
            retained.release()
            throw LuaError(.memory, "no thread can be created for a Lua engine (error \(-result))")
        }
    }

    /// If the thread is idle, the caller's thread waits a moment for the job's end: a short run is then answered without
    /// waking a thread.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The job may be the last one, at whose end the thread lets go of this object.
        let retained = Unmanaged.passRetained(self)
        defer { retained.release() }
        let ended = ended.load(ordering: .acquiring)
        let run = Self.takeAnnounced()
        let (isNext, watchTime) = state.withLock { state in
            let isNext = state.isIdle
            return (isNext, state.append(job, run))
        }
        request()
        if isNext {
            callersPatience.wait { self.ended.load(ordering: .acquiring) != ended }
        } else if let watchTime {
            EngineWatch.shared.look(at: self, by: watchTime)
        }
    }

    // MARK: Runs that have not begun

    /// Says whose run begins with the job that this thread enqueues next: the executor is told no more than a job. The
    /// caller has to call a function of the engine at once, which calls `takeAnnounced()` first: it may be here already.
    static func announce(_ run: StopFlag) { ThreadHandover.leave(run) }

    @discardableResult
    static func takeAnnounced() -> StopFlag? { ThreadHandover.take() as? StopFlag }

    /// Answers a cancelled run soon, if it has not begun.
    func answerSoon(_ run: StopFlag) {
        let mustLook = state.withLock { state in state.jobs[state.first...].contains { $0.run === run } }
        if mustLook { EngineWatch.shared.look(at: self, by: .now()) }
    }

    /// Ends the waits that are due: the job that the thread runs may be one that such a wait is for. Runs the jobs of
    /// runs that must not begin any more: they throw without a look at the state. To be called by ``EngineWatch``, whose
    /// thread is not this one.
    ///
    /// - Returns: when the next one is due.
    func answerOverdue() -> MonotonicTime? {
        let (jobs, due, next) = state.withLock { state in
            let now = MonotonicTime.now()
            let (jobs, due) = (state.takeOverdue(now), state.takeDue(now))
            _ = state.watchWaits()
            return (jobs, due, state.watchTime)
        }
        for wait in due { wait.end(nil) }
        for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
        return next
    }

    // MARK: The thread

    /// Ends the thread after the enqueued jobs. Nothing may be enqueued afterwards.
    func end() {
        state.withLock { $0.hasEnded = true }
        request()
    }

    /// Makes the thread look at its state. It counts first and then looks whether the thread sleeps; the thread says
    /// that it sleeps and then looks at the count: at least one of them sees the other.
    private func request() {
        requests.add(1, ordering: .sequentiallyConsistent)
        if sleeps.load(ordering: .sequentiallyConsistent) { wake.set() }
    }

    /// Sets a wait's deadline. Must be called on this thread.
    func limit(_ wait: RunWait, to end: MonotonicTime) {
        state.withLock {
            $0.limited[ObjectIdentifier(wait)] = (end, wait)
            $0.nextEnd = min($0.nextEnd ?? end, end)
        }
    }

    func unlimit(_ wait: RunWait) { state.withLock { $0.limited[ObjectIdentifier(wait)] = nil } }

    private func runJobs() {
        while true {
            let seen = requests.load(ordering: .acquiring)
            let (job, due, hasEnded, nextEnd, watchTime) = state.withLock { state in
                let due = state.nextEnd == nil ? [] : state.takeDue(.now())
                return (state.takeJob(), due, state.hasEnded, state.nextEnd, state.watchWaits())
            }
            for wait in due { wait.end(nil) }
            if let watchTime { EngineWatch.shared.look(at: self, by: watchTime) }
            if let job {
                job.runSynchronously(on: asUnownedSerialExecutor())
                ended.add(1, ordering: .releasing)
            }
            guard job == nil, due.isEmpty else { continue }
            if hasEnded { return }
            if !ownPatience.wait({ requests.load(ordering: .acquiring) != seen }) { sleep(seen, until: nextEnd) }
        }
    }

    private func sleep(_ seen: Int, until end: MonotonicTime?) {
        sleeps.store(true, ordering: .sequentiallyConsistent)
        if requests.load(ordering: .sequentiallyConsistent) == seen { wake.wait(until: end) }
        sleeps.store(false, ordering: .sequentiallyConsistent)
    }
}

/// A word from one piece of code on a thread to the next, where a call between them cannot pass it.
enum ThreadHandover {
    static func leave(_ object: AnyObject) {
        let former = cubby_thread_handover(Unmanaged.passRetained(object).toOpaque())
        if let former { Unmanaged<AnyObject>.fromOpaque(former).release() }
    }

    /// What was left on this thread, which has nothing from then on.
    static func take() -> AnyObject? {
        cubby_thread_handover(nil).map { Unmanaged<AnyObject>.fromOpaque($0).takeRetainedValue() }
    }
}

/// A thread's wait for another one that will probably answer within microseconds: to sleep and be woken takes both longer.
///
/// It takes no more than 20 µs of a processor, and after a wait in vain the next ones are left out, twice as many each time.
/// Where a processor is free, a short run takes half of the time with it.
final class Patience: Sendable {
    private static let limit: Int64 = 20_000
    private static let mostSkipped = 256
    /// With one processor the other thread has none meanwhile.
    private static let isUseful = cubby_processor_count() > 1

    private let skipped = Atomic<Int>(0)
    private let left = Atomic<Int>(0)

    /// - Returns: whether it is so.
    @discardableResult
    func wait(_ isSo: () -> Bool) -> Bool {
        guard Self.isUseful else { return false }
        let left = left.load(ordering: .relaxed)
        guard left == 0 else {
            self.left.store(left - 1, ordering: .relaxed)
            return false
        }
        let start = MonotonicTime.now().nanoseconds
        repeat {
            for _ in 0..<16 {
                if isSo() {
                    skipped.store(0, ordering: .relaxed)
                    return true
                }
                cubby_pause()
            }
        } while MonotonicTime.now().nanoseconds - start < Self.limit
        let skipped = min(max(skipped.load(ordering: .relaxed) * 2, 1), Self.mostSkipped)
        self.skipped.store(skipped, ordering: .relaxed)
        self.left.store(skipped, ordering: .relaxed)
        return false
    }
}

/// The thread that answers, for all engines, the runs that wait for an engine's thread until their deadlines, or until
/// they are cancelled, and that ends the waits of runs at their deadlines while an engine's thread is busy.
///
/// It exists once a run has had to wait for its turn, or a wait has had a deadline, and sleeps until the next one.
final class EngineWatch: Sendable {
    static let shared = EngineWatch()

    private struct State {
        var hasThread = false
        var times: [ObjectIdentifier: Watched] = [:]

        mutating func takeDue(_ now: MonotonicTime) -> ([EngineThread], MonotonicTime?) {
            let due = times.filter { $0.value.time <= now }
            for key in due.keys { times[key] = nil }
            return (due.values.compactMap(\.thread), times.values.lazy.map(\.time).min())
        }
    }

    /// An engine's thread, which may end before.
    private struct Watched {
        weak var thread: EngineThread?
        let time: MonotonicTime
    }

    private let state = Mutex(State())
    private let wake = ThreadSignal()

    private init() {}

    /// Makes the thread look at an engine's jobs at some time, or earlier.
    func look(at thread: EngineThread, by time: MonotonicTime) {
        let mustStart = state.withLock { state in
            let key = ObjectIdentifier(thread)
            state.times[key] = Watched(thread: thread, time: min(state.times[key]?.time ?? time, time))
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if mustStart { start() }
        wake.set()
    }

    /// Without a thread, runs are answered when their engines' threads are free.
    private func start() {
        let result = cubby_thread_start(
            256 << 10,
            { argument in
                if let argument { Unmanaged<EngineWatch>.fromOpaque(argument).takeUnretainedValue().watch() }
                return nil
            }, Unmanaged.passUnretained(self).toOpaque(), nil)
        if result != 0 { state.withLock { $0.hasThread = false } }
    }

    private func watch() {
        while true {
            let (due, next) = state.withLock { $0.takeDue(.now()) }
            for thread in due {
                if let time = thread.answerOverdue() { look(at: thread, by: time) }
            }
            if due.isEmpty { wake.wait(until: next) }
        }
    }
}
