import Files
import Foundation
import Glibc
import ItemsTestSupport
import PropertyList
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("Damaged archives")
struct DamagedArchiveTests {
    let folder: StoreFolder
    let archive: [UInt8]
    let journal: [UInt8]
    /// The items of the archive, and those with the journal's changes.
    let archived: [ItemFields]
    let expected: [ItemFields]

    init() throws {
        folder = try StoreFolder()
        let store = try folder.open()
        for number in 0..<40 {
            try store.createItem(
                ItemFields(
                    name: "archived \(number)", serialNumber: number == 0 ? nil : "S\(number)", valueInDollars: 1000,
                    custom: ["tags": .array([.string("a \(number)"), .integer(1)]), "room": .string("room \(number)")]))
        }
        try store.saveChanges()
        archived = try store.records
        try #require(store[39]).setName("changed")
        try #require(store[0]).setName("changed")
        try store.createItem(ItemFields(name: "created"))
        try store.commit()
        expected = try store.records
        archive = try folder.read(folder.archive)
        journal = try folder.read(folder.journal)
    }

    /// Opens a damaged archive: an error that says so or, when something could be read, its copy aside and a report.
    private func open(_ damaged: [UInt8], _ comment: Comment) throws -> ItemStore? {
        let other = try StoreFolder()
        try other.write(damaged, other.archive)
        try other.write(journal, other.journal)
        let store: ItemStore
        do {
            store = try other.open()
        } catch let error as StoreError {
            #expect(error.code == .corruptArchive, comment)
            #expect(error.path == other.archive, comment)
            #expect(try other.read(other.archive) == damaged, comment)
            return nil
        }
        if store.loadReport.isSalvaged {
            #expect(try other.read(other.path + "/items.archive.damaged-1") == damaged, comment)
            #expect(!store.loadReport.notices.isEmpty, comment)
            // The second opening keeps no second copy; the store goes on, and a save makes everything well.
            #expect(try other.open().records == store.records, comment)
            #expect(!other.names.contains("items.archive.damaged-2"), comment)
            #expect(try store.saveChanges(), comment)
            let again = try other.open()
            #expect(again.loadReport.notices.isEmpty, comment)
            #expect(try again.records == store.records, comment)
        } else {
            // What was changed is a text, or the archive is no longer what the journal follows: that is kept aside.
            #expect(store.loadReport.replayedRecords == 1 || store.loadReport.quarantinedFiles.count == 1, comment)
        }
        return store
    }

    @Test func aFlippedBitAnywhereIsReportedAndTheRestIsRead() throws {
        var salvaged = 0
        var whole = 0
        for index in stride(from: 0, to: archive.count, by: 15) {
            var damaged = archive
            damaged[index] ^= UInt8(1 << (index / 15 % 8))
            guard let store = try open(damaged, "byte \(index)") else { continue }
            if store.loadReport.isSalvaged { salvaged += 1 }
            // One bit costs a few items at the most, where the root and the table stand.
            let there = Set(try store.records.map(\.name))
            if there.count >= 38 { whole += 1 }
        }
        #expect(salvaged > 30)
        #expect(whole > archive.count / 15 * 8 / 10)
    }

    @Test func anArchiveCutAnywhereGivesTheItemsBeforeTheCut() throws {
        var most = 0
        for length in stride(from: 1, to: archive.count, by: 11) {
            guard let store = try open(Array(archive[..<length]), "at \(length)") else { continue }
            #expect(store.loadReport.isSalvaged, "at \(length)")
            let names = try store.records.map(\.name).filter { $0.hasPrefix("archived") }
            let before = archived.map(\.name)
            #expect(names == before.filter(Set(names).contains), "the order is kept at \(length)")
            most = max(most, names.count)
        }
        #expect(most >= 38)
    }

    @Test func theJournalIsAppliedToWhatIsLeft() throws {
        let store = try #require(try open(Array(archive.dropLast(40)), "without its trailer"))
        #expect(try store.records == expected)
    }

    @Test func readOnlyNothingIsWritten() throws {
        try folder.write(Array(archive.dropLast(40)), folder.archive)
        let store = try folder.open(isReadOnly: true)
        #expect(try store.records == expected)
        #expect(store.loadReport.notices.first?.contains("it is left as it is") == true)
        #expect(folder.names == ["items.archive", "items.journal"])
    }

    /// A mapped archive is read when it is touched: damage shows then, is reported, and the archive is kept.
    @Test func damageInAMappedArchiveIsReportedWhenItIsTouched() throws {
        var store = try folder.open(mapped: true)
        try store.saveChanges()
        let whole = try folder.read(folder.archive)
        let index = try folder.read(folder.index)
        var reported = 0
        for place in stride(from: 9, to: whole.count - 32, by: 21) {
            var damaged = whole
            damaged[place] ^= 0xFF
            try folder.writeUnnoticed(damaged, index: index)
            guard let opened = try? folder.open(isReadOnly: true, mapped: true) else { continue }
            var told = 0
            opened.onDamage = { _ in told += 1 }
            let records = try opened.records
            #expect(records.count <= 41)
            if told > 0 {
                reported += 1
                #expect(!opened.loadReport.notices.isEmpty)
            }
        }
        #expect(reported > 15)
        store = try folder.open(isReadOnly: true)
    }

