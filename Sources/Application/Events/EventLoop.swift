import DequeModule
package import Files
import Glibc
import Platform

/// Waits for descriptors, timers and posts of other threads, and calls their handlers, all on one thread.
///
/// Not Sendable: the creating thread owns it; other threads reach it through `poster`. A handler may run a nested turn
/// of the loop (a script that waits inside a handler), which does not call the same handler again.
package final class EventLoop {
    /// The entry for other threads.
    package let poster: EventPoster
    /// The signs of life for a watchdog.
    package let pulse = LoopPulse()
    /// Called with each posted signal.
    package var onSignal: ((UnixSignal) -> Void)?

    /// Called after a wait much longer than its timeout: the process was frozen, or the machine asleep.
    package var onGap: ((LoopGap) -> Void)?

    /// Called once, before the first wait: for work that only a long-lived process needs.
    package var onFirstWait: (() -> Void)?

    /// The clock of a loop whose waits take no time; nil for the system's. Set before the first timer.
    package var virtualClock: VirtualClock?

    private var watches: [LoopWatch] = []
    private var timers = TimerQueue()
    private var wallClock: WallClock?
    /// The owner of the next timer.
    private var timerOwner: AnyObject?
    private var replies: [UInt64: (any Sendable) -> Void] = [:]
    private var notices: [(number: UInt64, notifier: EventNotifier, handler: () -> Void)] = []
    private var lastReply: UInt64 = 0
    /// Posts that were taken and not yet handled. If a handler runs a script, the remaining posts are still handled
    /// between two of the script's instructions.
    private var posts: Deque<EventPoster.Posted> = []
    /// The number of signals handled: what is due or ready is served only after the code that waits has looked at them.
    private var signalCount = 0
    /// Work that precedes everything due or ready.
    private var urgentWork: Deque<() -> Void> = []
    /// Reused, so that a turn allocates nothing.
    private var polled: [pollfd] = []

    /// - Throws: `FileError` when no descriptors are left.
    package init() throws(FileError) {
        poster = try EventPoster()
    }

    /// Watches a descriptor until the watch is cancelled.
    ///
    /// - Parameters:
    ///   - descriptor: remains the caller's.
    ///   - events: the awaited events; hang-ups and errors are always reported.
    ///   - handler: called with the ready events while they are ready.
    /// - Returns: the watch.
    @discardableResult
    package func watch(
        _ descriptor: Int32, for events: ReadyEvents = .readable, handler: @escaping (ReadyEvents) -> Void
    ) -> LoopWatch {
        let watch = LoopWatch(descriptor: descriptor, events: events, handler: handler)
        watches.append(watch)
        return watch
    }

    /// Calls a handler once, after a delay.
    ///
    /// - Parameters:
    ///   - seconds: the delay; a negative one counts as 0.
    ///   - handler: the handler.
    /// - Returns: the timer.
    @discardableResult
    package func after(_ seconds: Double, handler: @escaping () -> Void) -> LoopTimer {
        let timer = LoopTimer(
            interval: nil, deadline: now.advanced(by: max(seconds, 0)), owner: takeTimerOwner(), handler: handler)
        timers.add(timer)
        return timer
    }

    /// Runs work in the next turn, or between two handlers of this one: before any timer and any ready descriptor.
    package func urgently(_ work: @escaping () -> Void) { urgentWork.append(work) }

    /// Calls a handler repeatedly. A late call does not delay the next one, and missed calls are skipped.
    ///
    /// - Parameters:
    ///   - seconds: the interval, also before the first call; at least a millisecond.
    ///   - handler: the handler.
    /// - Returns: the timer.
    @discardableResult
    package func every(_ seconds: Double, handler: @escaping () -> Void) -> LoopTimer {
        let interval = seconds > 0.001 ? seconds : 0.001
        let timer = LoopTimer(
            interval: interval, deadline: now.advanced(by: interval), owner: takeTimerOwner(), handler: handler)
        timers.add(timer)
        return timer
    }

    /// The time by which timers are due.
    private var now: MonotonicTime { virtualClock?.now ?? .now() }

    /// The wall clock's time, in seconds since 1970.
    package var wallTime: Int64 { WallClock.now() }

    /// Calls a handler when the wall clock reaches a moment: at once if it has passed, including while the process was
    /// stopped or the machine slept; and whenever the clock is set.
    ///
    /// - Parameters:
    ///   - moment: in seconds since 1970.
    ///   - handler: receives the clock's time, and returns the next moment.
    /// - Returns: the timer.
    package func at(_ moment: Int64, handler: @escaping (_ now: Int64) -> Int64) -> WallTimer {
        let timer = WallTimer(moment: moment, owner: takeTimerOwner(), handler: handler)
        let clock = wallClock ?? WallClock(self)
        wallClock = clock
        clock.add(timer)
        return timer
    }

    /// Makes a timer that belongs to an object: the first one of `body`.
    package func timer<Value>(of owner: AnyObject, _ body: () -> Value) -> Value {
        timerOwner = owner
        defer { timerOwner = nil }
        return body()
    }

    private func takeTimerOwner() -> AnyObject? {
        defer { timerOwner = nil }
        return timerOwner
    }

    /// The owners of timers, each with the seconds until its timer fires; negative if it is overdue.
    package var ownedTimers: [(owner: AnyObject, seconds: Double)] {
        let (now, wallNow) = (MonotonicTime.now(), LifeCycleEvent.now())
        return timers.pending.compactMap { timer in timer.owner.map { ($0, timer.deadline.seconds(since: now)) } }
            + (wallClock?.pending ?? []).compactMap { timer in
                timer.owner.map { ($0, Double(timer.moment) - wallNow) }
            }
    }

    /// Makes a reply, through which another thread sends one value.
    ///
    /// - Parameter handler: called once on this thread with the value.
    /// - Returns: the reply for the other thread.
    package func reply<Value: Sendable>(_ handler: @escaping (Value) -> Void) -> EventReply<Value> {
        lastReply &+= 1
        replies[lastReply] = { value in
            if let value = value as? Value { handler(value) }
        }
        return EventReply(poster: poster, number: lastReply)
    }

    /// Drops a reply: its handler is neither called nor awaited any more.
    package func forget<Value>(_ reply: EventReply<Value>) { replies[reply.number] = nil }

    /// Makes a notifier, through which other threads call a handler repeatedly, until `forget(_:)`.
    ///
    /// - Parameter handler: called on this thread, possibly between two instructions of a running script.
    /// - Returns: the notifier for the other threads.
    package func notifier(_ handler: @escaping () -> Void) -> EventNotifier {
        lastReply &+= 1
        let notifier = EventNotifier(poster: poster, number: lastReply)
        notices.append((lastReply, notifier, handler))
        return notifier
    }

    /// Unregisters a notifier: its handler is no longer called.
    package func forget(_ notifier: EventNotifier) {
        notices.removeAll { $0.notifier === notifier }
    }

    /// Whether a timer or a reply is outstanding.
    package var hasWork: Bool {
        !timers.isEmpty || !replies.isEmpty || !urgentWork.isEmpty || wallClock?.isEmpty == false
    }

    /// One turn: waits for events, then calls their handlers.
    ///
    /// A signal that is handled meanwhile ends the turn: whoever waits looks at its consequences before anything else that
    /// is ready or due, however much that is.
    ///
    /// - Parameter timeout: the longest wait in seconds; nil for no limit, 0 for none.
    /// - Returns: whether any event was handled; the wait may also end early without one.
    @discardableResult
    package func runOnce(timeout: Double? = nil) -> Bool {
        watches.removeAll { $0.isCancelled }
        if let prepare = onFirstWait, milliseconds(timeout) != 0 {
            onFirstWait = nil
            prepare()
        }
        let ready = wait(timeout: timeout)
        var happened = drainPending()
        let mark = signalCount
        happened = doUrgentWork() || happened
        for (watch, events) in ready {
            if signalCount != mark { return true }
            if let handler = watch.handler, !watch.isFiring {
                watch.isFiring = true
                handler(events)
                watch.isFiring = false
                happened = true
            }
            happened = doUrgentWork() || happened
        }
        return fireTimers(since: mark) || happened
    }

    private func doUrgentWork() -> Bool {
        guard !urgentWork.isEmpty else { return false }
        // Work that is added meanwhile belongs to the next turn.
        for _ in 0..<urgentWork.count { urgentWork.popFirst()?() }
        return true
    }

    /// Runs turns until a condition holds; it is evaluated before each turn.
    ///
    /// - Parameter condition: true to end.
    package func run(until condition: () -> Bool) {
        while !condition() { runOnce() }
    }

    /// Handles pending posts of other threads without waiting, between two instructions of a running script.
    ///
    /// - Returns: whether there were any.
    @discardableResult
    package func drainPending() -> Bool {
        posts.append(contentsOf: poster.take())
        let hadPosts = !posts.isEmpty
        while let post = posts.popFirst() {
            switch post {
            case .signal(let signal):
                signalCount &+= 1
                onSignal?(signal)
            case .reply(let number, let value): replies.removeValue(forKey: number)?(value)
            case .notice(let number):
                guard let notice = notices.first(where: { $0.number == number }) else { continue }
                notice.notifier.acknowledge()
                notice.handler()
            case .wake: break
            }
        }
        return hadPosts
    }

    private func wait(timeout: Double?) -> [(LoopWatch, ReadyEvents)] {
        polled.removeAll(keepingCapacity: true)
        polled.append(pollfd(fd: poster.descriptor, events: Int16(POLLIN), revents: 0))
        var waiting: [LoopWatch] = []
        for watch in watches where !watch.isCancelled && !watch.isFiring && !watch.events.isEmpty {
            waiting.append(watch)
            polled.append(pollfd(fd: watch.descriptor, events: watch.events.pollEvents, revents: 0))
        }
        let isBusy = !replies.isEmpty || !waiting.isEmpty
        let limit = urgentWork.isEmpty ? virtualClock.map { pass(timeout, on: $0, isBusy) } ?? milliseconds(timeout) : 0
        let start = ClockPair.now()
        pulse.willWait()
        let count = poll(&polled, nfds_t(polled.count), limit)
        pulse.didWait()
        if let onGap, let gap = start.gap(until: .now(), waited: limit) { onGap(gap) }
        guard count > 0 else { return [] }
        if polled[0].revents != 0 { poster.acknowledge() }
        var ready: [(LoopWatch, ReadyEvents)] = []
        for (watch, entry) in zip(waiting, polled.dropFirst()) where entry.revents != 0 {
            ready.append((watch, ReadyEvents(pollEvents: entry.revents)))
        }
        return ready
    }

    /// The timeout for poll in milliseconds, rounded up so that a timer is due when poll returns; -1 for no limit.
    private func milliseconds(_ timeout: Double?) -> Int32 {
        let now = now
        var until: MonotonicTime?
        if let timeout { until = now.advanced(by: timeout) }
        if let deadline = timers.nextDeadline() { until = until.map { min($0, deadline) } ?? deadline }
        guard let until else { return -1 }
        let wait = until.nanoseconds &- now.nanoseconds
        if wait <= 0 { return 0 }
        return Int32(clamping: (wait &+ 999_999) / 1_000_000)
    }

    /// Calls the due timers, unless a signal has been handled since the turn's start.
    private func fireTimers(since signals: Int) -> Bool {
        let now = now
        let mark = timers.mark
        var fired = false
        while signalCount == signals, let timer = timers.takeDue(now, upTo: mark) {
            defer {
                drainPending()
                fired = doUrgentWork() || fired
            }
            guard let handler = timer.handler else { continue }
            fired = true
            guard let interval = timer.interval else {
                timer.cancel()
                handler()
                continue
            }
            // Queued again before the call, for nested turns inside the handler; not due again in this turn.
            timer.deadline = max(timer.deadline.advanced(by: interval), now)
            timers.add(timer)
            if timer.isFiring { continue }
            timer.isFiring = true
            handler()
            timer.isFiring = false
        }
        return fired
    }
}

