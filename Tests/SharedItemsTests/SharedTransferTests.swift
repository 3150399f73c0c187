import Files
import Items
import PropertyList
import TestSupport
import Testing

@testable import SharedItems

@Suite(
    "Copies into shared collections and back", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"),
    .cluster)
struct SharedTransferTests {
    private func filled(_ count: Int) throws -> ItemStore {
        let store = ItemStore()
        for number in 0..<count {
            try store.createItem(
                ItemFields(
                    name: "item \(number)", serialNumber: number % 3 == 0 ? nil : "S\(number)",
                    itemKey: number % 7 == 0 ? "key \(number)" : nil,
                    custom: ["tags": .array([.integer(Int64(number))])]))
        }
        try store.commit()
        return store
    }

    @Test("all items go, with keys, fields and order, and come back; again there is nothing to do")
    func whole() throws {
        let address = try PostgresServer.ofSuite.newCollection("whole")
        let source = try filled(2_500)
        let shared = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        var steps: [Int] = []
        #expect(try ItemTransfer.copy(from: source, to: shared) { steps.append($0) }.items == 2_500)
        #expect(steps == [1_000, 2_000, 2_500])
        #expect(try shared.contents == source.contents)
        #expect(try ItemTransfer.copy(from: source, to: shared).items == 0)
        let back = ItemStore()
        let late = try ItemStore.open(SharedPersistence(address, hostName: "late"))
        #expect(try ItemTransfer.copy(from: late, to: back).items == 2_500)
        #expect(try back.contents == source.contents)
    }

    @Test("an interrupted copy goes on; other items are refused, and nothing is changed")
    func resumed() throws {
        let address = try PostgresServer.ofSuite.newCollection("resumed")
        let source = try filled(1_200)
        let shared = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        for position in 0..<1_000 { try shared.createItem(#require(source[position]).allFields) }
        try shared.commit()
        #expect(try ItemTransfer.copy(from: source, to: shared).items == 200)
        #expect(try shared.contents == source.contents)
        let other = try filled(1_200)
        let error = #expect(throws: StoreError.self) { try ItemTransfer.copy(from: other, to: shared) }
        #expect(error?.code == .conflict)
        #expect(try shared.contents == source.contents)
    }

    @Test("pictures go with their items, those that are missing in a second run; what cannot be read is told")
    func pictures() throws {
        let address = try PostgresServer.ofSuite.newCollection("pictures")
        let folder = try TemporaryDirectory()
        let source = try filled(1_100)
        let own = ItemAttachments(folder: folder.file("own"))
        try PosixFileLayer().makeDirectories(folder.file("own"))
        source.attachments = own
        let keys = try [0, 7, 1_099].map { try #require(source[$0]).itemKey }
        for (number, key) in keys.enumerated() { try own.setBytes([UInt8(number)], forKey: key) }
        try own.setBytes([9], forAnyKey: "no item's")
        // An earlier copy without pictures was interrupted.
        let desk = try PictureHost(address, "desk")
        for position in 0..<1_000 { try desk.store.createItem(#require(source[position]).allFields) }
        try desk.store.commit()
        #expect(try ItemTransfer.copy(from: source, to: desk.store) == .init(items: 100, pictures: 3))
        #expect(try ItemTransfer.copy(from: source, to: desk.store) == .init())
        #expect(try ItemTransfer.Summary(of: desk.store) == .init(items: 1_100, pictures: 3))
        let number = try #require(desk.store.shared.server.collection).number
        try PostgresServer.ofSuite.connect().run(
            "update cubby.picture set bytes = '' where bytes = $1 and collection = $2", [.bytes([1]), .int4(number)])
        let back = ItemStore()
        let backs = ItemAttachments(folder: folder.file("back"))
        try PosixFileLayer().makeDirectories(folder.file("back"))
        back.attachments = backs
        let late = try PictureHost(address, "late")
        let pulled = try ItemTransfer.copy(from: late.store, to: back)
        #expect(pulled.items == 1_100 && pulled.pictures == 2)
        #expect(Array(pulled.failures.keys) == [keys[1]])
        #expect(try keys.map { try backs.bytes(forKey: $0) } == [[0], nil, [2]])
    }
}
