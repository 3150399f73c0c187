import CPlatform
import Files
import Glibc
import PropertyList
import Synchronization

/// Processes many rows in two halves, the second on its own thread.
///
/// Measured on two processors: a search in the texts of 1,000,000 items takes 0.54 of the time of one thread, groups of
/// 100,000 items 0.6.
enum TwoThreads {
    /// Minimum number of rows; one thread processes fewer before the other has started.
    static let least = 50_000

    /// A value passed to the other thread.
    private struct Crossing<Value>: @unchecked Sendable {
        // Guard: the caller waits, and changes nothing meanwhile; the halves share no data that either of them writes.
        let value: Value
    }

    /// The signals between the two threads. Only the caller's thread can poll for an interruption: it does so for both
    /// while it waits.
    private final class Signals: Sendable {
        let isStopped = Atomic(false)
        let isDone = Atomic(false)

        /// Runs the other thread's half, which polls this object for an interruption.
        func run<Result>(_ body: () -> Result) -> Result {
            let watch = cubby_watch(
                is_stopped: { context in
                    guard let context else { return 0 }
                    let signals = Unmanaged<Signals>.fromOpaque(context).takeUnretainedValue()
                    return signals.isStopped.load(ordering: .relaxed) ? 1 : 0
                }, capacity: nil, context: Unmanaged.passUnretained(self).toOpaque())
            let former = cubby_watch_work(watch)
            defer {
                _ = cubby_watch_work(former)
                isDone.store(true, ordering: .releasing)
            }
            return body()
        }

        /// Waits for the other half, and forwards an interruption.
        func wait() {
            var turns = 0
            while !isDone.load(ordering: .acquiring) {
                if Interruption.isDue { isStopped.store(true, ordering: .relaxed) }
                // Both halves are of equal size: usually the other one is about to end.
                turns += 1
                if turns < 2000 { sched_yield() } else { usleep(500) }
            }
        }
    }

    /// Runs a body on both halves of a range, and waits for both.
    ///
    /// - Parameters:
    ///   - range: split in the middle; a short one is processed as a whole.
    ///   - body: reads only data that does not change meanwhile.
    /// - Returns: the body's result for each part, in order.
    static func map<Result>(_ range: Range<Int>, _ body: (Range<Int>) -> Result) -> [Result] {
        guard range.count >= least else { return [body(range)] }
        let middle = range.lowerBound + range.count / 2
        let signals = Signals()
        return withoutActuallyEscaping(body) { body in
            let crossing = Crossing(value: body)
            let second = WorkerThread {
                signals.run { Crossing(value: crossing.value(middle..<range.upperBound)) }
            }
            let first = body(range.lowerBound..<middle)
            signals.wait()
            return [first] + (second.join().map { [$0.value] } ?? [])
        }
    }
}
