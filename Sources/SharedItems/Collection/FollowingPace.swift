/// How a host learns of the others' commits: the server tells it of each one, while there are few. One that is told all the time
/// has the server stop that, and asks a few times a second until there are few again. So a busy collection does not wake each of
/// its hosts for each commit, and they read many commits at once.
struct FollowingPace {
    /// What a host has to do.
    enum Step: Equatable {
        /// The server tells of the next commit.
        case awaitNotification
        /// Have the server tell no more, and ask after an interval.
        case unlisten
        /// Ask after an interval.
        case ask
        /// Have the server tell of commits again, and look at once for those of before.
        case listen
    }

    /// The seconds between two questions.
    static let interval = 0.05
    /// More looks that found something, in the seconds in which they are counted, than are worth a notification each.
    private static let (most, period) = (20, Duration.seconds(1))
    /// Without anything found for so long there are few.
    private static let calm = Duration.milliseconds(500)

    /// Whether the server tells of commits.
    private(set) var isNotified = true
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
        guard isNotified else { return (last ?? now) + Self.calm > now ? .ask : .listen }
        guard hasFound else { return .awaitNotification }
        if beginning.map({ $0 + Self.period > now }) == true {
            found += 1
        } else {
            (beginning, found) = (now, 1)
        }
        return found > Self.most ? .unlisten : .awaitNotification
    }

    /// Records that the server does as it was told.
    mutating func didSet(isNotified: Bool) {
        (self.isNotified, found, beginning) = (isNotified, 0, nil)
    }
}
