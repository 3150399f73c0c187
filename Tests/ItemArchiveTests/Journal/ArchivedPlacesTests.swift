import Files
import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Places of items in the archive, in the journal")
struct ArchivedPlacesTests {
    private static func folder(_ count: Int = 20) throws -> StoreFolder {
        let folder = try StoreFolder()
        let store = try folder.open(mapped: true)
        for number in 0..<count {
            try store.createItem(ItemFields(name: "item \(number)", valueInDollars: Int64(number)))
        }
        try store.saveChanges()
        return folder
    }

    /// What a second process reads is what the store holds.
    private static func expectEqual(_ store: ItemStore, _ folder: StoreFolder, _ comment: Comment) throws {
        let other = try folder.open(isReadOnly: true, mapped: true)
        #expect(try other.records == store.records, comment)
        #expect(other.loadReport.notices.isEmpty, comment)
    }

    @Test("a replay reads nothing of the archive")
    func replayReadsNothing() throws {
        let folder = try Self.folder()
        let store = try folder.open(mapped: true)
        try #require(store[5]).setValueInDollars(500)
        try #require(store[6]).setName("a new name that is longer than a cell")
        try store.commit()
        let opened = try folder.open(mapped: true)
        #expect(opened.loadReport.replayedRecords == 1)
        for row in 0..<20 as Range<UInt32> {
            let key = opened.columns.table.keys.isPresent(row)
            let value = !opened.columns.table.isArchived(row, .valueInDollars)
            let name = !opened.columns.table.isArchived(row, .name)
            #expect(!key && value == (row == 5) && name == (row == 6), "row \(row)")
        }
        #expect(try opened.records == store.records)
    }

    @Test("an item that went and came back, and one in its row, are found by their keys")
    func rowsThatWereGivenBack() throws {
        let folder = try Self.folder()
        var store = try folder.open(mapped: true)
        for commits in [false, true] {
            func step() throws { if commits { try store.commit() } }
            try store.removeItem(try #require(store[3]))
            try step()
            #expect(try store.undo())
            try step()
            try #require(store[3]).setValueInDollars(333)
            try step()
            try store.removeItem(try #require(store[4]))
            try step()
            for number in 0..<3 {
                let item = try store.createItem(ItemFields(name: "new \(number)"))
                try step()
                try item.setValueInDollars(Int64(number))
                try step()
            }
            try store.moveItem(from: 0, to: 9)
            try #require(store[0]).setName("first")
            try #require(store[9]).setName("tenth")
            try store.commit()
            try Self.expectEqual(store, folder, "commits \(commits)")
            store = try folder.open(mapped: true)
        }
        store.history.commits = 0
        for round in 0..<4 {
            // Without a history a row is given to the next item at once.
            try store.removeItem(try #require(store[2]))
            try store.commit()
            let item = try store.createItem(ItemFields(name: "again \(round)"))
            try store.commit()
            try item.setValueInDollars(9)
            try store.commit()
            try Self.expectEqual(store, folder, "round \(round)")
        }
    }

    @Test("changes while a save is under way, and after one that failed", arguments: [false, true])
    func saves(succeeds: Bool) throws {
        let folder = try Self.folder()
        let store = try folder.open(mapped: true)
        for change in 0..<3 {
            switch change {
            case 0: try store.createItem(ItemFields(name: "at the end"))
            case 1: try store.moveItem(from: 2, to: 7)
            default: try store.removeItem(try #require(store[store.count - 1]))
            }
            let save = try #require(try store.beginSave())
            try #require(store[1]).setName("while \(change)")
            try #require(store[store.count - 1]).setName("while \(change), the last")
            try store.commit()
            try Self.expectEqual(store, folder, "while \(change)")
            if succeeds {
                try store.finish(save, save.write())
            } else {
                #expect(throws: StoreError.self) {
                    try store.finish(save, .failure(StoreError(.inputOutput, "the disk is full")))
                }
            }
            try #require(store[2]).setName("after \(change)")
            try #require(store[store.count - 1]).setName("after \(change), the last")
            try store.commit()
            try Self.expectEqual(store, folder, "after \(change)")
        }
    }

    @Test("a record that is corrupt in its middle leaves the archive's values")
    func rollBack() throws {
        let folder = try Self.folder()
        let store = try folder.open(mapped: true)
        let before = try folder.open(isReadOnly: true, mapped: true).records
        var bytes: [UInt8] = []
        for (row, field) in [(5, ItemField.valueInDollars), (6, .name), (7, .serialNumber)] as [(UInt8, ItemField)] {
            bytes += [JournalCode.Change.set.rawValue, JournalCode.Key.placedUUID.rawValue]
            bytes += [UInt8](repeating: 0, count: 16)
            bytes += [row, UInt8(field.rawValue)]
            bytes +=
                field == .valueInDollars
                ? [JournalCode.Value.integer.rawValue, 84] : [JournalCode.Value.string.rawValue, 2, 0x41, 0x42]
        }
        let loader = ItemLoader(store.columns)
        #expect(throws: StoreError.self) { try loader.replay(bytes + [99]) }
        #expect(try store.records == before)
        let again = try folder.open(mapped: true)
        try ItemLoader(again.columns).replay(bytes)
        #expect(try again[5]?.valueInDollars == 42)
        #expect(try again[6]?.name == "AB")
        #expect(try again[7]?.serialNumber == "AB")
    }

    @Test("an archive is known by the samples of its file as by its bytes")
    func identities() throws {
        let folder = try StoreFolder()
        let layer = PosixFileLayer()
        var generator = TestGenerator(seed: 5)
        for size in [0, 1, 1 << 20, 1 << 20 + 1, 3_000_001] {
            let bytes = (0..<size).map { _ in UInt8(truncatingIfNeeded: generator.number(256)) }
            try folder.write(bytes, folder.archive)
            let file = try layer.open(folder.archive, .read)
            defer { layer.close(file) }
            #expect(try ArchiveIdentity(of: file, size: size, using: layer) == ArchiveIdentity(of: bytes))
        }
    }
}
