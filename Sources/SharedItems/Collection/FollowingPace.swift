/// How a host learns of the others' commits: by the server's notifications, while there are few. A host that is notified all the
/// time stops listening, and polls until there are few again. So a busy collection does not wake each of its hosts for each
/// commit, and they read many commits at once.
struct FollowingPace {
    /// What a host has to do.
    enum Step: Equatable {
        /// Wait: for the next notification, or to poll.
        case wait
        /// Stop listening, and poll from then on.
        case unlisten
        /// Listen again, and look at once for the commits of before.
        case listen
    }

    /// The seconds between two polls.
    static let interval = 0.05
    /// More looks that found something, in the seconds in which they are counted, than are worth a notification each.
    private static let (most, period) = (20, Duration.seconds(1))
    /// Without anything found for so long there are few.
    private static let calm = Duration.milliseconds(500)

    /// Whether the host listens.
    private(set) var isListening = true
    private var found = 0
    private var beginning: ContinuousClock.Instant?
    private var last: ContinuousClock.Instant?

    /// Records a look for commits.
    ///
    /// - Parameters:
    ///   - hasFound: whether there was one.
    ///   - now: when it was.
    /// - Returns: what to do.
    mutating func looked(hasFound: Bool, at now: ContinuousClock.Instant) -> Step {
        if hasFound { last = now }
        guard isListening else { return (last ?? now) + Self.calm > now ? .wait : .listen }
        guard hasFound else { return .wait }
        if beginning.map({ $0 + Self.period > now }) == true {
            found += 1
        } else {
            (beginning, found) = (now, 1)
        }
        return found > Self.most ? .unlisten : .wait
    }

    /// Records what the host does from now on.
    mutating func didSet(isListening: Bool) {
        (self.isListening, found, beginning) = (isListening, 0, nil)
    }
}
