/// An event of the life cycle that changed the state, with the way from the state before.
package struct LifeCycleWay: Sendable, Hashable {
    /// A step of the way.
    package enum Step: Sendable, Hashable {
        case callback(LifeCycleCallback)
        case save
        case state(ApplicationState)
    }

    package let cause: LifeCycleCause
    /// Whether a script simulated the event.
    package let isSimulated: Bool
    /// The state before.
    package let start: ApplicationState
    package let steps: [Step]

    /// The way of actions; nil if they enter no state.
    package init?(
        from start: ApplicationState, _ actions: [LifeCycleAction], _ cause: LifeCycleCause, isSimulated: Bool
    ) {
        let steps: [Step] = actions.compactMap { action in
            switch action {
            case .enter(let state): .state(state)
            case .deliver(let callback): .callback(callback)
            case .save: .save
            default: nil
            }
        }
        guard steps.contains(where: { if case .state = $0 { true } else { false } }) else { return nil }
        (self.start, self.steps, self.cause, self.isSimulated) = (start, steps, cause, isSimulated)
    }

    /// The states, with that before.
    package var states: [ApplicationState] {
        [start] + steps.compactMap { if case .state(let state) = $0 { state } else { nil } }
    }
}

/// The latest ways of an application.
package struct LifeCycleTrail: Sendable, Hashable {
    private static let limit = 16

    /// The ways, the latest last.
    package private(set) var ways: [LifeCycleWay] = []

    package init() {}

    package mutating func add(_ way: LifeCycleWay) {
        if ways.count == Self.limit { ways.removeFirst() }
        ways.append(way)
    }

    /// The ways since the application was last in the state where the latest way ended: after a return to the foreground,
    /// the way out and the way back. A few at most.
    package var latest: ArraySlice<LifeCycleWay> {
        guard let end = ways.last?.states.last else { return [] }
        let first = ways.lastIndex { $0.states.dropLast().contains(end) } ?? ways.startIndex
        return ways[max(first, ways.endIndex - 4)...]
    }
}
