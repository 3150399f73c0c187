import CPlatform
import Glibc

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
        descriptor = cubby_wall_timer()
        guard descriptor >= 0 else { return }
        watch = loop.watch(descriptor) { [unowned self] _ in tick() }
    }

    deinit {
        watch?.cancel()
        poll?.cancel()
        if descriptor >= 0 { close(descriptor) }
    }

    var isEmpty: Bool { timers.allSatisfy(\.isCancelled) }

    func add(_ timer: WallTimer) {
        timers.append(timer)
        arm()
    }

    /// Calls the timers that are due, or all of them if the clock was set.
    private func tick() {
        var expirations: UInt64 = 0
        if descriptor >= 0 { _ = read(descriptor, &expirations, 8) }
        let lead = Self.lead()
        // A clock that is only slowed down or sped up never jumps by a second.
        let wasSet = abs(lead - self.lead) >= 1
        self.lead = lead
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
        } else if poll == nil {
            poll = loop.every(1) { [weak self] in self?.tick() }
        }
    }

    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec)
    }

    private static func lead() -> Double {
        var (wall, boot) = (timespec(), timespec())
        clock_gettime(CLOCK_REALTIME, &wall)
        clock_gettime(CLOCK_BOOTTIME, &boot)
        return Double(wall.tv_sec - boot.tv_sec) + Double(wall.tv_nsec - boot.tv_nsec) / 1e9
    }
}
