import CPlatform
import Files
import Glibc

/// Parallel work with results in order, on as many threads as there are processors.
package enum ParallelWork {
    /// The useful number of threads: the processors available to this process, at most 8.
    package static var width: Int { min(max(Int(cubby_processor_count()), 1), 8) }

    /// Computes a value for each index and consumes the values in order on this thread, which computes, too. At most a
    /// few values for each thread are pending.
    ///
    /// - Parameters:
    ///   - count: the number of indexes.
    ///   - width: the number of threads, including this one; 1 uses no other thread.
    ///   - work: computes a value; called on any thread, concurrently.
    ///   - consume: takes a value. An error ends the work: running computations are finished and dropped.
    /// - Throws: the error of `consume`.
    package static func forEach<Value: Sendable>(
        _ count: Int, width: Int = ParallelWork.width, work: @escaping @Sendable (Int) -> Value,
        consume: (Int, Value) throws -> Void
    ) throws {
        guard count > 1, width > 1 else {
            for number in 0..<count { try consume(number, work(number)) }
            return
        }
        let queue = WorkQueue<Value>(count: count, ahead: 4 * width)
        let caller = pthread_self()
        let workers = (1..<min(width, count)).map { _ in
            WorkerThread {
                // When no thread was available, this thread computes it in its turn.
                if pthread_equal(pthread_self(), caller) != 0 { return }
                while let number = queue.take() { queue.put(work(number), number) }
            }
        }
        defer {
            queue.cancel()
            for worker in workers { worker.join() }
        }
        for number in 0..<count {
            try consume(number, result(number, queue, work))
        }
    }

    /// The value of an index; computes others until it is available.
    private static func result<Value: Sendable>(
        _ number: Int, _ queue: WorkQueue<Value>, _ work: (Int) -> Value
    ) -> Value {
        while true {
            switch queue.next(number) {
            case .result(let value): return value
            case .work(let other): queue.put(work(other), other)
            }
        }
    }
}

/// The remaining indexes, and the values that are not yet consumed.
final class WorkQueue<Value: Sendable>: Sendable {
    /// The consumer's next step.
    enum Step {
        case result(Value)
        case work(Int)
    }

    private struct State: Sendable {
        let count: Int
        let ahead: Int
        var untaken = 0
        var wanted = 0
        var results: [Int: Value] = [:]
        var isCancelled = false

        var isDone: Bool { isCancelled || untaken >= count }
        var hasCapacity: Bool { untaken < wanted + ahead }

        mutating func takeUntaken() -> Int {
            defer { untaken += 1 }
            return untaken
        }
    }

    private let state: Monitor<State>

    /// - Parameters:
    ///   - count: the number of indexes.
    ///   - ahead: maximum number of values computed ahead of the consumer.
    init(count: Int, ahead: Int) {
        state = Monitor(State(count: count, ahead: ahead))
    }

    /// The next index, once there is room for its value; nil at the end.
    func take() -> Int? {
        state.wait(until: { $0.isDone || $0.hasCapacity }) { $0.isDone ? nil : $0.takeUntaken() }
    }

    func put(_ value: Value, _ number: Int) {
        state.change { $0.results[number] = value }
    }

    /// The value of an index, in order; or another index to compute while that one is in progress.
    func next(_ number: Int) -> Step {
        // The wanted value makes room for one more.
        state.change { $0.wanted = number }
        return state.wait(until: { $0.results[number] != nil || !$0.isDone && $0.hasCapacity }) { state in
            if let value = state.results.removeValue(forKey: number) { return .result(value) }
            return .work(state.takeUntaken())
        }
    }

    /// Hands out no more indexes.
    func cancel() {
        state.change { $0.isCancelled = true }
    }
}
