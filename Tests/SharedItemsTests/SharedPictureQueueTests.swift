import Files
import PropertyList
import TestSupport
import Testing

@testable import Items
@testable import SharedItems

@Suite(
    "Pictures of commits that wait", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedPictureQueueTests {
    private let cluster: PostgresServer
    private let proxy: CuttingProxy

    init() throws {
        cluster = try .ofSuite
        proxy = try CuttingProxy(to: cluster.folder.path)
    }

    private func open(_ collection: String, in folder: TemporaryDirectory? = nil) throws -> PictureHost {
        try PictureHost(
            SharedAddress(cluster.url(collection, folder: proxy.folder.path)), "laptop", in: folder, keepsCommits: true)
    }

    /// A laptop that keeps commits and a desk whose link cannot be cut, on items a and b with pictures.
    private func hosts(_ collection: String) throws -> (laptop: PictureHost, desk: PictureHost) {
        let address = try cluster.newCollection(collection)
        let laptop = try open(collection)
        for key in ["a", "b"] {
            try laptop.store.createItem(ItemFields(name: key.uppercased(), itemKey: key))
            try laptop.set([1], key)
        }
        try laptop.store.commit()
        try laptop.store.saveChanges()
        return (laptop, try PictureHost(address, "desk"))
    }

    private func goAway(_ host: PictureHost) throws {
        proxy.cut(after: 0)
        try? host.store.shared.poll()
        host.store.connectionWasLost()
        #expect(!host.store.isConnected && !host.store.isReadOnly)
    }

    private func comeBack(_ host: PictureHost) throws {
        proxy.cut(after: nil)
        try host.store.update()
        #expect(host.store.isConnected && host.store.waitingCommits == 0)
    }

    @Test("they wait outside of the caches, from run to run, and go with their commits", arguments: [false, true])
    func waiting(restarts: Bool) throws {
        var (laptop, desk) = try hosts("waiting-\(restarts)")
        try goAway(laptop)
        try laptop.set([2], "a")
        try laptop.store.commit()
        try laptop.store.createItem(ItemFields(itemKey: "c"))
        try laptop.set([3], "c")
        try laptop.store.commit()
        try laptop.store.removeItem(#require(laptop.store.item(forKey: "b")))
        try laptop.store.commit()
        struct Failure: Error {}
        // The same bytes are wanted still by the commit before.
        _ = try? laptop.store.transaction {
            try laptop.set([3], "a")
            throw Failure()
        }
        try laptop.emptyCaches()
        // Another collection in the same container leaves them alone.
        _ = try PictureHost(cluster.newCollection("other-\(restarts)"), "other", in: laptop.folder)
        if restarts {
            laptop = try open("waiting-true", in: laptop.folder)
            #expect(laptop.store.waitingCommits == 3)
        }
        #expect(try laptop.bytes("a") == [2] && laptop.bytes("c") == [3])
        #expect(laptop.outgoing.count == 2)
        try comeBack(laptop)
        #expect(laptop.outgoing.isEmpty)
        #expect(try desk.updatedBytes("a") == [2] && desk.bytes("c") == [3])
        #expect(!desk.attachments.hasBytes(forKey: "b"))
        try laptop.emptyCaches()
        #expect(try laptop.bytes("a") == [2] && laptop.bytes("c") == [3])
    }

    @Test("a picture that others changed, too, is to be settled; until then its bytes stay", arguments: [false, true])
    func conflict(keepsMine: Bool) throws {
        let (laptop, desk) = try hosts("conflict-\(keepsMine)")
        try goAway(laptop)
        try laptop.set([2], "a")
        try laptop.store.commit()
        try desk.set([4], "a")
        try desk.store.removeItem(#require(desk.store.item(forKey: "b")))
        try desk.store.commit()
        try laptop.store.item(forKey: "b")?.setName("urn")
        try laptop.store.commit()
        try comeBack(laptop)
        #expect(try laptop.bytes("a") == [4])
        try laptop.emptyCaches()
        #expect(laptop.outgoing == [SHA256.digest([2]).hexadecimal])
        let conflicts = laptop.store.conflicts
        try #require(conflicts.count == 2)
        #expect(conflicts[0].changes.map(\.shownField) == ["image"])
        #expect(conflicts[0].changes[0].mine == .data(SHA256.digest([2])))
        #expect(conflicts[0].changes[0].theirs == .data(SHA256.digest([4])))
        for conflict in conflicts {
            if keepsMine {
                try laptop.store.keepMine(conflict)
            } else {
                try laptop.store.keepTheirs(conflict)
            }
        }
        #expect(try desk.updatedBytes("a") == (keepsMine ? [2] : [4]))
        // The item comes with its picture.
        #expect(try desk.bytes("b") == (keepsMine ? [1] : nil))
        #expect(laptop.store.conflicts.isEmpty)
        try expectEqual([laptop.store, desk.store])
    }

    @Test("several pictures wait with their order, and are settled as one field", arguments: [false, true])
    func several(keepsMine: Bool) throws {
        let (laptop, desk) = try hosts("several-\(keepsMine)")
        func set(_ bytes: [UInt8], _ key: String, _ host: PictureHost) throws {
            try host.attachments.setAllBytes(bytes.map { [$0] }, forKey: key)
            try host.store.commit()
        }
        func all(_ key: String, _ host: PictureHost) throws -> [[UInt8]] {
            try host.store.update()
            return try host.attachments.allBytes(forKey: key)
        }
        try goAway(laptop)
        try set([2, 1, 3], "a", laptop)
        try set([5, 6], "b", laptop)
        #expect(try laptop.attachments.allBytes(forKey: "a") == [[2], [1], [3]])
        try set([4, 1], "a", desk)
        try comeBack(laptop)
        #expect(try all("b", desk) == [[5], [6]] && all("a", desk) == [[4], [1]])
        let conflict = try #require(laptop.store.conflicts.first)
        #expect(conflict.changes.map(\.shownField) == ["image"])
        if keepsMine { try laptop.store.keepMine(conflict) } else { try laptop.store.keepTheirs(conflict) }
        #expect(try all("a", desk) == (keepsMine ? [[2], [1], [3]] : [[4], [1]]))
        #expect(try all("a", laptop) == all("a", desk))
        try expectEqual([laptop.store, desk.store])
    }
}
