package import ColumnEngine

/// Takes the commits of a shared collection as they are made, also when its server does not answer for a while, be it at the
/// start or later: it is asked again after one second, then after twice the time, at most half a minute.
package struct LogFollower {
    private let address: SharedAddress
    private let revision: UInt64?
    private let schema: ItemSchema
    private let endsAtHead: Bool
    private let say: (String) -> Void
    private let pause: (Int) -> Void

    /// - Parameters:
    ///   - address: the collection's address.
    ///   - revision: the commit before the first one to take; nil for the beginning of the log.
    ///   - schema: the fields of every item, for a collection that does not say others.
    ///   - endsAtHead: whether to take the commits that are there, and then end. A server that does not answer is then an error.
    ///   - say: called with what a user has to know.
    ///   - pause: waits for a number of seconds.
    package init(
        _ address: SharedAddress, after revision: UInt64? = nil, schema: ItemSchema, endsAtHead: Bool = false,
        say: @escaping (String) -> Void, pause: @escaping (Int) -> Void
    ) {
        (self.address, self.revision, self.schema, self.endsAtHead) = (address, revision, schema, endsAtHead)
        (self.say, self.pause) = (say, pause)
    }

    /// Takes commits until there is an error.
    ///
    /// - Parameter take: called with the next commits; false ends.
    /// - Throws: ``SharedError``.
    package func run(_ take: ([SharedLog.Commit]) throws(SharedError) -> Bool) throws(SharedError) {
        var opened: SharedLog?
        var end = SharedLog.latest
        var seconds = 0
        while true {
            do throws(SharedError) {
                let log = if let opened { opened } else { try open() }
                if opened == nil, endsAtHead { end = log.head }
                opened = log
                let commits = try log.next(through: end)
                if seconds > 0 { say("the server answers again") }
                seconds = 0
                guard try take(commits), log.revision < end else { return }
                // A notification can be lost: after a minute the log is read all the same.
                if commits.isEmpty { try log.wait(seconds: 60) }
            } catch {
                guard error.code == .disconnected, !endsAtHead else { throw error }
                if seconds == 0 { say("\(error.message); trying again") }
                seconds = min(max(seconds * 2, 1), 30)
                pause(seconds)
            }
        }
    }

    private func open() throws(SharedError) -> SharedLog {
        let log = try SharedLog(address, after: revision, schema: schema)
        if revision == nil, log.floor > 0 {
            say("the log begins after revision \(log.floor): cubby shared pull has the items of before")
        }
        return log
    }
}

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
