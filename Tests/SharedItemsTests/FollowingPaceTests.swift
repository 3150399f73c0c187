import Items
import TestSupport
import Testing

@testable import SharedItems

/// A host among others that commit all the time is not woken for each commit, and misses none.
@Suite("The pace of following")
struct FollowingPaceTests {
    private let start = ContinuousClock.now

    /// Looks every so many milliseconds, and returns the steps.
    private func steps(
        _ pace: inout FollowingPace, _ count: Int, every milliseconds: Int, from beginning: Int = 0, hasFound: Bool
    ) -> [FollowingPace.Step] {
        (0..<count).map { number in
            let moment = start + .milliseconds(beginning + number * milliseconds)
            let step = pace.looked(hasFound: hasFound, at: moment)
            if step == .unlisten { pace.didSet(isListening: false) }
            if step == .listen { pace.didSet(isListening: true) }
            return step
        }
    }

    @Test("few commits are announced, many are polled for, until there are few again")
    func pace() {
        var pace = FollowingPace()
        // Ten a second, for as long as it may be.
        #expect(Set(steps(&pace, 100, every: 100, hasFound: true)) == [.wait])
        let many = steps(&pace, 30, every: 10, from: 20_000, hasFound: true)
        #expect(many.prefix(20).allSatisfy { $0 == .wait })
        #expect(many[20] == .unlisten && many.dropFirst(21).allSatisfy { $0 == .wait })
        #expect(!pace.isListening)
        let calm = steps(&pace, 12, every: 50, from: 20_300, hasFound: false)
        #expect(calm.firstIndex(of: .listen) == 10 && calm.last == .wait)
        #expect(pace.isListening)
    }
}

@Suite(
    "Following a busy collection", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct BusyCollectionTests {
    @Test("a host that polls instead of listening has every commit, and listens again")
    func busy() throws {
        let cluster = try PostgresServer.ofSuite
        let address = try cluster.newCollection("busy")
        let (busy, other) = (
            try ItemStore.open(SharedPersistence(address, hostName: "busy")),
            try ItemStore.open(SharedPersistence(address, hostName: "other"))
        )
        let persistence = try other.shared
        /// Looks as an event loop does; whether the server notifies.
        func look() throws -> Bool {
            let revision = other.revision
            try persistence.receive()
            try other.applyRemoteCommits()
            try persistence.pace(hasFound: other.revision > revision)
            return persistence.pollInterval == nil
        }
        var isNotified = true
        var count = 0
        // As many as it takes within a second, on any machine.
        while isNotified, count < 100_000 {
            try busy.createItem()
            try busy.commit()
            count += 1
            while other.revision < busy.revision { isNotified = try look() }
        }
        #expect(!isNotified && other.count == count)
        // What comes meanwhile is not announced, and found.
        try busy.createItem()
        try busy.commit()
        try persistence.poll()
        #expect(try !look() && other.count == count + 1)
        while try !look() { try persistence.poll() }
        try busy.createItem()
        try busy.commit()
        while !persistence.mayHaveCommits(after: other.revision) { try persistence.receive() }
        try other.applyRemoteCommits()
        #expect(other.count == count + 2)
    }
}
