import Files

/// The numbers that are still to be worked on, and the results that nobody has taken yet.
final class WorkQueue<Value: Sendable>: Sendable {
    /// What the one who takes the results does next.
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
    ///   - count: numbers below it are worked on.
    ///   - ahead: how far the work may be ahead of the results that are taken.
    init(count: Int, ahead: Int) {
        state = Monitor(State(count: count, ahead: ahead))
    }

    /// A number to work on, when there is room for its result; nil when there is none any more.
    func take() -> Int? {
        state.wait(until: { $0.isDone || $0.hasRoom }) { $0.isDone ? nil : $0.takeUntaken() }
    }

    func put(_ value: Value, _ number: Int) {
        state.change { $0.results[number] = value }
    }

    /// The result of a number, which must be asked for in order; or while it is being worked on, another to work on.
    func next(_ number: Int) -> Step {
        // What is wanted now makes room for one more.
        state.change { $0.wanted = number }
        return state.wait(until: { $0.results[number] != nil || !$0.isDone && $0.hasRoom }) { state in
            if let value = state.results.removeValue(forKey: number) { return .result(value) }
            return .work(state.takeUntaken())
        }
    }

    /// No other number is given out.
    func cancel() {
        state.change { $0.isCancelled = true }
    }
}
