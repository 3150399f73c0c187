import CPlatform
import Files
import Glibc

/// Work on many things, a few at a time: by as many threads as there are processors, handed on in order.
package enum ParallelWork {
    /// How many threads are worth having: the processors that this process may use, at most 8.
    package static var width: Int { min(max(Int(cubby_processor_count()), 1), 8) }

    /// Does a piece of work for each number below a count, and hands on the results in order, on this thread, which works,
    /// too. At most a few results for each thread are waiting at any time.
    ///
    /// - Parameters:
    ///   - count: how many pieces there are.
    ///   - width: how many threads work, this one among them; with 1 nothing is done on another one.
    ///   - work: a piece; on any thread, several at a time.
    ///   - consume: takes a piece's result. What it throws ends the work: pieces that are being worked on are finished and
    ///     dropped, and no other one is begun.
    /// - Throws: what `consume` throws.
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
                // Without a thread for it, it is done on this one, in its turn.
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

    /// A result; other pieces are worked on until it is there.
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
