import CPlatform
import Glibc
import Platform

/// A loop's timers, by deadline and then by insertion order. Independent of any clock.
///
/// A binary heap: insertion and removal are logarithmic. Cancelled timers are removed when they reach the top, or all
/// together once they are most of the heap.
struct TimerQueue {
    private struct Entry {
        var timer: LoopTimer
        var deadline: MonotonicTime
        var order: UInt64

        func comesBefore(_ other: Entry) -> Bool {
            deadline == other.deadline ? order < other.order : deadline < other.deadline
        }
    }

    private var heap: [Entry] = []
    private var order: UInt64 = 0

    var isEmpty: Bool { !heap.contains { !$0.timer.isCancelled } }

    /// The timers that will fire, in no order.
    var pending: [LoopTimer] { heap.map(\.timer).filter { !$0.isCancelled } }

    mutating func add(_ timer: LoopTimer) {
        if heap.count >= 64 { dropCancelledIfMany() }
        order &+= 1
        heap.append(Entry(timer: timer, deadline: timer.deadline, order: order))
        siftUp(heap.count - 1)
    }

    /// The deadline of the next timer; nil without timers.
    mutating func nextDeadline() -> MonotonicTime? {
        dropCancelledFirst()
        return heap.first?.deadline
    }

    /// A mark between the present timers and those added later.
    var mark: UInt64 { order }

    /// Takes the first due timer that was added before `mark`, so that timers that add timers do not prolong a turn for
    /// ever.
    mutating func takeDue(_ now: MonotonicTime, upTo mark: UInt64) -> LoopTimer? {
        dropCancelledFirst()
        guard let first = heap.first, first.deadline <= now, first.order <= mark else { return nil }
        removeFirst()
        return first.timer
    }

    private mutating func dropCancelledFirst() {
        while let first = heap.first, first.timer.isCancelled { removeFirst() }
    }

    private mutating func dropCancelledIfMany() {
        let cancelled = heap.count { $0.timer.isCancelled }
        guard cancelled > heap.count / 2 else { return }
        heap.removeAll { $0.timer.isCancelled }
        // A sorted array is a heap.
        heap.sort { $0.comesBefore($1) }
    }

    private mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].comesBefore(heap[least]) { least = child }
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].comesBefore(heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }
}

/// A timer of an event loop. The loop retains it until it is done or cancelled.
package final class LoopTimer {
    /// Seconds between two calls; nil for a timer that fires once.
    package let interval: Double?
    /// The time of its next call.
    package internal(set) var deadline: MonotonicTime
    /// Whether the timer will not fire again.
    package private(set) var isCancelled = false
    /// The object that it belongs to, as long as it fires.
    private(set) var owner: AnyObject?

    var handler: (() -> Void)?
    /// Whether its handler is running: a nested turn must not call it again.
    var isFiring = false

    init(interval: Double?, deadline: MonotonicTime, owner: AnyObject? = nil, handler: @escaping () -> Void) {
        self.interval = interval
        self.deadline = deadline
        self.owner = owner
        self.handler = handler
    }

    /// Cancels the timer. Idempotent.
    package func cancel() {
        isCancelled = true
        handler = nil
        owner = nil
    }
}

/// A timer of the wall clock. The loop retains it until it is cancelled.
package final class WallTimer {
    /// The next due time, in seconds since 1970.
    private(set) var moment: Int64
    package private(set) var isCancelled = false
    /// The object that it belongs to, as long as it fires.
    private(set) var owner: AnyObject?
    /// Called when the clock has reached the moment, or was set forward or back; returns the next moment.
    private var handler: ((_ now: Int64) -> Int64)?

    init(moment: Int64, owner: AnyObject?, handler: @escaping (Int64) -> Int64) {
        self.moment = moment
        self.owner = owner
        self.handler = handler
    }

    func call(_ now: Int64) {
        if let handler { moment = handler(now) }
    }

    /// Cancels the timer. Idempotent.
    package func cancel() {
        isCancelled = true
        handler = nil
        owner = nil
    }
}

/// The wall-clock timers of an event loop.
///
/// The kernel reports the moment, also after the machine slept, and a change of the clock. If it cannot, the clock is
/// polled each second.
final class WallClock {
    private unowned let loop: EventLoop
    private let descriptor: Int32
    private var timers: [WallTimer] = []
    private var poll: LoopTimer?
    private var watch: LoopWatch?
    /// The wall clock's offset from the boot-time clock, which is never set.
    private var lead = WallClock.lead()

    init(_ loop: EventLoop) {
        self.loop = loop
        descriptor = loop.virtualClock == nil ? cubby_wall_timer() : -1
        guard descriptor >= 0 else { return }
        watch = loop.watch(descriptor) { [unowned self] _ in tick() }
    }

    deinit {
        watch?.cancel()
        poll?.cancel()
        if descriptor >= 0 { close(descriptor) }
    }

    var isEmpty: Bool { timers.allSatisfy(\.isCancelled) }

    /// The timers that will fire.
    var pending: [WallTimer] { timers.filter { !$0.isCancelled } }

    func add(_ timer: WallTimer) {
        timers.append(timer)
        arm()
    }

