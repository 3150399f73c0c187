/// The timers of a loop, by deadline, and for equal deadlines in the order in which they were added. Knows no clock.
///
/// A binary heap: adding and taking cost the logarithm of the number of timers. Cancelled timers go when they come up, or
/// all together once they are most of the heap.
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

    mutating func add(_ timer: LoopTimer) {
        if heap.count >= 64 { dropCancelledIfMany() }
        order &+= 1
        heap.append(Entry(timer: timer, deadline: timer.deadline, order: order))
        siftUp(heap.count - 1)
    }

    /// When the next timer is due; nil without timers.
    mutating func nextDeadline() -> MonotonicTime? {
        dropCancelledFirst()
        return heap.first?.deadline
    }

    /// The mark that separates what is there now from what is added later.
    var mark: UInt64 { order }

    /// Takes the first timer that is due and was added up to `mark`, so that a timer that adds timers does not hold a turn
    /// for ever.
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
