public import Files
import Glibc

/// Waits for descriptors, timers and what other threads post, and calls their handlers, all on one thread.
///
/// Not Sendable: the thread that makes it owns it, and other threads reach it through `poster`. A handler may turn the loop
/// itself (a script that waits inside a handler); a handler that is running is not called again meanwhile.
public final class EventLoop {
    /// For other threads.
    public let poster: EventPoster
    /// Called with each signal that was posted.
    public var onSignal: ((UnixSignal) -> Void)?

    /// Called after a wait that was much longer than asked for: the process was frozen, or the machine asleep.
    public var onGap: ((LoopGap) -> Void)?

    /// Called once, before the loop waits for the first time: what is worth its cost only in a process that stays.
    public var onFirstWait: (() -> Void)?

    private var watches: [LoopWatch] = []
    private var timers = TimerQueue()
    private var replies: [UInt64: (any Sendable) -> Void] = [:]
    private var notices: [UInt64: (notifier: EventNotifier, handler: () -> Void)] = [:]
    private var lastReply: UInt64 = 0
    /// Kept between turns, so that a turn allocates nothing.
    private var polled: [pollfd] = []

    /// - Throws: `FileError` when the process has no descriptors left.
    public init() throws(FileError) {
        poster = try EventPoster()
    }

    /// Watches a descriptor until the watch is cancelled.
    ///
    /// - Parameters:
    ///   - descriptor: stays the caller's.
    ///   - events: what to wait for; a hang-up and an error are told in any case.
    ///   - handler: called with what it is ready for, again and again as long as it is.
    /// - Returns: the watch.
    @discardableResult
    public func watch(
        _ descriptor: Int32, for events: ReadyEvents = .readable, handler: @escaping (ReadyEvents) -> Void
    ) -> LoopWatch {
        let watch = LoopWatch(descriptor: descriptor, events: events, handler: handler)
        watches.append(watch)
        return watch
    }

    /// Calls a handler once, after some time.
    ///
    /// - Parameters:
    ///   - seconds: from now; less than 0 counts as 0.
    ///   - handler: what to do then.
    /// - Returns: the timer.
    @discardableResult
    public func after(_ seconds: Double, handler: @escaping () -> Void) -> LoopTimer {
        let timer = LoopTimer(interval: nil, deadline: .now().advanced(by: max(seconds, 0)), handler: handler)
        timers.add(timer)
        return timer
    }

    /// Calls a handler again and again. A call that comes late does not make the next ones come faster, and calls that were
    /// missed are not made up for.
    ///
    /// - Parameters:
    ///   - seconds: between two calls, and before the first; a millisecond at least.
    ///   - handler: what to do then.
    /// - Returns: the timer.
    @discardableResult
    public func every(_ seconds: Double, handler: @escaping () -> Void) -> LoopTimer {
        let interval = seconds > 0.001 ? seconds : 0.001
        let timer = LoopTimer(interval: interval, deadline: .now().advanced(by: interval), handler: handler)
        timers.add(timer)
        return timer
    }

    /// Makes a reply that another thread sends a value with.
    ///
    /// - Parameter handler: called once on this thread with the value.
    /// - Returns: what to hand to the other thread.
    public func reply<Value: Sendable>(_ handler: @escaping (Value) -> Void) -> EventReply<Value> {
        lastReply &+= 1
        replies[lastReply] = { value in
            if let value = value as? Value { handler(value) }
        }
        return EventReply(poster: poster, number: lastReply)
    }

    /// Makes what another thread calls a handler with, again and again, until `forget(_:)`.
    ///
    /// - Parameter handler: called on this thread, possibly between two steps of a running script.
    /// - Returns: what to hand to the other thread.
    public func notifier(_ handler: @escaping () -> Void) -> EventNotifier {
        lastReply &+= 1
        let notifier = EventNotifier(poster: poster, number: lastReply)
        notices[lastReply] = (notifier, handler)
        return notifier
    }

    /// The notifier's handler is called no more.
    public func forget(_ notifier: EventNotifier) {
        notices = notices.filter { $0.value.notifier !== notifier }
    }

