/// The moment at which a wait ends.
struct Deadline: Sendable {
    private let moment: ContinuousClock.Instant

    init(seconds: Double) {
        moment = ContinuousClock.now.advanced(by: .seconds(min(max(seconds, 0), 86_400)))
    }

    /// Seconds until then; 0 when it has passed.
    var seconds: Double {
        let left = ContinuousClock.now.duration(to: moment).components
        return max(Double(left.seconds) + Double(left.attoseconds) / 1e18, 0)
    }

    var hasPassed: Bool { seconds == 0 }
}