extension EventLoop {
    /// Whether a thread's answer is outstanding.
    package var awaitsReplies: Bool { !replies.isEmpty }

    /// The time until the next timer is due, on a virtual clock; nil without timers.
    package func nanosecondsToNextTimer(on clock: VirtualClock) -> Int64? {
        let monotonic = timers.nextDeadline().map { $0.nanoseconds &- clock.now.nanoseconds }
        let wall = wallClock?.nextMoment.map { $0 &* 1_000_000_000 &- WallTime.now() }
        return [monotonic, wall].compactMap { $0 }.min().map { max($0, 0) }
    }

    /// Moves a virtual clock forward; what is due by it is called in the next turn.
    package func advance(_ clock: VirtualClock, nanoseconds: Int64) { pass(nanoseconds, on: clock, inVain: false) }

    /// Sets a virtual wall clock.
    package func set(_ clock: VirtualClock, wall: Int64) {
        clock.set(wall: wall)
        wallClock?.fire(wasSet: true)
    }

    private func pass(_ nanoseconds: Int64, on clock: VirtualClock, inVain: Bool) {
        clock.advance(nanoseconds: nanoseconds, inVain: inVain)
        if let next = wallClock?.nextMoment, next <= WallClock.now() { wallClock?.fire(wasSet: false) }
    }

