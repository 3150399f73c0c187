import Files
import Foundation
import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items
@testable import SharedItems

@Suite(
    "The cache of a shared collection", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedCacheTests {
    private let cluster: PostgresServer
    private let folder: TemporaryDirectory

    init() throws {
        cluster = try .ofSuite
        folder = try TemporaryDirectory()
    }

    private func open(_ address: SharedAddress, _ name: String = "desk", isReadOnly: Bool = false) throws -> ItemStore {
        try ItemStore.open(
            SharedPersistence(
                address, host: [UInt8](repeating: 7, count: 16), hostName: name, timeLimit: .seconds(5),
                isReadOnly: isReadOnly,
                folder: folder.path))
    }

    private func filled(_ collection: String, _ count: Int = 50) throws -> (ItemStore, SharedAddress) {
        let address = try cluster.newCollection(collection)
        let store = try open(address)
        for number in 0..<count {
            try store.createItem(
                ItemFields(
                    name: "item \(number)", itemKey: number % 2 == 0 ? "key \(number)" : nil,
                    custom: ["room": .string("Hall"), "dims": .dictionary(["w": .integer(Int64(number))])]))
        }
        try store.commit()
        return (store, address)
    }

    @Test("a start takes the items from the cache, and what came since from the server")
    func gap() throws {
        var (store, address) = try filled("gap")
        #expect(store.isJournalLong)
        #expect(try store.saveChanges())
        #expect(!store.isJournalLong)
        let other = try ItemStore.open(SharedPersistence(address, hostName: "other"))
        for number in 0..<3 {
            try #require(other[number]).setName("new \(number)")
            try other.commit()
        }
        store = try open(address)
        #expect(store.loadReport.archivedItems == 50 && store.loadReport.notices.isEmpty)
        #expect(try store.shared.statistics.remoteCommits == 3)
        #expect(store.revision == other.revision)
        try expectEqual([store, other])
        #expect(try !store.saveChanges())
    }

    @Test("commits behind a save, and among those of others, are in the cache, too")
    func commits() throws {
        var (store, address) = try filled("commits")
        try store.saveChanges()
        let other = try ItemStore.open(SharedPersistence(address, hostName: "other"))
        for round in 0..<10 {
            try #require(other[round]).setName("theirs \(round)")
            try other.commit()
            // Behind another's commit that has not come yet.
            try #require(store[20 + round]).setName("mine \(round)")
            if round % 3 == 0 { try #require(store[40]).remove() }
            if round % 4 == 0 { try store.moveItem(from: 30, to: 2) }
            try store.createItem(ItemFields(itemKey: "made \(round)"))
            try store.commit()
            if round % 2 == 0 { try store.update() }
        }
        try store.update()
        let (contents, revision) = (try store.contents, store.revision)
        cluster.stop()
        store = try open(address)
        #expect(try store.contents == contents)
        #expect(store.revision == revision)
        #expect(store.loadReport.replayedRecords > 10)
        #expect(store.isReadOnly && !store.isConnected)
        #expect(store.loadReport.notices.contains { $0.contains("does not answer") })
        #expect(throws: StoreError.self) { try store.createItem() }
        try cluster.start()
        try store.update()
        #expect(!store.isReadOnly)
        try store.createItem(ItemFields(itemKey: "back"))
        try store.commit()
        try other.update()
        try expectEqual([store, other])
    }

    @Test("a save while others commit has a whole revision, and the commits behind it")
    func commitsWhileSaving() throws {
        var (store, address) = try filled("while")
        let save = try #require(try store.beginSave())
        let other = try ItemStore.open(SharedPersistence(address, hostName: "other"))
        try #require(other[3]).remove()
        try other.commit()
        try store.update()
        try store.createItem(ItemFields(itemKey: "late"))
        try store.commit()
        try store.finish(save, save.write())
        #expect(store.hasChanges)
        let contents = try store.contents
        store = try open(address)
        #expect(store.loadReport.archivedItems == 50 && store.loadReport.replayedRecords == 2)
        #expect(try store.contents == contents)
    }

    @Test("without a cache and without the server there is no start")
    func nothing() throws {
        let address = try cluster.newCollection("nothing")
        cluster.stop()
        defer { try? cluster.start() }
        let error = #expect(throws: StoreError.self) { try open(address) }
        #expect(error?.code == .disconnected)
    }

    @Test("a collection that was made anew is fetched anew; what was here is kept aside")
    func otherHistory() throws {
        var (store, address) = try filled("anew")
        try store.saveChanges()
        let owner = try cluster.connect()
        try owner.runScript("update cubby.collection set epoch = gen_random_uuid() where name = 'anew'")
        store = try open(address)
        #expect(store.count == 50)
        let aside = try #require(store.loadReport.quarantinedFiles.first)
        #expect(FileManager.default.fileExists(atPath: aside))
        #expect(store.loadReport.notices.contains { $0.contains("another history") })
        // The server's backup is older.
        try store.saveChanges()
        try owner.runScript(
            "update cubby.collection set head = 0 where name = 'anew'; delete from cubby.item; delete from cubby.log")
        store = try open(address)
        #expect(store.count == 0 && store.loadReport.quarantinedFiles.count == 1)
        // The log was cut.
        try store.createItem(ItemFields(itemKey: "1"))
        try store.commit()
        try store.saveChanges()
        try owner.runScript("update cubby.collection set head = 9, floor = 8 where name = 'anew'")
        store = try open(address)
        #expect(store.count == 1 && store.revision.rawValue == 9)
        #expect(store.loadReport.notices.contains { $0.contains("does not reach back") })
    }

    @Test("the items and the queue are the collection's, however its address is spelled")
    func spellings() throws {
        let address = try cluster.newCollection("spellings")
        let desk = try ItemStore.open(SharedPersistence(address, hostName: "desk"))
        try desk.createItem(ItemFields(name: "vase", itemKey: "vase"))
        try desk.commit()
        func open(_ text: String) throws -> ItemStore {
            try ItemStore.open(
                SharedPersistence(
                    SharedAddress(text), host: [UInt8](repeating: 7, count: 16), hostName: "laptop",
                    timeLimit: .seconds(5), folder: folder.path, keepsCommits: true))
        }
        let usual = address.description
        let spellings = [
            usual + "&application_name=laptop",
            "host=\(cluster.folder.path)/ user=owner dbname=postgres collection=spellings",
            "postgres://owner@/postgres?host=/nowhere,\(cluster.folder.path)&collection=spellings",
        ]
        try open(usual).saveChanges()
        cluster.stop()
        var laptop = try open(usual)
        try laptop.createItem(ItemFields(name: "made away", itemKey: "away"))
        try laptop.commit()
        // Without the server, a spelling that names the same database has them as well.
        for text in spellings { #expect(try open(text).count == 2, "\(text)") }
        try cluster.start()
        laptop = try open(spellings[0])
        #expect(laptop.waitingCommits == 1 && laptop.loadReport.notices.contains { $0.contains("knows as \(usual)") })
        try laptop.applyRemoteCommits()
        try desk.update()
        #expect(desk.item(forKey: "away") != nil)
        for text in spellings.dropFirst() {
            laptop = try open(text)
            #expect(laptop.loadReport.archivedItems == 1 && laptop.count == 2)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
        // Another collection, at the same address.
        laptop = try open(usual)
        let other = try cluster.newCollection("spellings-2")
        #expect(try open(other.description).count == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }

    @Test("a host knows its server's timeline also after it was killed, and goes to the next server of the address")
    func timeline() throws {
        let address = try cluster.newCollection("timeline")
        let store = try open(address)
        try store.createItem(ItemFields(itemKey: "k"))
        try store.commit()
        let known = try #require(try store.shared.folder)
        let found = CollectionFolder(known.path, using: PosixFileLayer())
        #expect(found == known && found.server.timeline == 1)
        #expect(try found.epoch == store.shared.server.collection?.epoch)
        #expect(try found.server == store.shared.server.collection?.server)
        // A standby of this server was promoted, and the host has seen it.
        var later = found
        later.server.timeline = 2
        try later.write(using: PosixFileLayer())
        let error = #expect(throws: StoreError.self) { try open(address) }
        #expect(error?.message.contains("former primary") == true)
        #expect(CollectionFolder(known.path, using: PosixFileLayer()).server.timeline == 2)
    }

    @Test("a start by another address says so once, also when nothing may be written", arguments: [false, true])
    func otherAddress(isReadOnly: Bool) throws {
        let address = try filled("noticed-\(isReadOnly)").1
        let other = try SharedAddress(address.description + "&application_name=laptop")
        for round in 0..<2 {
            let persistence = SharedPersistence(
                other, host: [UInt8](repeating: 7, count: 16), hostName: "desk", timeLimit: .seconds(5),
                isReadOnly: isReadOnly, folder: folder.path)
            try persistence.prepare()
            let notices = try ItemStore.open(persistence).loadReport.notices.filter { $0.contains("knows as") }
            #expect(notices.count == (round == 0 || isReadOnly ? 1 : 0))
        }
    }

    @Test("read-only nothing is written")
    func readOnly() throws {
        var (store, address) = try filled("readonly")
        try store.saveChanges()
        try store.createItem(ItemFields(itemKey: "1"))
        try store.commit()
        let path = try #require(try store.shared.closedPaths.first)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        store = try open(address, isReadOnly: true)
        #expect(store.count == 51 && store.isReadOnly && !store.isJournalLong)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test("whatever happened to the file, a start has the server's items")
    func damage() throws {
        let (store, address) = try filled("damage", 12)
        try store.saveChanges()
        for number in 0..<4 {
            try #require(store[number]).setName("later \(number)")
            try store.commit()
        }
        let path = try #require(try store.shared.closedPaths.first)
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        let contents = try store.contents
        var random = TestGenerator(seed: 3)
        for round in 0..<60 {
            var bytes = whole
            let place = random.number(bytes.count)
            switch round % 3 {
            case 0: bytes[place] ^= UInt8(1 << (round % 8))
            case 1: bytes = bytes.prefix(place)
            default: bytes.replaceSubrange(place..., with: Data(count: 40))
            }
            try bytes.write(to: URL(fileURLWithPath: path))
            let again = try open(address)
            #expect(try again.contents == contents, "round \(round), byte \(place)")
        }
    }
}

@Suite("The file of a shared collection's cache")
struct CachedCollectionTests {
    /// The bytes of a cache without items, with a commit behind it.
    private func bytes(revision: UInt64 = 5, count: UInt64 = 0, commit: UInt64 = 6) -> [UInt8] {
        let header = JournalHeader(
            archive: SharedCache.identity(of: [UInt8](repeating: 3, count: 16)), identifier: 9, firstSequence: 1)
        var items = RecordWriter([UInt8](repeating: 0, count: JournalRecord.headerLength))
        items.fixed(revision)
        items.piece([1, 2])
        items.fixed(Int64(7))
        items.fixed(Int64(1))
        items.varint(count)
        JournalRecord.seal(&items.bytes, kind: .checkpoint, sequence: 1, identifier: 9)
        var later = RecordWriter([UInt8](repeating: 0, count: JournalRecord.headerLength))
        later.fixed(commit)
        later.bytes += [UInt8](repeating: 8, count: 16)
        later.text("desk")
        later.piece([4])
        JournalRecord.seal(&later.bytes, kind: .changes, sequence: 2, identifier: 9)
        return header.bytes + items.bytes + later.bytes
    }

    @Test("numbers that no server or file can have are refused, whatever the checksums say")
    func numbers() throws {
        let usual = try CachedCollection(bytes())
        #expect(usual.revision == 5 && usual.count == 0 && usual.commits.map(\.revision) == [6])
        #expect(usual.collection.epoch == [UInt8](repeating: 3, count: 16))
        let latest = UInt64(Int64.max) - 1
        #expect(try CachedCollection(bytes(revision: latest - 1, commit: latest)).commits.count == 1)
        for damaged in [
            bytes(revision: .max), bytes(revision: UInt64(Int64.max)), bytes(count: .max), bytes(count: 1 << 40),
            bytes(commit: .max), bytes(commit: UInt64(Int64.max)),
        ] {
            let error = #expect(throws: StoreError.self) { try CachedCollection(damaged) }
            #expect(error?.code == .corruptJournal)
        }
    }
}