    /// The next moment in seconds since 1970, for a clock that this process moves itself; nil without timers.
    var nextMoment: Int64? { timers.filter { !$0.isCancelled }.map(\.moment).min() }

    /// Calls the timers that are due, or all of them if the clock was set.
    private func tick() {
        var expirations: UInt64 = 0
        if descriptor >= 0 { _ = read(descriptor, &expirations, 8) }
        let lead = Self.lead()
        // A clock that is only slowed down or sped up never jumps by a second.
        let wasSet = abs(lead - self.lead) >= 1
        self.lead = lead
        fire(wasSet: wasSet)
    }

    /// Calls the timers that are due, or all of them.
    func fire(wasSet: Bool) {
        let now = Self.now()
        timers.removeAll { $0.isCancelled }
        for timer in timers where wasSet || timer.moment <= now {
            // Deferred, since a nested turn of the loop within this handler must call the others.
            loop.after(0) { timer.call(now) }
        }
        loop.after(0) { [weak self] in self?.arm() }
    }

    private func arm() {
        timers.removeAll { $0.isCancelled }
        guard let next = timers.map(\.moment).min() else {
            poll?.cancel()
            poll = nil
            if descriptor >= 0 { _ = cubby_wall_timer_set(descriptor, 0) }
            return
        }
        if descriptor >= 0 {
            // If the clock was set meanwhile, the timer must fire at once.
            if cubby_wall_timer_set(descriptor, max(next, 1)) == -ECANCELED {
                loop.after(0) { [weak self] in self?.tick() }
            }
        } else if poll == nil, loop.virtualClock == nil {
            poll = loop.every(1) { [weak self] in self?.tick() }
        }
    }

    static func now() -> Int64 {
        let (seconds, rest) = WallTime.now().quotientAndRemainder(dividingBy: 1_000_000_000)
        return rest < 0 ? seconds - 1 : seconds
    }

    private static func lead() -> Double {
        let (wall, boot) = (timespec.now(), timespec.now(CLOCK_BOOTTIME))
        return Double(wall.tv_sec - boot.tv_sec) + Double(wall.tv_nsec - boot.tv_nsec) / 1e9
    }
}

extension timespec {
    /// The time of a clock of the system.
    static func now(_ clock: clockid_t = CLOCK_REALTIME) -> timespec {
        var moment = timespec()
        clock_gettime(clock, &moment)
        return moment
    }
}

/// Time during which the process did not run.
package enum LoopGap: Sendable, Hashable {
    /// The machine slept; seconds.
    case slept(Double)
    /// The process was frozen, or stopped from outside, while it waited; seconds.
    case frozen(Double)

    /// Shorter gaps are ignored: a busy machine causes them.
    static let threshold = 1.0
}

/// A moment on two clocks, one of which stops while the machine sleeps.
struct ClockPair: Sendable, Hashable {
    /// Seconds that the machine ran.
    var running: Double
    /// Seconds since boot, including sleep.
    var boot: Double

    static func now() -> ClockPair {
        ClockPair(running: seconds(CLOCK_MONOTONIC), boot: seconds(CLOCK_BOOTTIME))
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        let moment = timespec.now(clock)
        return Double(moment.tv_sec) + Double(moment.tv_nsec) / 1e9
    }

    /// The gap during a wait of at most this many milliseconds (negative: no limit).
    func gap(until end: ClockPair, waited milliseconds: Int32) -> LoopGap? {
        let slept = (end.boot - boot) - (end.running - running)
        if slept > LoopGap.threshold { return .slept(slept) }
        guard milliseconds >= 0 else { return nil }
        let late = end.running - running - Double(milliseconds) / 1000
        return late > LoopGap.threshold ? .frozen(late) : nil
    }
}

/// The clock of a loop that tests code: it stands, and moves at once where the loop would wait for a timer.
///
/// The thread's wall clock stands with it. Its monotonic clock runs on, ahead by as much as this one has moved, so that
/// code that does not end is still stopped by its time limit.
package final class VirtualClock {
    /// Called when time passes, with nanoseconds; not for a wait that nothing could end.
    package var onMove: (Int64) -> Void = { _ in }
    /// The time of the loop's timers.
    private(set) var now = MonotonicTime.now()

    /// Takes the clocks of the calling thread, until ``end()``.
    ///
    /// - Parameter wall: where the wall clock stands, in nanoseconds since 1970; the current time if not given, as a whole
    ///   second, so that the difference of two dates is what has passed.
    package init(wall: Int64? = nil) {
        ThreadClock.set(wall: wall ?? WallTime.now() / 1_000_000_000 * 1_000_000_000)
    }

    /// Where the wall clock stands.
    package var wall: Int64 { WallTime.now() }

    /// Returns the thread to the system's clocks.
    package func end() { ThreadClock.reset() }

    func advance(nanoseconds: Int64, inVain: Bool) {
        now = MonotonicTime(nanoseconds: now.nanoseconds &+ nanoseconds)
        ThreadClock.advance(nanoseconds: nanoseconds)
        if !inVain { onMove(nanoseconds) }
    }

    func set(wall: Int64) { ThreadClock.set(wall: wall) }
}
