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
