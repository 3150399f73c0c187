import Files
import ItemsTestSupport
import PropertyList
import TestSupport
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

@Suite("A journal of a newer format")
struct NewerJournalTests {
    let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
        let store = try folder.open()
        try store.createItem(ItemFields(name: "saved"))
        try store.saveChanges()
        try store.createItem(ItemFields(name: "committed"))
        try store.commit()
    }

    /// Gives the journal's header a version, with a checksum that is right.
    private func setVersion(_ version: UInt8) throws {
        var bytes = try folder.read(folder.journal)
        bytes[8] = version
        let checksum = bytes.withUnsafeBytes { Checksum.hash(UnsafeRawBufferPointer(rebasing: $0[..<56])) }
        bytes.replaceSubrange(56..<64, with: (0..<8).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) })
        try folder.write(bytes, folder.journal)
    }

    @Test("is refused, and everything stays as it is")
    func refused() throws {
        try setVersion(UInt8(JournalHeader.latestVersion) + 1)
        let before = try (folder.names, folder.names.map { try folder.read("\(folder.path)/\($0)") })
        let error = try #require(throws: StoreError.self) { _ = try folder.open() }
        #expect(error.code == .newerFormat)
        #expect(error.path == folder.journal)
        #expect(!error.code.isProgrammerError)
        let after = try (folder.names, folder.names.map { try folder.read("\(folder.path)/\($0)") })
        #expect(before.0 == after.0)
        #expect(before.1 == after.1)
    }

    @Test("read-only, what was saved is there, and a notice tells of the rest")
    func readOnly() throws {
        try setVersion(UInt8(JournalHeader.latestVersion) + 1)
        let store = try folder.open(isReadOnly: true)
        #expect(store.count == 1)
        #expect(store.loadReport.notices.contains { $0.contains("format \(JournalHeader.latestVersion + 1)") })
    }

    @Test(
        "a text that is not Unicode, and a dictionary with other keys than texts, raise the version of the journal",
        arguments: [
            PropertyListValue.utf16([0xD83D]),
            .dictionary(PropertyListDictionary([(.integer(1), .array([.utf16([0xDE00])]))])),
        ])
    func raised(value: PropertyListValue) throws {
        let store = try folder.open()
        #expect(try folder.read(folder.journal)[8] == UInt8(JournalHeader.usualVersion))
        try store.createItem(ItemFields(name: "x", custom: ["half": value]))
        try store.commit()
        #expect(try folder.read(folder.journal)[8] == UInt8(JournalHeader.carryingVersion))
        let again = try folder.open()
        #expect(again.count == 3)
        #expect(try #require(again[2]).value(forField: "half") == value)
    }

    @Test("a version that never was is damage, and put aside as before")
    func version0() throws {
        try setVersion(0)
        #expect(try folder.open().count == 1)
        #expect(folder.names.contains("items.journal.torn-1"))
    }
}
