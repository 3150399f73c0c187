import Files

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
        var hasRoom: Bool { untaken < wanted + ahead }

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
        state.wait(until: { $0.isDone || $0.hasRoom }) { $0.isDone ? nil : $0.takeUntaken() }
    }

    func put(_ value: Value, _ number: Int) {
        state.change { $0.results[number] = value }
    }

    /// The value of an index, in order; or another index to compute while that one is in progress.
    func next(_ number: Int) -> Step {
        // The wanted value makes room for one more.
        state.change { $0.wanted = number }
        return state.wait(until: { $0.results[number] != nil || !$0.isDone && $0.hasRoom }) { state in
            if let value = state.results.removeValue(forKey: number) { return .result(value) }
            return .work(state.takeUntaken())
        }
    }

    /// Hands out no more indexes.
    func cancel() {
        state.change { $0.isCancelled = true }
    }
}
