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
