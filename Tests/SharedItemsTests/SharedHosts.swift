import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

extension PostgresServer {
    /// Makes a collection.
    func newCollection(_ name: String, folder: String? = nil) throws -> SharedAddress {
        try SharedSchema.initialize(address(name))
        return try SharedAddress(url(name, folder: folder))
    }
}

extension ItemStore {
    var shared: SharedPersistence {
        get throws { try #require(replica.remote as? SharedPersistence) }
    }

    /// Asks for what the other hosts committed, and applies it.
    func update() throws {
        // A connection that turns out to be broken is made anew by the second.
        let remote = try shared
        do throws(StoreError) { try remote.poll() } catch {
            connectionWasLost()
            guard error.code == .disconnected else { throw error }
        }
        try applyRemoteCommits()
    }

    /// What the store has, in order.
    var contents: [PropertyListFields] {
        get throws { try allItems.map { try $0.allFields.values } }
    }
}

/// Expects that the items stand in the order of their ranks.
func expectRanked(_ store: ItemStore, _ note: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let ranks = try store.shared.places.ranks
    let rows = store.columns.slots.filter { $0 != ItemOrder.hole }
    let places = rows.map { (ranks[$0] ?? [255], store.columns.keyString($0)) }
    let isSorted = zip(places, places.dropFirst()).allSatisfy { first, second in
        first.0 == second.0 ? first.1 < second.1 : first.0.lexicographicallyPrecedes(second.0)
    }
    #expect(isSorted, "\(note)", sourceLocation: sourceLocation)
}

/// Expects that all stores have the same at the latest revision, and that a host that comes later has it, too.
func expectEqual(_ stores: [ItemStore], sourceLocation: SourceLocation = #_sourceLocation) throws {
    // Twice: a host whose commit was refused while it lasted, by a lock, makes it now, and those before it lack it.
    for store in stores + stores { try store.update() }
    let late = try ItemStore.open(SharedPersistence(stores[0].shared.address, hostName: "late"))
    for store in stores {
        #expect(try store.contents == late.contents, sourceLocation: sourceLocation)
        #expect(store.revision == late.revision, sourceLocation: sourceLocation)
        #expect(!store.isReadOnly, sourceLocation: sourceLocation)
    }
}
