import TestSupport
import Testing

@testable import SharedItems

extension PostgresServer {
    /// The suite's cluster.
    static var ofSuite: PostgresServer {
        get throws { try #require(ClusterTrait.current) }
    }

    /// The address of a collection, which need not exist yet.
    func address(_ collection: String = "home", user: String = "owner") throws -> SharedAddress {
        try SharedAddress(url(collection, user: user))
    }

    func connect(user: String = "owner") throws -> PostgresConnection {
        try PostgresConnection(address(user: user), waiter: BlockingWaiter())
    }
}

/// Gives a suite a cluster of its own, stopped when the suite ends.
struct ClusterTrait: SuiteTrait, TestScoping {
    @TaskLocal static var current: PostgresServer?

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // Where PostgreSQL is missing a suite goes on with what needs none.
        if PostgresServer.missing != nil { return try await function() }
        let cluster = try PostgresServer()
        defer { cluster.stop() }
        try await Self.$current.withValue(cluster, operation: function)
    }
}

extension Trait where Self == ClusterTrait {
    static var cluster: Self { ClusterTrait() }
}
