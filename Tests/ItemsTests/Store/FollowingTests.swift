import Foundation
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("A store beside its owner")
struct FollowingTests {
    let folder: TemporaryDirectory
    let owner: ItemStore
    let reader: ItemStore

    init() throws {
        folder = try TemporaryDirectory()
        owner = try ItemStore.open(ArchivePersistence(folder: folder.path))
        for number in 0..<5 { try owner.createItem(ItemFields(name: "item \(number)", itemKey: "key \(number)")) }
        try owner.saveChanges()
        reader = try ItemStore.open(ArchivePersistence(folder: folder.path, isReadOnly: true))
    }

    private func expectSame(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try reader.followOwner()
        let (theirs, ours) = (owner.allItems, reader.allItems)
        #expect(ours.map(\.values) == theirs.map(\.values), sourceLocation: sourceLocation)
        #expect(reader.isReadOnly && !reader.hasUncommittedChanges, sourceLocation: sourceLocation)
    }

    private func change(_ round: Int) throws {
        try owner.createItem(ItemFields(name: "round \(round)", custom: ["colour": .string("red \(round)")]))
        try owner.moveItem(from: owner.count - 1, to: round % 3)
        try owner[1]?.setValue(.integer(Int64(round)), forField: "count")
        if round % 2 == 0 { try owner.moveItem(from: 0, to: owner.count - 1) }
        if round % 3 == 0, let item = owner[2] { try owner.removeItem(item) }
        try owner.commit()
    }

    @Test func everyCommitIsSeen() throws {
        for round in 0..<12 {
            try change(round)
            try expectSame()
            #expect(reader.revision == owner.revision)
        }
    }

    @Test func commitsOfOneLookComeTogether() throws {
        for round in 0..<7 { try change(round) }
        try expectSame()
        // Without news nothing is applied.
        let version = reader.version
        try expectSame()
        #expect(reader.version == version)
    }

    @Test("a save of the owner does not part them, whatever was read before it", arguments: [true, false])
    func saves(looksBetween: Bool) throws {
        for round in 0..<10 {
            try change(round)
            if looksBetween { try expectSame() }
            try owner.saveChanges()
            try change(round + 20)
            if round % 3 == 2 { try owner.saveChanges() }
            if looksBetween || round % 4 == 3 { try expectSame() }
        }
        try expectSame()
    }

    @Test("an item whose key only looks like that of another comes as well, after a save") func lookAlikes() throws {
        for key in ["caf\u{E9}", "cafe\u{301}"] {
            try owner.createItem(ItemFields(name: key, itemKey: key))
            try owner.saveChanges()
            try expectSame()
        }
    }

    @Test func observersAreToldOfRemoteCommits() throws {
        var tallies: [ItemCommitTally] = []
        reader.commitCounter = { cause, tally in
            #expect(cause == .remote)
            tallies.append(tally)
        }
        try owner.createItem(ItemFields(name: "new"))
        try owner.createItem(ItemFields(name: "newer"))
        try owner.commit()
        try expectSame()
        #expect(tallies.map(\.created) == [2])
    }

    @Test func aRecordThatIsBeingWrittenIsReadWhenItIsWhole() throws {
        try change(1)
        let copy = try TemporaryDirectory()
        for name in ["items.archive", "items.journal"] { try copy.write(folder.read(name), to: name) }
        let beside = try ItemStore.open(ArchivePersistence(folder: copy.path, isReadOnly: true))
        try change(2)
        let whole = try folder.read("items.journal")
        let end = try #require(whole.lastIndex { $0 != 0 })
        var torn = whole
        torn[end] = 0
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: copy.file("items.journal")))
        defer { try? file.close() }
        let before = beside.allItems.map(\.values)
        try file.write(contentsOf: torn)
        try beside.followOwner()
        #expect(beside.allItems.map(\.values) == before)
        try file.seek(toOffset: 0)
        try file.write(contentsOf: whole)
        try beside.followOwner()
        #expect(beside.allItems.map(\.values) == owner.allItems.map(\.values))
    }
}

extension Item {
    /// All fields, by name.
    fileprivate var values: PropertyListFields { (try? allFields.values) ?? [:] }
}