    /// Lets the time of a wait pass at once, up to the next timer, unless something outside is awaited.
    ///
    /// - Returns: the time to wait in fact, in milliseconds; -1 for no limit.
    private func pass(_ timeout: Double?, on clock: VirtualClock, _ isBusy: Bool) -> Int32 {
        let timer = nanosecondsToNextTimer(on: clock)
        let limit = timeout.map { Int64((min($0, 1e9) * 1e9).rounded(.up)) }
        guard let next = [timer, limit].compactMap({ $0 }).min() else { return -1 }
        if next <= 0 { return 0 }
        if isBusy { return limit.map { Int32(clamping: $0 / 1_000_000 + 1) } ?? -1 }
        pass(next, on: clock, inVain: timer == nil)
        return 0
    }
}

/// An event loop's watch on a descriptor. The loop retains it until it is cancelled.
package final class LoopWatch {
    /// The watched descriptor.
    package let descriptor: Int32
    /// The awaited events; may be changed at any time, and an empty set pauses the watch.
    package var events: ReadyEvents
    /// Whether the loop no longer watches the descriptor.
    package private(set) var isCancelled = false

    var handler: ((ReadyEvents) -> Void)?
    /// Whether its handler is running: a nested turn must not call it again.
    var isFiring = false

    init(descriptor: Int32, events: ReadyEvents, handler: @escaping (ReadyEvents) -> Void) {
        self.descriptor = descriptor
        self.events = events
        self.handler = handler
    }

    /// Cancels the watch; the descriptor stays open. Cancel before closing it.
    package func cancel() {
        isCancelled = true
        handler = nil
    }
}

/// The awaited or ready events of a descriptor.
package struct ReadyEvents: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A read does not block, or the other end has closed.
    package static let readable = ReadyEvents(rawValue: UInt8(POLLIN))
    /// A write does not block.
    package static let writable = ReadyEvents(rawValue: UInt8(POLLOUT))
    /// An exceptional condition, such as memory pressure.
    package static let priority = ReadyEvents(rawValue: UInt8(POLLPRI))
    /// The other end is gone. Always reported.
    package static let hangUp = ReadyEvents(rawValue: UInt8(POLLHUP))
    /// The descriptor is in error. Always reported.
    package static let error = ReadyEvents(rawValue: UInt8(POLLERR))

    var pollEvents: Int16 { Int16(rawValue) }

    init(pollEvents: Int16) {
        let ready = ReadyEvents(rawValue: UInt8(truncatingIfNeeded: pollEvents))
        self = ready.intersection([.readable, .writable, .priority, .hangUp, .error])
        if pollEvents & Int16(POLLNVAL) != 0 { insert(.error) }
    }
}
