import Files
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

/// Several pictures of an item: the digests are one field of its record, in order.
@Suite(
    "Several pictures of a collection's items", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedPictureListTests {
    private let cluster: PostgresServer
    private let owner: PostgresConnection
    private let pictures: [[UInt8]] = (1...5).map { [UInt8](repeating: $0, count: 1000 * Int($0)) }

    init() throws {
        cluster = try .ofSuite
        owner = try cluster.connect()
    }

    /// Hosts on a new collection whose item `vase` has three pictures.
    private func hosts(_ collection: String) throws -> (PictureHost, PictureHost, number: Int32) {
        let address = try cluster.newCollection(collection)
        let one = try PictureHost(address, "desk-1")
        try one.store.createItem(ItemFields(name: "Vase", itemKey: "vase"))
        try set([0, 1, 2], one)
        return (one, try PictureHost(address, "desk-2"), try #require(one.store.shared.server.collection).number)
    }

    private func set(_ numbers: [Int], _ host: PictureHost) throws {
        try host.attachments.setAllBytes(numbers.map { pictures[$0] }, forKey: "vase")
        try host.store.commit()
    }

    /// Which pictures a host sees, with the changes of others.
    private func seen(_ host: PictureHost) throws -> [Int?] {
        try host.store.update()
        return try host.attachments.allBytes(forKey: "vase").map { pictures.firstIndex(of: $0) }
    }

    private func had(_ number: Int32) throws -> Int64 {
        try owner.run(
            "select count(*) from cubby.picture where gone is null and collection = $1", [.int4(number)]
        ).number(0, 0)
    }

    @Test("all hosts have the same, in order; another order sends no picture, and one twice is sent once")
    func exchange() throws {
        let (one, two, number) = try hosts("several")
        #expect(try seen(two) == [0, 1, 2] && two.bytes("vase") == pictures[0])
        #expect(try had(number) == 3)
        let sent = try one.store.shared.statistics.picturesSent
        try set([2, 0, 1], two)
        #expect(try seen(one) == [2, 0, 1])
        #expect(try two.store.shared.statistics.picturesSent == 0)
        try set([2, 2, 3], one)
        #expect(try one.store.shared.statistics.picturesSent == sent + 1)
        #expect(try seen(two) == [2, 2, 3] && had(number) == 2)
        try one.set(pictures[4], "vase")
        try one.store.commit()
        #expect(try seen(two) == [4, 2, 3])
        try two.set(nil, "vase")
        try two.store.commit()
        #expect(try seen(one) == [2, 3])
        try set([], one)
        #expect(try seen(two) == [] && had(number) == 0 && two.attachments.keys() == [])
        try expectEqual([one.store, two.store])
        #expect(one.outgoing.isEmpty && two.outgoing.isEmpty)
    }

    @Test("undo and redo of a list and of the item's removal, for all")
    func undo() throws {
        let (one, two, number) = try hosts("several-undo")
        for change in [
            { try set([3, 1], one) }, { try set([], one) },
            {
                try one.store.removeItem(#require(one.store.item(forKey: "vase")))
                try one.store.commit()
            },
        ] {
            try change()
            let later = try seen(two)
            #expect(later != [0, 1, 2])
            for host in [one, two] { try host.emptyCaches() }
            #expect(try one.store.undo())
            #expect(try seen(two) == [0, 1, 2] && seen(one) == [0, 1, 2])
            #expect(try one.store.redo())
            #expect(try seen(two) == later)
            #expect(try one.store.undo())
            #expect(try seen(two) == [0, 1, 2] && had(number) == 3)
        }
    }

    @Test("the list is one field: two hosts that change it conflict, and other fields are merged")
    func conflict() throws {
        let (one, two, _) = try hosts("several-conflict")
        try set([1, 0, 2], one)
        let error = #expect(throws: StoreError.self) { try set([2, 1], two) }
        #expect(error?.code == .conflict && error?.message.contains("the image of the item vase, Vase,") == true)
        #expect(try seen(two) == [1, 0, 2] && two.outgoing.isEmpty)
        try set([3], one)
        try two.store.item(forKey: "vase")?.setName("Urn")
        try two.store.commit()
        #expect(try seen(two) == [3] && one.store.update() == ())
        // The same on both sides is no conflict.
        try set([3, 4], one)
        try set([3, 4], two)
        try expectEqual([one.store, two.store])
    }

    @Test("what is rolled back, or cannot be written, leaves no file and no row")
    func rollback() throws {
        struct Failure: Error {}
        let (one, _, number) = try hosts("several-rollback")
        #expect(throws: Failure.self) {
            try one.store.transaction {
                try one.attachments.setAllBytes([pictures[4], pictures[0], pictures[3]], forKey: "vase")
                #expect(try seen(one) == [4, 0, 3])
                throw Failure()
            }
        }
        one.attachments.byteLimit = 4500
        #expect(throws: StoreError.self) { try set([3, 0, 4], one) }
        #expect(one.outgoing.isEmpty)
        #expect(try seen(one) == [0, 1, 2] && had(number) == 3)
    }

    @Test("a copy into a container and back brings all, in order, and goes on where it was interrupted")
    func transfer() throws {
        let (one, _, _) = try hosts("several-transfer")
        let own = try PictureHost(cluster.newCollection("several-transferred"), "desk-3")
        #expect(try ItemTransfer.copy(from: one.store, to: own.store) == .init(items: 1, pictures: 3))
        #expect(try seen(own) == [0, 1, 2])
        #expect(try ItemTransfer.Summary(of: own.store) == .init(items: 1, pictures: 3))
        try set([0], own)
        #expect(try ItemTransfer.copy(from: one.store, to: own.store) == .init(items: 0, pictures: 2))
        #expect(try seen(own) == [0, 1, 2])
        let store = ItemStore()
        let folder = try TemporaryDirectory()
        store.attachments = ItemAttachments(folder: folder.path)
        #expect(try ItemTransfer.copy(from: one.store, to: store) == .init(items: 1, pictures: 3))
        #expect(try store.attachments?.allBytes(forKey: "vase") == Array(pictures.prefix(3)))
    }
}
