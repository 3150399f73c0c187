import Files
import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("The commits of a journal as a property list")
struct JournalListTests {
    let folder: StoreFolder

    init() throws { folder = try StoreFolder() }

    private func list() throws -> (JournalList, PropertyListValue) {
        let bytes = try folder.read(folder.journal)
        let list = try bytes.withBytes { bytes throws(StoreError) in try JournalList(bytes, .household) }
        return (list, try PropertyListValue(decoding: list.bytes))
    }

    @Test("each kind of change is in it, with its values as they are")
    func changes() throws {
        let store = try folder.open()
        let half = PropertyListValue.utf16([0xD83D])
        try store.createItem(ItemFields(name: "Lamp", custom: ["half": half]))
        try store.commit()
        try store.createItem(ItemFields(name: "Bear"))
        try store.commit()
        let lamp = try #require(store[0])
        let key = try lamp.itemKey
        try lamp.setValue(.integer(7), forField: "floor")
        try store.commit()
        try lamp.setValue(nil, forField: "floor")
        try store.commit()
        try store.removeItem(lamp)
        try store.commit()

        let (list, value) = try list()
        #expect(list.commitCount == 5 && list.damage.isEmpty)
        guard case .array(let commits)? = value.fields?["commits"] else { throw MissingCommits() }
        func change(_ index: Int) throws -> PropertyListFields {
            guard case .array(let changes)? = commits[index].fields?["changes"] else { throw MissingCommits() }
            return try #require(changes.first?.fields)
        }
        #expect(try change(0)["insert"]?.fields?["name"] == .string("Lamp"))
        #expect(try change(0)["insert"]?.fields?["half"] == half)
        #expect(try change(2) == ["itemKey": .string(key), "set": .fields(["floor": .integer(7)])])
        #expect(try change(3) == ["itemKey": .string(key), "unset": .string("floor")])
        #expect(try change(4) == ["remove": .string(key)])
    }

    private struct MissingCommits: Error {}

    @Test("a record that cannot be read is named, and those beside it are there")
    func damage() throws {
        let store = try folder.open()
        for name in ["one", "two"] {
            try store.createItem(ItemFields(name: name))
            try store.commit()
        }
        var bytes = try folder.read(folder.journal)
        let scan = try bytes.withBytes { bytes throws(StoreError) in try JournalScan(bytes) }
        let records = scan.records.filter { $0.kind == .changes }
        let first = try #require(records.first)
        // A checksum that is right over an unknown change.
        var record = Array(bytes[first.offset..<first.payload.upperBound])
        record[JournalRecord.headerLength] = 0xFF
        JournalRecord.seal(
            &record, kind: .changes, sequence: first.sequence, identifier: scan.header.identifier)
        bytes.replaceSubrange(first.offset..<first.payload.upperBound, with: record)
        try folder.write(bytes, folder.journal)

        let (list, value) = try list()
        #expect(list.damage.map(\.path) == ["commits[0]"])
        guard case .array(let commits)? = value.fields?["commits"] else { throw MissingCommits() }
        #expect(commits.count == 2 && commits[0].fields?["changes"] == nil && commits[1].fields?["changes"] != nil)
    }

    @Test("the declared fields are in it, of the beginning and of each save; what is there again is named")
    func declarations() throws {
        let store = try folder.open()
        let price = FieldDeclaration("price", .real)
        try store.declare([price])
        try store.saveChanges()
        try store.createItem(ItemFields(name: "Lamp"))
        try store.commit()
        var bytes = try folder.read(folder.journal)
        let scan = try bytes.withBytes { bytes throws(StoreError) in try JournalScan(bytes) }
        bytes.removeSubrange(scan.intactLength...)
        let declared = FieldDeclarations([price])
        let (next, identifier) = (scan.nextSequence, scan.header.identifier)
        var checkpoint = JournalRecord.checkpoint(ArchiveIdentity(size: 7, checksum: 8), upTo: 1, declared)
        JournalRecord.seal(&checkpoint, kind: .checkpoint, sequence: next, identifier: identifier)
        var cut = [UInt8](repeating: 0, count: JournalRecord.headerLength + 10)
        JournalRecord.seal(&cut, kind: .checkpoint, sequence: next + 1, identifier: identifier)
        let again = JournalRecord.declarations(declared, sequence: next + 2, identifier: identifier)
        try folder.write(bytes + checkpoint + cut + again, folder.journal)

        let (list, value) = try list()
        #expect(value.fields?["declare"] == declared.record)
        guard case .array(let saves)? = value.fields?["saves"] else { throw MissingCommits() }
        #expect(saves.last?.fields?["declare"] == declared.record && saves.last?.fields?["archiveSize"] == .integer(7))
        #expect(
            list.damage.map(\.reason) == ["the declared fields are there again", "1 save without an archive"])
    }
}
