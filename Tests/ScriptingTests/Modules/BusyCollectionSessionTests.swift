import Application
import Scripting
import SharedItems
import TestSupport
import Testing

@testable import Items

/// A host of a collection in which others commit all the time.
@Suite(
    "A host of a busy collection", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"))
struct BusyCollectionSessionTests {
    @Test("it goes on polling after what kept it from looking, and hears of the next commit")
    func goesOn() throws {
        let server = try PostgresServer()
        let address = try SharedAddress(server.url())
        try SharedSchema.initialize(address)
        let other = try ItemStore.open(SharedPersistence(address, hostName: "other"))
        let embedding = try Embedding(server.folder.file("c")) { options in
            options.persistence = { _ in SharedPersistence(address, hostName: "scripts") }
        }
        embedding.host.launch()
        let (items, loop) = (embedding.host.items, embedding.host.loop)
        let persistence = try #require(items.replica.remote as? SharedPersistence)
        func commit() throws {
            try other.createItem()
            try other.commit()
        }
        /// Turns the loop, for less than the minute in which a lost notification is made up for.
        func turn(until condition: () -> Bool) {
            let end = ContinuousClock.now + .seconds(30)
            while !condition(), .now < end { loop.runOnce(timeout: 0.01) }
            #expect(condition())
        }
        while persistence.pollInterval == nil, other.count < 10_000 {
            try commit()
            turn { items.count == other.count }
        }
        #expect(persistence.pollInterval != nil)
        items.beginTransaction()
        try commit()
        let end = ContinuousClock.now + .milliseconds(200)
        while .now < end { loop.runOnce(timeout: 0.01) }
        try items.rollBackTransaction()
        turn { items.count == other.count }
        // And listens again when nothing comes.
        turn { persistence.pollInterval == nil }
        try commit()
        turn { items.count == other.count }
        embedding.end()
    }
}