    /// A save reads what nobody has read yet, on other threads: damage that it finds is told, and the archive is kept.
    @Test func damageThatASaveFindsIsReportedAndTheArchiveIsKept() throws {
        try folder.open(mapped: true).saveChanges()
        let whole = try folder.read(folder.archive)
        let index = try folder.read(folder.index)
        let other = try StoreFolder()
        _ = try other.open(mapped: true)
        var kept = 0
        for place in stride(from: 9, to: whole.count - 32, by: 21) {
            let copy = other.path + "/items.archive.damaged-1"
            for name in other.names { try FileManager.default.removeItem(atPath: other.path + "/" + name) }
            var damaged = whole
            damaged[place] ^= 0xFF
            try other.writeUnnoticed(damaged, index: index)
            guard let opened = try? other.open(mapped: true), !opened.loadReport.isSalvaged else { continue }
            var told: [String] = []
            opened.onDamage = { told.append($0) }
            try opened.createItem(ItemFields(name: "new"))
            guard (try? opened.saveChanges()) == true else { continue }
            #expect(told.isEmpty != FileManager.default.fileExists(atPath: copy), "byte \(place): \(told)")
            if told.isEmpty { continue }
            kept += 1
            #expect(told.last == "items.archive is damaged: it is kept as items.archive.damaged-1")
            #expect(opened.loadReport.notices == told)
            #expect(try other.read(copy) == damaged)
            // Once: what is in place now is another archive.
            try opened.createItem(ItemFields(name: "newer"))
            try opened.saveChanges()
            #expect(!other.names.contains("items.archive.damaged-2"))
        }
        #expect(kept > 15)
    }

    /// Who is told of damage may ask the store, whatever it does at that moment.
    @Test func damageMayBeAnsweredByAQuestion() throws {
        let store = try folder.open(mapped: true)
        try store.saveChanges()
        let keys = try (0..<store.count).map { try #require(store[$0]).itemKey }
        let whole = try folder.read(folder.archive)
        let index = try folder.read(folder.index)
        var answers = 0
        for place in stride(from: 9, to: whole.count - 32, by: 21) {
            var damaged = whole
            damaged[place] ^= 0xFF
            try folder.writeUnnoticed(damaged, index: index)
            guard let opened = try? folder.open(isReadOnly: true, mapped: true) else { continue }
            opened.onDamage = { [unowned opened] _ in
                answers += opened.canUndo || opened.hasUncommittedChanges ? 0 : 1
            }
            for (number, key) in keys.enumerated() {
                try? opened.apply([.remove(key)], revision: ItemRevision(rawValue: UInt64(number + 1)))
            }
        }
        #expect(answers > 0)
    }

    /// Looked for by its key, an item is compared where it lies: a key that is none there does not pass for another.
    @Test func damageOfAKeyIsReportedWhenItIsLookedFor() throws {
        let store = try folder.open(mapped: true)
        try store.saveChanges()
        var damaged = try folder.read(folder.archive)
        let key = try #require(store[20]).itemKey
        let place = try #require(damaged.firstRange(of: Array(key.utf8))).lowerBound
        // The marker of the text, and its length before it: false now.
        let marker = damaged[place - 3]
        try #require(marker == 0x5F)
        damaged[place - 3] = 0x08
        try folder.writeUnnoticed(damaged, index: try folder.read(folder.index))
        let opened = try folder.open(isReadOnly: true, mapped: true)
        var told: [String] = []
        opened.onDamage = { told.append($0) }
        #expect(opened.item(forKey: key) == nil)
        #expect(!told.isEmpty)
    }

    /// An index is a convenience: damaged in any byte, or gone, the archive is read without it.
    @Test func aDamagedIndexIsNoMatter() throws {
        let store = try folder.open(mapped: true)
        try store.saveChanges()
        let index = try folder.read(folder.index)
        let saved = try store.records
        for place in stride(from: 0, to: index.count, by: 53) {
            var damaged = index
            damaged[place] ^= 0x10
            try folder.write(damaged, folder.index)
            #expect(try folder.open(isReadOnly: true, mapped: true).records == saved, "byte \(place)")
        }
        for length in stride(from: 0, to: index.count, by: 111) {
            try folder.write(Array(index[..<length]), folder.index)
            #expect(try folder.open(isReadOnly: true, mapped: true).records == saved, "cut at \(length)")
        }
    }

    /// The container was copied without its Caches: the next opening makes an index.
    @Test func anArchiveWithoutItsIndexGetsOne() throws {
        _ = try folder.open(mapped: true)
        let layer = PosixFileLayer()
        for _ in 0..<2000 where !layer.exists(folder.index) { usleep(1000) }
        let index = try folder.read(folder.index)
        #expect(ItemIndexFile(index) != nil)
        #expect(try folder.open(isReadOnly: true, mapped: true).records == expected)
    }
}

extension ItemIndexFile {
    init?(_ bytes: [UInt8]) {
        guard let found = bytes.withUnsafeBytes({ ItemIndexFile($0, .household) }) else { return nil }
        self = found
    }
}
