import Testing

@testable import Application

@Suite("TimerQueue")
struct TimerQueueTests {
    func timer(_ at: Int64) -> LoopTimer {
        LoopTimer(interval: nil, deadline: MonotonicTime(nanoseconds: at), handler: {})
    }

    func drain(_ queue: inout TimerQueue, at now: Int64 = .max) -> [Int64] {
        var taken: [Int64] = []
        let mark = queue.mark
        while let timer = queue.takeDue(MonotonicTime(nanoseconds: now), upTo: mark) {
            taken.append(timer.deadline.nanoseconds)
        }
        return taken
    }

    @Test("Any order in, by deadline out", arguments: 1...200)
    func sorts(count: Int) {
        var random = SystemRandomNumberGenerator()
        var queue = TimerQueue()
        let deadlines = (0..<count).map { _ in Int64.random(in: 0...50, using: &random) }
        for deadline in deadlines { queue.add(timer(deadline)) }
        #expect(drain(&queue) == deadlines.sorted())
        #expect(queue.isEmpty)
    }

    @Test func equalDeadlinesKeepTheirOrder() {
        var queue = TimerQueue()
        let timers = (0..<20).map { _ in timer(7) }
        for timer in timers { queue.add(timer) }
        for expected in timers {
            #expect(queue.takeDue(MonotonicTime(nanoseconds: 7), upTo: queue.mark) === expected)
        }
    }

    @Test func takesOnlyWhatIsDue() {
        var queue = TimerQueue()
        for deadline: Int64 in [30, 10, 20] { queue.add(timer(deadline)) }
        #expect(drain(&queue, at: 20) == [10, 20])
        #expect(queue.nextDeadline()?.nanoseconds == 30)
    }

    @Test func whatIsAddedLaterWaitsForTheNextTurn() {
        var queue = TimerQueue()
        queue.add(timer(1))
        let mark = queue.mark
        queue.add(timer(0))
        #expect(queue.takeDue(MonotonicTime(nanoseconds: 5), upTo: mark) == nil)
        #expect(drain(&queue) == [0, 1])
    }

    @Test func cancelledTimersGo() {
        var queue = TimerQueue()
        let timers = (0..<500).map { timer(Int64($0)) }
        for timer in timers {
            queue.add(timer)
            if timer.deadline.nanoseconds % 10 != 0 { timer.cancel() }
        }
        #expect(queue.nextDeadline()?.nanoseconds == 0)
        #expect(drain(&queue) == (0..<50).map { Int64($0 * 10) })
        #expect(queue.nextDeadline() == nil)
    }
}