    /// Whether a timer or a reply is outstanding: something will happen without anybody's doing.
    public var hasWork: Bool { !timers.isEmpty || !replies.isEmpty }

    /// One turn: waits until something happens, then calls the handlers of all that did.
    ///
    /// - Parameter timeout: how many seconds to wait at most; nil waits for ever, 0 not at all.
    /// - Returns: whether anything happened; the wait may also end early without anything.
    @discardableResult
    public func runOnce(timeout: Double? = nil) -> Bool {
        watches.removeAll { $0.isCancelled }
        if let prepare = onFirstWait, milliseconds(timeout) != 0 {
            onFirstWait = nil
            prepare()
        }
        let ready = wait(timeout: timeout)
        var happened = drainPending()
        for (watch, events) in ready where call(watch, events) { happened = true }
        return fireTimers() || happened
    }

    /// Turns the loop until a condition holds; it is asked before each turn.
    ///
    /// - Parameter condition: true when it is enough.
    public func run(until condition: () -> Bool) {
        while !condition() { runOnce() }
    }

    /// Handles what other threads have posted, and nothing else, without waiting: what a running script does between two
    /// of its steps.
    ///
    /// - Returns: whether anything had been posted.
    @discardableResult
    public func drainPending() -> Bool {
        let posted = poster.take()
        for entry in posted {
            switch entry {
            case .signal(let signal): onSignal?(signal)
            case .reply(let number, let value): replies.removeValue(forKey: number)?(value)
            case .notice(let number):
                guard let notice = notices[number] else { continue }
                notice.notifier.acknowledge()
                notice.handler()
            case .wake: break
            }
        }
        return !posted.isEmpty
    }

    private func wait(timeout: Double?) -> [(LoopWatch, ReadyEvents)] {
        polled.removeAll(keepingCapacity: true)
        polled.append(pollfd(fd: poster.descriptor, events: Int16(POLLIN), revents: 0))
        var waiting: [LoopWatch] = []
        for watch in watches where !watch.isCancelled && !watch.isFiring && !watch.events.isEmpty {
            waiting.append(watch)
            polled.append(pollfd(fd: watch.descriptor, events: watch.events.pollEvents, revents: 0))
        }
        let limit = milliseconds(timeout)
        let start = ClockPair.now()
        let count = poll(&polled, nfds_t(polled.count), limit)
        if let onGap, let gap = start.gap(until: .now(), waited: limit) { onGap(gap) }
        guard count > 0 else { return [] }
        if polled[0].revents != 0 { poster.acknowledge() }
        var ready: [(LoopWatch, ReadyEvents)] = []
        for (watch, entry) in zip(waiting, polled.dropFirst()) where entry.revents != 0 {
            ready.append((watch, ReadyEvents(pollEvents: entry.revents)))
        }
        return ready
    }

    /// Milliseconds for poll, rounded up, so that a timer is due when poll returns; -1 for ever.
    private func milliseconds(_ timeout: Double?) -> Int32 {
        let now = MonotonicTime.now()
        var until: MonotonicTime?
        if let timeout { until = now.advanced(by: timeout) }
        if let deadline = timers.nextDeadline() { until = until.map { min($0, deadline) } ?? deadline }
        guard let until else { return -1 }
        let wait = until.nanoseconds &- now.nanoseconds
        if wait <= 0 { return 0 }
        return Int32(clamping: (wait &+ 999_999) / 1_000_000)
    }

    private func call(_ watch: LoopWatch, _ events: ReadyEvents) -> Bool {
        guard let handler = watch.handler, !watch.isFiring else { return false }
        watch.isFiring = true
        defer { watch.isFiring = false }
        handler(events)
        return true
    }

    private func fireTimers() -> Bool {
        let now = MonotonicTime.now()
        let mark = timers.mark
        var fired = false
        while let timer = timers.takeDue(now, upTo: mark) {
            guard let handler = timer.handler else { continue }
            fired = true
            guard let interval = timer.interval else {
                timer.cancel()
                handler()
                continue
            }
            // Back in before the call, so that the loop may be turned inside the handler; not due in this turn again.
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
