import Files
import ItemsTestSupport
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("An archive that is missing, empty or cut short")
struct ArchiveExistenceTests {
    /// What a folder holds besides.
    enum Witness: String, CaseIterable {
        case journal, index
    }

    let folder: StoreFolder
    let archive: [UInt8]
    let journal: [UInt8]
    let index: [UInt8]

    init() throws {
        folder = try StoreFolder()
        let store = try folder.open(mapped: true)
        for number in 0..<300 {
            try store.createItem(ItemFields(name: "item \(number) with a name that is long", valueInDollars: 5))
        }
        try store.saveChanges()
        try #require(store[0]).setName("committed")
        try store.commit()
        archive = try folder.read(folder.archive)
        journal = try folder.read(folder.journal)
        index = try folder.read(folder.index)
    }

    /// A folder with some of the three files; nil for one that is missing.
    private func make(_ archive: [UInt8]?, _ journal: [UInt8]?, _ index: [UInt8]?) throws -> StoreFolder {
        let other = try StoreFolder()
        _ = try? PosixFileLayer().makeDirectories(other.caches)
        if let archive { try other.write(archive, other.archive) }
        if let journal { try other.write(journal, other.journal) }
        if let index { try other.write(index, other.index) }
        return other
    }

    /// Expects that an opening is refused, with words that help, and changes nothing.
    private func expectRefusal(_ folder: StoreFolder, _ parts: [String], opensCut: Bool, _ comment: Comment) throws {
        let leftover = folder.path + "/.cubby-1-abc-1.tmp"
        try folder.write([1], leftover)
        let before = try (folder.names, folder.names.map { try folder.read("\(folder.path)/\($0)") })
        for isReadOnly in [true, false] {
            let error = try #require(throws: StoreError.self, comment) {
                _ = try folder.open(isReadOnly: isReadOnly, mapped: true, opensCut: opensCut)
            }
            #expect(error.code == .corruptArchive, comment)
            #expect(error.path == folder.archive, comment)
            for part in parts + ["cubby restore", "Nothing was changed"] {
                #expect(error.message.contains(part), "\(comment): \(error.message)")
            }
            let after = try (folder.names, folder.names.map { try folder.read("\(folder.path)/\($0)") })
            #expect(before.0 == after.0 && before.1 == after.1, comment)
        }
    }

    @Test("is refused when the journal or the index tells of it", arguments: Witness.allCases, [nil, 0] as [Int?])
    func refused(_ witness: Witness, length: Int?) throws {
        let folder = try make(
            length.map { Array(archive[..<$0]) }, witness == .journal ? journal : nil, witness == .index ? index : nil)
        try expectRefusal(
            folder,
            [
                length == nil ? "is missing" : "is empty (0 bytes)",
                witness == .journal ? "the journal follows one of" : "items.index belongs to one of",
                witness == .journal ? "\(archive.count) bytes" : "\(archive.count) bytes",
                witness == .journal ? "move items.journal away" : "move items.index away",
            ], opensCut: true, "\(witness) \(length ?? -1)")
    }

    @Test("is refused by who does not open what is left, at whatever length", arguments: Witness.allCases)
    func cut(_ witness: Witness) throws {
        let lengths = [1, 8, 100, archive.count / 2, archive.count - 4096, archive.count - 1]
        for length in lengths {
            let folder = try make(
                Array(archive[..<length]), witness == .journal ? journal : nil, witness == .index ? index : nil)
            try expectRefusal(
                folder, ["is cut short: it has \(length) bytes", "one of \(archive.count)", "cubby check --repair"],
                opensCut: false, "\(witness) at \(length)")
        }
    }

    @Test("names the copies that lie beside it")
    func copies() throws {
        let folder = try make(nil, journal, nil)
        try folder.write(archive, folder.path + "/items.archive.original-1")
        try expectRefusal(folder, ["items.archive.original-1 beside it"], opensCut: false, "with a copy")
    }

    @Test("is a first run where nothing tells of it; a journal that follows none holds everything")
    func first() throws {
        #expect(try make(nil, nil, nil).open(mapped: true, opensCut: false).loadReport.notices.isEmpty)
        let empty = try make([], nil, nil).open(mapped: true, opensCut: false)
        #expect(empty.count == 0)
        let unsaved = try StoreFolder()
        let store = try unsaved.open()
        try store.createItem(ItemFields(name: "committed"))
        try store.commit()
        for archive in [nil, []] as [[UInt8]?] {
            let opened = try make(archive, unsaved.read(unsaved.journal), nil).open(mapped: true, opensCut: false)
            #expect(try opened.records.map(\.name) == ["committed"])
            #expect(opened.loadReport.notices.isEmpty)
        }
    }

    @Test("is no matter where another archive, which is whole, took its place")
    func other() throws {
        let smaller = try StoreFolder()
        let store = try smaller.open()
        try store.createItem(ItemFields(name: "other"))
        try store.saveChanges()
        let folder = try make(smaller.read(smaller.archive), journal, index)
        let opened = try folder.open(mapped: true, opensCut: false)
        #expect(try opened.records.map(\.name) == ["other"])
        #expect(opened.loadReport.quarantinedFiles == [folder.path + "/items.journal.other-1"])
    }

    @Test("is never what a save that failed at some step leaves behind", arguments: [false, true])
    func interrupted(isFirst: Bool) throws {
        for call in 1... {
            let folder = try StoreFolder()
            let layer = FaultyFileLayer()
            let store = try folder.open(layer, mapped: true)
            try store.createItem(ItemFields(name: "first"))
            if !isFirst { try store.saveChanges() }
            try store.createItem(ItemFields(name: "second"))
            try store.commit()
            layer.arm(failAt: call, keepsFailing: true)
            _ = try? store.saveChanges()
            if layer.failedCall == nil { break }
            layer.disarm()
            for isReadOnly in [true, false] {
                let there = try folder.open(isReadOnly: isReadOnly, mapped: true, opensCut: false)
                #expect(there.count == 2, "call \(call)")
            }
        }
    }

    @Test("a save takes nothing from an archive that was written to meanwhile; a new date alone is no matter")
    func writtenTo() throws {
        let folder = try make(archive, nil, index)
        let store = try folder.open(mapped: true)
        try #require(store[1]).setName("changed")
        try folder.overwrite(archive, folder.archive)
        #expect(try store.saveChanges())
        let other = try make(archive, nil, index)
        let damaged = try other.open(mapped: true)
        try #require(damaged[1]).setName("changed")
        var bytes = archive
        bytes[bytes.count / 2] ^= 1
        try other.overwrite(bytes, other.archive)
        let error = try #require(throws: StoreError.self) { try damaged.saveChanges() }
        #expect(error.code == .inputOutput)
        #expect(error.message.contains("was changed in place by another program"))
        #expect(try other.read(other.archive) == bytes)
        #expect(other.names == ["items.archive", "items.journal"])
    }

    @Test("an index goes with its archive when the next one gets none")
    func staleIndex() throws {
        let folder = try make(archive, journal, index)
        let store = try ItemStore.open(
            ArchivePersistence(folder: folder.path, indexFolder: folder.caches, mappedFrom: 100))
        while store.count > 10 { try store.removeItem(try #require(store[store.count - 1])) }
        try store.saveChanges()
        #expect(!PosixFileLayer().exists(folder.index))
        for number in 0..<200 { try store.createItem(ItemFields(name: "new \(number)")) }
        try store.saveChanges()
        #expect(ItemIndexFile(try folder.read(folder.index))?.count == 210)
    }
}
