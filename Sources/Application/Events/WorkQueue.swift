import Glibc

/// The numbers that are still to be worked on, and the results that nobody has taken yet.
final class WorkQueue<Value: Sendable>: @unchecked Sendable {
    /// What the one who takes the results does next.
    enum Step {
        case result(Value)
        case work(Int)
    }

    private let count: Int
    private let ahead: Int
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    // These are what `lock` guards, which is why this class may be shared.
    private var untaken = 0
    private var wanted = 0
    private var results: [Int: Value] = [:]
    private var isCancelled = false

    /// - Parameters:
    ///   - count: numbers below it are worked on.
    ///   - ahead: how far the work may be ahead of the results that are taken.
    init(count: Int, ahead: Int) {
        self.count = count
        self.ahead = ahead
        pthread_mutex_init(lock, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(lock)
        changed.deallocate()
        lock.deallocate()
    }

    /// A number to work on, when there is room for its result; nil when there is none any more.
    func take() -> Int? {
        locked {
            while !isCancelled, untaken < count, !hasRoom { pthread_cond_wait(changed, lock) }
            return isCancelled ? nil : takeUntaken()
        }
    }

    func put(_ value: Value, _ number: Int) {
        locked {
            results[number] = value
            pthread_cond_broadcast(changed)
        }
    }

    /// The result of a number, which must be asked for in order; or while it is being worked on, another to work on.
    func next(_ number: Int) -> Step {
        locked {
            wanted = number
            pthread_cond_broadcast(changed)
            while true {
                if let value = results.removeValue(forKey: number) { return .result(value) }
                if hasRoom, let other = takeUntaken() { return .work(other) }
                pthread_cond_wait(changed, lock)
            }
        }
    }

    /// No other number is given out.
    func cancel() {
        locked {
            isCancelled = true
            pthread_cond_broadcast(changed)
        }
    }

    private var hasRoom: Bool { untaken < wanted + ahead }

    private func takeUntaken() -> Int? {
        guard untaken < count else { return nil }
        defer { untaken += 1 }
        return untaken
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body()
    }
}
