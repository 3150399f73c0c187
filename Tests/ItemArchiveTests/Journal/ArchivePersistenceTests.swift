import Foundation
import Items
import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@Suite("Archive and journal")
struct ArchivePersistenceTests {
    let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
    }

    /// A store with an archive and three commits behind it.
    private func fill() throws -> ItemStore {
        let store = try folder.open()
        for number in 0..<4 {
            try store.createItem(
                ItemFields(
                    name: "archived \(number)", serialNumber: number == 0 ? nil : "S\(number)",
                    custom: ["tags": .array([.string("a"), .integer(1)])]))
        }
        try store.saveChanges()
        for number in 0..<3 {
            try store.createItem(ItemFields(name: "journal \(number)", itemKey: "key \(number)"))
            try #require(store[number]).setValueInDollars(Int64(number + 1))
            try store.commit()
        }
        return store
    }

    @Test func aFirstRunIsEmpty() throws {
        #expect(try folder.open().count == 0)
        #expect(folder.names.isEmpty)
        try folder.write([], folder.archive)
        try folder.write([], folder.journal)
        let store = try folder.open()
        #expect(store.count == 0)
        #expect(store.loadReport == ItemLoadReport())
        #expect(!store.hasChanges)
        try store.createItem()
        #expect(try store.commit())
        #expect(try folder.open().count == 1)
        try store.saveChanges()
        #expect(try folder.open().count == 1)
    }

    @Test func whatIsCommittedIsThere() throws {
        let store = try fill()
        let expected = try store.records
        let again = try folder.open()
        #expect(try again.records == expected)
        #expect(again.hasChanges)
        #expect(again.loadReport.archivedItems == 4)
        #expect(again.loadReport.replayedRecords == 3)
        #expect(try again.saveChanges())
        #expect(!again.hasChanges)
        let third = try folder.open()
        #expect(try third.records == expected)
        #expect(third.loadReport.replayedRecords == 0)
        #expect(try !third.saveChanges())
        #expect(folder.names == ["items.archive", "items.journal"])
    }

    @Test func aTornTailIsKeptAsideAtEveryByte() throws {
        let store = try fill()
        let journal = try folder.read(folder.journal)
        let archive = try folder.read(folder.archive)
        try store.undo()
        try store.undo()
        let states = try [2: store.records.count, 3: 7]
        for length in 0..<journal.count {
            let other = try StoreFolder()
            try other.write(archive, other.archive)
            try other.write(Array(journal[..<length]), other.journal)
            let opened = try other.open()
            let replayed = opened.loadReport.replayedRecords
            #expect(opened.count == 4 + replayed)
            #expect(replayed < 3)
            if length < JournalHeader.length {
                #expect(replayed == 0)
            }
            #expect(opened.loadReport.quarantinedFiles.count == opened.loadReport.notices.count)
            #expect(
                other.names.filter { $0.hasPrefix("items.journal.torn") }.count
                    == opened.loadReport.quarantinedFiles.count)
            // The store goes on from there.
            try opened.createItem(ItemFields(name: "after"))
            try opened.commit()
            let again = try other.open()
            #expect(try again.records == opened.records, "at \(length)")
            #expect(again.loadReport.notices.isEmpty)
        }
        #expect(states[3] == 7)
    }

    @Test func aFlippedBitNeverCrashesAndIsReported() throws {
        _ = try fill()
        let journal = try folder.read(folder.journal)
        let archive = try folder.read(folder.archive)
        for index in journal.indices {
            let other = try StoreFolder()
            var damaged = journal
            damaged[index] ^= UInt8(1 << (index % 8))
            try other.write(archive, other.archive)
            try other.write(damaged, other.journal)
            let opened = try other.open()
            #expect(opened.loadReport.replayedRecords < 3, "byte \(index)")
            #expect(opened.loadReport.quarantinedFiles.count == 1, "byte \(index)")
            #expect(opened.count == 4 + opened.loadReport.replayedRecords)
        }
    }

    @Test func aJournalOfAnotherArchiveIsKeptAside() throws {
        _ = try fill()
        let other = try StoreFolder()
        let store = try other.open()
        try store.createItem(ItemFields(name: "other"))
        try store.saveChanges()
        try other.write(try folder.read(folder.journal), other.journal)
        let opened = try other.open()
        #expect(opened.count == 1)
        #expect(opened.loadReport.quarantinedFiles == [other.path + "/items.journal.other-1"])
        #expect(
            opened.loadReport.notices.first?.contains("another archive than items.archive, and its 3 commits are")
                == true)
    }

    @Test(
        "an archive that another program puts in place meanwhile is kept at the next save, and told",
        arguments: [false, true])
    func foreignArchive(isWrittenInPlace: Bool) throws {
        let store = try fill()
        let other = try StoreFolder()
        let theirs = try other.open()
        try theirs.createItem(ItemFields(name: "theirs"))
        try theirs.saveChanges()
        let bytes = try other.read(other.archive)
        if isWrittenInPlace {
            try folder.overwrite(bytes, folder.archive)
        } else {
            try FileManager.default.removeItem(atPath: folder.archive)
            try FileManager.default.moveItem(atPath: other.archive, toPath: folder.archive)
        }
        let found = try folder.read(folder.archive)
        var told: [String] = []
        store.onDamage = { told.append($0) }
        try store.saveChanges()
        #expect(told.count == 1 && told[0].contains("kept as items.archive.other-1"), "\(told)")
        #expect(try folder.read(folder.path + "/items.archive.other-1") == found)
        #expect(try folder.open().records == store.records)
        // The own archive, also with another date, is none.
        try store.createItem(ItemFields(name: "more"))
        try folder.overwrite(try folder.read(folder.archive), folder.archive)
        try store.saveChanges()
        #expect(told.count == 1 && !folder.names.contains("items.archive.other-2"))
    }

    /// Each call of the file layer fails once, and from then on: nothing committed is lost, and a later save succeeds.
    @Test(arguments: [false, true], [CommitDurability.process, .power])
    func everyFailureOfASaveIsHarmless(keepsFailing: Bool, durability: CommitDurability) throws {
        var failures = 0
        for call in 1... {
            let folder = try StoreFolder()
            let layer = FaultyFileLayer()
            let store = try folder.open(layer, durability: durability)
            for number in 0..<3 { try store.createItem(ItemFields(name: "item \(number)")) }
            try store.saveChanges()
            try #require(store[0]).setName("committed")
            try store.commit()
            try #require(store[1]).setName("at the save")
            layer.arm(failAt: call, keepsFailing: keepsFailing)
            var failed = false
            do throws(StoreError) {
                try store.saveChanges()
            } catch {
                failed = true
                #expect(error.code == .inputOutput)
            }
            let reached = layer.failedCall != nil
            layer.disarm()
            let there = try folder.open(isReadOnly: true).records.map(\.name)
            #expect(there[0] == "committed" && there[2] == "item 2", "call \(call)")
            #expect(failed || there[1] == "at the save")
            // The store is usable: change, commit, save.
            try #require(store[2]).setName("afterwards")
            try store.commit()
            #expect(
                try folder.open(isReadOnly: true).records.map(\.name) == ["committed", "at the save", "afterwards"])
            #expect(try store.saveChanges())
            #expect(try folder.open(isReadOnly: true).records == store.records)
            #expect(folder.names == ["items.archive", "items.journal"], "call \(call): \(folder.names)")
            if !reached { break }
            failures += 1
        }
        #expect(failures >= 8)
    }

    @Test(arguments: [false, true], [CommitDurability.process, .power])
    func everyFailureOfACommitIsHarmless(keepsFailing: Bool, durability: CommitDurability) throws {
        for hasJournal in [false, true] {
            for call in 1... {
                let folder = try StoreFolder()
                let layer = FaultyFileLayer()
                let store = try folder.open(layer, durability: durability)
                if hasJournal {
                    try store.createItem(ItemFields(name: "first"))
                    try store.commit()
                }
                try store.createItem(ItemFields(name: "second"))
                layer.arm(failAt: call, keepsFailing: keepsFailing)
                let result = Result { try store.commit() }
                let reached = layer.failedCall != nil
                layer.disarm()
                let expected = hasJournal ? ["first", "second"] : ["second"]
                if case .failure = result {
                    #expect(store.hasUncommittedChanges)
                    let there = try folder.open(isReadOnly: true).records.map(\.name)
                    #expect(there == expected.dropLast() || there == expected)
                } else {
                    #expect(try folder.open(isReadOnly: true).records.map(\.name) == expected)
                }
                try store.commit()
                #expect(try folder.open(isReadOnly: true).records == store.records, "call \(call)")
                #expect(try folder.open().loadReport.notices.isEmpty)
                if !reached { break }
            }
        }
    }

    @Test(arguments: 1...20)
    func everyFailureOfOpeningLeavesTheFiles(call: Int) throws {
        let expected = try fill().records
        let layer = FaultyFileLayer(code: EIO)
        layer.arm(failAt: call)
        _ = try? folder.open(layer)
        #expect(try folder.open().records == expected)
    }

    /// The process dies between the new archive and the new journal: the old journal tells what the archive contains.
    @Test func aCrashBetweenArchiveAndJournal() throws {
        let layer = FaultyFileLayer()
        let store = try folder.open(layer)
        for number in 0..<3 { try store.createItem(ItemFields(name: "item \(number)", itemKey: "key \(number)")) }
        try store.saveChanges()
        try #require(store[0]).remove()
        try store.createItem(ItemFields(name: "new"))
        try store.commit()
        let before = try folder.read(folder.archive)
        // Calls of a save: the last are the sync of the folder and the making of the journal.
        var call = 1
        repeat {
            layer.arm(failAt: call, keepsFailing: true)
            call += 1
            #expect(throws: StoreError.self) { try store.saveChanges() }
        } while try folder.read(folder.archive) == before
        let reopened = try folder.open()
        #expect(try reopened.records == store.records)
        #expect(reopened.loadReport.replayedRecords == 0)
        #expect(reopened.loadReport.notices.isEmpty)
        try reopened.createItem(ItemFields(name: "later"))
        try reopened.commit()
        #expect(try folder.open().records == reopened.records)
        try reopened.saveChanges()
        #expect(try folder.open().records == reopened.records)
    }

    @Test func commitsDuringASaveAreKept() throws {
        let store = try fill()
        let save = try #require(try store.beginSave())
        try store.createItem(ItemFields(name: "during"))
        try #require(store[0]).setName("renamed")
        try store.commit()
        #expect(throws: StoreError.self) { try store.beginSave() }
        try store.finish(save, save.write())
        #expect(store.hasChanges)
        let again = try folder.open()
        #expect(try again.records == store.records)
        #expect(again.loadReport.replayedRecords == 1)
        try store.removeItem(try #require(store[1]))
        try store.commit()
        #expect(try folder.open().records == store.records)
    }

    @Test func aReadOnlyOpeningChangesNothing() throws {
        _ = try fill()
        var journal = try folder.read(folder.journal)
        journal.removeLast(3)
        try folder.write(journal, folder.journal)
        let store = try folder.open(isReadOnly: true)
        #expect(store.loadReport.replayedRecords == 2)
        #expect(store.loadReport.notices.count == 1)
        #expect(try folder.read(folder.journal) == journal)
        #expect(folder.names == ["items.archive", "items.journal"])
        #expect(throws: StoreError.self) { try store.createItem() }
    }

    @Test func temporaryFilesOfACrashAreCleaned() throws {
        try folder.write([1], folder.path + "/.cubby-1-abc-s.tmp")
        _ = try folder.open()
        #expect(folder.names.isEmpty)
    }

    /// A journal that has outgrown its archive asks for a save, and after one that failed not at once again.
    @Test func aLongJournalAsksForASave() throws {
        let layer = FaultyFileLayer()
        let persistence = ArchivePersistence(folder: folder.path, using: layer)
        persistence.shortJournalLength = 2000
        let store = try ItemStore.open(persistence)
        func grow() throws {
            for number in 0..<20 { try store.createItem(ItemFields(name: "a name of some length \(number)")) }
            try store.commit()
        }
        #expect(!store.isJournalLong)
        try grow()
        try grow()
        #expect(store.isJournalLong)
        layer.arm(failAt: 1, keepsFailing: true)
        #expect(throws: StoreError.self) { try store.saveChanges() }
        layer.disarm()
        #expect(!store.isJournalLong)
        for _ in 0..<4 { try grow() }
        #expect(store.isJournalLong)
        try store.saveChanges()
        #expect(!store.isJournalLong)
        #expect(try folder.open().records == store.records)
    }

    /// The records of a group reach the disk with one sync, at its end.
    @Test func aGroupOfCommitsSyncsOnce() throws {
        let layer = FaultyFileLayer()
        let store = try folder.open(layer, durability: .power)
        try store.createItem(ItemFields(name: "first"))
        try store.commit()
        layer.disarm()
        for number in 0..<10 {
            try store.createItem(ItemFields(name: "item \(number)"))
            #expect(try store.commitInGroup())
            #expect(try folder.open(isReadOnly: true).count == store.count)
        }
        #expect(layer.calls == Array(repeating: "write", count: 10))
        try store.endGroup()
        try store.endGroup()
        #expect(layer.calls.count { $0 == "sync" } == 1)
        try store.createItem()
        try store.commit()
        #expect(layer.calls.count { $0 == "sync" } == 2)
    }
}
