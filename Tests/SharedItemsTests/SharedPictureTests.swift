import Files
import Foundation
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import Items
@testable import SharedItems

@Suite(
    "Pictures of a collection", .serialized,
    .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed"), .cluster)
struct SharedPictureTests {
    private let cluster: PostgresServer
    private let owner: PostgresConnection
    private let first: [UInt8] = Array("the first picture".utf8)
    private let second: [UInt8] = (0..<5000).map { UInt8($0 % 251) }

    init() throws {
        cluster = try .ofSuite
        owner = try cluster.connect()
    }

    /// Hosts on a new collection whose item `vase` has the first picture.
    private func hosts(_ collection: String = #function) throws -> (PictureHost, PictureHost, number: Int32) {
        let address = try cluster.newCollection(String(collection.prefix { $0 != "(" }))
        let one = try PictureHost(address, "desk-1")
        try one.store.createItem(ItemFields(name: "Vase", itemKey: "vase"))
        try one.set(first, "vase")
        try one.store.commit()
        return (one, try PictureHost(address, "desk-2"), try #require(one.store.shared.server.collection).number)
    }

    /// How many pictures the server has, and how many of them items have.
    private func counts(_ number: Int32) throws -> (all: Int64, had: Int64) {
        let rows = try owner.run(
            "select count(*), count(*) filter (where gone is null) from cubby.picture where collection = $1",
            [.int4(number)])
        return (try rows.number(0, 0), try rows.number(0, 1))
    }

    private final class Commits: ItemCommitObserver {
        var told: [(ItemStoreCommit.Cause, String?, [ItemChange])] = []
        func itemStore(_ store: ItemStore, didCommit commit: ItemStoreCommit) {
            told.append((commit.cause, commit.host, Array(commit)))
        }
    }

    @Test("a picture goes with its item's commit, is told as a change, and is fetched when it is read")
    func exchange() throws {
        let (one, two, number) = try hosts()
        #expect(two.attachments.hasBytes(forKey: "vase"))
        #expect(try two.attachments.keys() == ["vase"])
        #expect(two.cached.isEmpty)
        #expect(try two.bytes("vase") == first)
        #expect(two.cached == [SHA256.digest(first).hexadecimal])
        #expect(one.cached == two.cached && one.outgoing.isEmpty)
        let commits = Commits()
        two.store.addCommitObserver(commits)
        try one.set(second, "vase")
        try one.store.commit()
        #expect(try two.updatedBytes("vase") == second)
        let told = try #require(commits.told.first)
        #expect(commits.told.count == 1 && told.0 == .remote && told.1 == "desk-1")
        #expect(told.2.map(\.kind) == [.update] && told.2.map(\.field) == ["image"])
        #expect(told.2.first?.new == .data(SHA256.digest(second)))
        #expect(try counts(number) == (2, 1))
        try two.set(nil, "vase")
        try two.store.commit()
        #expect(try one.updatedBytes("vase") == nil)
        #expect(!one.attachments.hasBytes(forKey: "vase"))
        #expect(try counts(number) == (2, 0))
        try expectEqual([one.store, two.store])
    }

    @Test("the digest is not a field: not listed, exported, read or set by its name; a copy has the picture")
    func hidden() throws {
        let (one, _, _) = try hosts()
        let item = try #require(one.store.item(forKey: "vase"))
        #expect(try item.customFieldNames.isEmpty && item.allFields.custom.isEmpty)
        #expect(!one.store.fieldNames.contains { $0.contains("image") })
        #expect(try item.value(forField: "$image") == nil)
        #expect(throws: StoreError.self) { try item.setValue(.string("x"), forField: "$image") }
        let copy = try item.copy()
        #expect(try copy.customFieldNames.isEmpty && one.bytes(copy.itemKey) == first)
    }

    @Test("caches may be emptied at any time, before and after the commit")
    func emptied() throws {
        let (one, two, _) = try hosts()
        _ = try two.bytes("vase")
        for host in [one, two] { try host.emptyCaches() }
        #expect(try one.bytes("vase") == first && two.bytes("vase") == first)
        try one.set(second, "vase")
        try one.emptyCaches()
        #expect(try one.bytes("vase") == second)
        try one.store.commit()
        try one.emptyCaches()
        #expect(try two.updatedBytes("vase") == second && one.bytes("vase") == second)
    }

    @Test(
        "undo of a change, of a removal and of an item's removal brings the picture back for all, and redo takes it away"
    )
    func undo() throws {
        let (one, two, number) = try hosts()
        for change in [
            { try one.set(second, "vase") }, { try one.set(nil, "vase") },
            { try one.store.removeItem(#require(one.store.item(forKey: "vase"))) },
        ] {
            try change()
            try one.store.commit()
            let sent = try one.store.shared.statistics.picturesSent
            for host in [one, two] { try host.emptyCaches() }
            #expect(try two.updatedBytes("vase") != first)
            #expect(try one.store.undo())
            #expect(try two.updatedBytes("vase") == first && one.bytes("vase") == first)
            #expect(try one.store.redo())
            #expect(try two.updatedBytes("vase") != first)
            #expect(try one.store.undo())
            #expect(try two.updatedBytes("vase") == first)
            // The server had the bytes all the time.
            #expect(try one.store.shared.statistics.picturesSent == sent)
            #expect(try counts(number).had == 1)
        }
        // After a day it has them no more, and the host that has them sends them.
        try one.set(nil, "vase")
        try one.store.commit()
        try owner.run("delete from cubby.picture where collection = $1", [.int4(number)])
        #expect(try one.store.undo())
        #expect(try two.updatedBytes("vase") == first)
        // Where nobody has them the undo is refused, and may be asked for again.
        try one.set(nil, "vase")
        try one.store.commit()
        try owner.run("delete from cubby.picture where collection = $1", [.int4(number)])
        let copies = try one.cached.map { ($0, try one.folder.read("caches/shared/\($0)")) }
        try one.emptyCaches()
        let error = #expect(throws: StoreError.self) { try one.store.undo() }
        #expect(error?.message.contains("neither here nor on the server") == true)
        #expect(!one.store.isReadOnly && !one.attachments.hasBytes(forKey: "vase"))
        for (name, bytes) in copies { try one.folder.write(bytes, to: "caches/shared/\(name)") }
        #expect(try one.store.undo())
        #expect(try two.updatedBytes("vase") == first)
        try expectEqual([one.store, two.store])
    }

    @Test("two hosts change one item's picture: the later is refused; the same picture, and other fields, are merged")
    func conflict() throws {
        let (one, two, _) = try hosts()
        try one.set(second, "vase")
        try one.store.commit()
        try two.set(first + [1], "vase")
        let error = #expect(throws: StoreError.self) { try two.store.commit() }
        #expect(error?.code == .conflict)
        #expect(error?.message.hasPrefix("the image of the item vase, Vase, was changed by desk-1, and here") == true)
        #expect(two.outgoing.isEmpty)
        #expect(try two.bytes("vase") == second)
        try one.set(first, "vase")
        try one.store.commit()
        try two.set(first, "vase")
        try two.store.item(forKey: "vase")?.setName("Urn")
        try two.store.commit()
        #expect(try one.updatedBytes("vase") == first)
        try one.set(second, "vase")
        try one.store.commit()
        try two.store.item(forKey: "vase")?.setName("Jar")
        try two.store.commit()
        try expectEqual([one.store, two.store])
        #expect(try two.bytes("vase") == second)
        // Undo where another host has changed the picture since.
        try two.set(first, "vase")
        try two.store.commit()
        try one.store.update()
        #expect(throws: StoreError.self) { try one.store.undo() }
        #expect(try one.bytes("vase") == first)
    }

    @Test("what is rolled back leaves no file and no row", arguments: ["error", "overtaken", "dry run"])
    func rollback(how: String) throws {
        struct Failure: Error {}
        let (one, two, number) = try hosts("rollback-\(how)".replacing(" ", with: "-"))
        let isOvertaken = how == "overtaken"
        if isOvertaken {
            try two.store.item(forKey: "vase")?.setName("Urn")
            try two.store.commit()
        }
        let body = {
            try one.set(second, "vase")
            try one.store.createItem(ItemFields(itemKey: "new"))
            try one.set(second, "new")
            #expect(try one.bytes("vase") == second && one.bytes("new") == second)
            if how == "error" { throw Failure() }
        }
        if how == "dry run" {
            #expect(try one.store.dryRun(body).updated.map(\.field) == ["image"])
        } else {
            #expect(throws: (any Error).self) { try one.store.transaction(body) }
        }
        #expect(one.outgoing.isEmpty && one.cached.count == 1)
        #expect(try one.bytes("vase") == first && counts(number) == (1, 1))
        #expect(one.store.count == 1)
    }

    @Test("bytes that were set before their item go with it; under other keys they are this host's own")
    func loose() throws {
        let (one, two, number) = try hosts()
        try one.set(second, "urn")
        try one.set(second, "cover")
        #expect(try counts(number).all == 1)
        try one.store.createItem(ItemFields(itemKey: "urn"))
        try one.store.commit()
        #expect(try two.updatedBytes("urn") == second && two.bytes("cover") == nil)
        #expect(try one.attachments.keys() == ["cover", "urn", "vase"])
        #expect(try one.bytes("cover") == second)
        // What the container has under the key of an item is not the collection's.
        try one.store.removeItem(#require(one.store.item(forKey: "urn")))
        try one.store.commit()
        #expect(one.attachments.hasBytes(forKey: "urn"))
    }

    @Test("a picture that is damaged on the server is refused and not kept; set again, it is whole")
    func damaged() throws {
        let (one, two, number) = try hosts()
        try owner.run(
            "update cubby.picture set bytes = set_byte(bytes, 3, 0) where collection = $1", [.int4(number)])
        let error = #expect(throws: StoreError.self) { try two.bytes("vase") }
        #expect(error?.code == .inputOutput && error?.message.contains("damaged on the server") == true)
        #expect(two.cached.isEmpty)
        try one.set(nil, "vase")
        try one.store.commit()
        try one.set(first, "vase")
        try one.store.commit()
        #expect(try two.updatedBytes("vase") == first)
        try owner.run("delete from cubby.picture where collection = $1", [.int4(number)])
        try two.emptyCaches()
        let missing = #expect(throws: StoreError.self) { try two.bytes("vase") }
        #expect(missing?.message.contains("is not on the server any more") == true)
        // What is no digest is none.
        for value in [PropertyListValue.string("x"), .data([1]), .integer(7)] {
            try one.store.apply([.update("vase", "$image", to: value)])
            #expect(try two.updatedBytes("vase") == nil && one.bytes("vase") == nil)
            try expectEqual([one.store, two.store])
        }
    }

    @Test("too many bytes are refused where they are set, and where they are read")
    func limits() throws {
        let (one, two, number) = try hosts()
        one.attachments.byteLimit = 20
        let refused = #expect(throws: StoreError.self) { try one.set(second, "vase") }
        #expect(refused?.message.contains("5000 bytes, more than the limit of 20") == true)
        #expect(one.outgoing.isEmpty)
        two.attachments.byteLimit = 5
        let error = #expect(throws: StoreError.self) { try two.bytes("vase") }
        #expect(error?.message.contains("17 bytes, more than the limit of 5") == true)
        #expect(try counts(number) == (1, 1))
    }

    @Test("a large picture goes and comes in pieces")
    func large() throws {
        let (one, two, _) = try hosts()
        let bytes = [UInt8](repeating: 7, count: 4 << 20)
        try one.set(bytes, "vase")
        try one.store.commit()
        #expect(try two.updatedBytes("vase") == bytes)
    }

    @Test("without the server: what is here can be seen, what is not is an error, and the item can be read")
    func disconnected() throws {
        let proxy = try CuttingProxy(to: cluster.folder.path)
        let (one, _, _) = try hosts()
        try one.store.createItem(ItemFields(itemKey: "urn"))
        try one.set(second, "urn")
        try one.store.commit()
        let host = try PictureHost(SharedAddress(cluster.url("disconnected", folder: proxy.folder.path)), "away")
        #expect(try host.bytes("urn") == second)
        proxy.cut(after: 0)
        let error = #expect(throws: StoreError.self) { try host.bytes("vase") }
        #expect(error?.code == .disconnected)
        #expect(error?.message.contains("when the server is back") == true)
        #expect(try host.bytes("urn") == second)
        #expect(try host.store.item(forKey: "vase")?.name == "Vase")
        #expect(host.attachments.hasBytes(forKey: "vase"))
    }

    @Test("a process that ends before its commit leaves nothing that the next one keeps")
    func leftovers() throws {
        let (one, _, number) = try hosts()
        try one.set(second, "vase")
        #expect(one.outgoing.count == 1)
        let next = try PictureHost(one.store.shared.address, "desk-1", in: one.folder)
        #expect(next.outgoing.isEmpty && next.cached.count == 1)
        #expect(try next.bytes("vase") == first && counts(number) == (1, 1))
    }

    @Test(
        "a commit of pictures that is cut anywhere happens once, with them", arguments: CuttingProxy.Direction.allCases)
    func cuts(direction: CuttingProxy.Direction) throws {
        let proxy = try CuttingProxy(to: cluster.folder.path)
        let name = "cuts-\(direction)"
        let whole = try PictureHost(cluster.newCollection(name), "whole")
        let host = try PictureHost(SharedAddress(cluster.url(name, folder: proxy.folder.path)), "cut")
        try host.store.createItem(ItemFields(itemKey: "vase"))
        try host.store.commit()
        var made = 0
        for cut in stride(from: 0, to: 20_000, by: direction == .toServer ? 97 : 13) {
            made += 1
            let bytes = second + [UInt8(made & 255), UInt8(made >> 8)]
            try host.set(bytes, "vase")
            proxy.cut(after: cut, direction)
            let isCommitted = (try? host.store.commit()) ?? false
            if isCommitted, !proxy.wasCut { break }
            if !isCommitted { #expect(throws: StoreError.self) { try host.set(first, "vase") } }
            proxy.cut(after: nil)
            try host.store.applyRemoteCommits()
            #expect(host.outgoing.isEmpty && !host.store.hasUncommittedChanges)
            if made % 8 == 0 { #expect(try whole.updatedBytes("vase") == bytes) }
        }
        proxy.cut(after: nil)
        try #require(made > 20)
        try expectEqual([host.store, whole.store])
        let last = second + [UInt8(made & 255), UInt8(made >> 8)]
        #expect(try whole.bytes("vase") == last)
        #expect(try counts(#require(whole.store.shared.server.collection).number) == (Int64(made), 1))
    }
}
