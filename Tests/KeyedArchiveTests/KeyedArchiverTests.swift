import Foundation
import KeyedArchive
import PropertyList
import Testing

@Suite("Writing keyed archives")
struct KeyedArchiverTests {
    @Test("the worked example, byte for byte")
    func workedExample() throws {
        let expected = """
            62706c6973743030 d40102030405 06070a 5824766572 73696f6e 59246172 6368697665 72 5424746f70 58246f626a65637473
            12000186a0 5f100f4e534b657965644172636869766572 d10809 54726f6f74 8001 a30b0c11 55246e756c6c d20d0e0f10
            574e532e74696d65 5624636c617373 233fe0000000000000 8002 d212131415 5a24636c6173736e616d65 5824636c6173736573
            564e5344617465 a21416 584e534f626a656374
            08111a242932374 94c515357 5d626a717a7c818c959c9f
            0000000000000101 0000000000000017 0000000000000000 00000000000000a8
            """.filter { !$0.isWhitespace }
        let archiver = KeyedArchiver()
        try archiver.encode(PropertyListDate(secondsSinceReferenceDate: 0.5), forKey: "root")
        let bytes = try archiver.finishEncoding()
        #expect(bytes.map { String(format: "%02x", $0) }.joined() == expected)
        #expect(bytes.count == 223)
    }

    @Test("records by the fast path come back by the reader, the unarchiver and Foundation")
    func records() throws {
        let archiver = KeyedArchiver()
        let name = archiver.key("name")
        let value = archiver.key("valueInDollars")
        let date = archiver.key("dateCreated")
        try archiver.encodeRecords(0..<300, of: Item.archivedClass) { (index, archiver) throws(ArchiveError) in
            try archiver.encode(index % 3 == 0 ? nil : "Rusty Bear \(index)", forKey: name)
            try archiver.encode(Int64(index), forKey: value)
            try archiver.encode(PropertyListDate(secondsSinceReferenceDate: Double(index / 2)), forKey: date)
        }
        let bytes = try archiver.finishEncoding()

        let reader = try KeyedArchiveReader(bytes)
        let root = try #require(try reader.rootUID())
        let elements = try #require(try reader.record(at: root)?.elements())
        #expect(elements.count == 300)
        let record = try #require(try reader.record(at: elements.uid(at: 100)))
        #expect(try record.className() == "Item")
        #expect(record.keys == ["name", "valueInDollars", "dateCreated"])
        #expect(try record.decodeString(forKey: "name") == "Rusty Bear 100")
        #expect(try record.decodeInteger(forKey: "valueInDollars") == 100)
        #expect(try record.decodeDate(forKey: "dateCreated")?.secondsSinceReferenceDate == 50)
        #expect(try record.decodeString(forKey: "absent") == nil)
        #expect(try reader.record(at: elements.uid(at: 99))?.decodeString(forKey: "name") == nil)

        let unarchiver = try KeyedUnarchiver(bytes, classes: [Item.self])
        let items = try #require(try unarchiver.decodeArray(forKey: "root"))
        #expect(items.count == 300)
        guard case .object(let object) = items[7], let item = object as? Item else {
            Issue.record("no item")
            return
        }
        #expect(item.name == "Rusty Bear 7")
        #expect(item.valueInDollars == 7)
    }

    @Test("custom fields of records, of any kind, come back")
    func customFields() throws {
        let nested = PropertyListValue.dictionary(["tags": .array([.string("a"), .integer(1), .data([1])])])
        let owner = Item("owner")
        let archiver = KeyedArchiver()
        let name = archiver.key("name")
        let extra = archiver.key("extra")
        try archiver.encodeRecords(0..<40, of: Item.archivedClass, isMutable: true) {
            (index, archiver) throws(ArchiveError) in
            try archiver.encode(index == 7 ? "$null" : "n\(index % 5)", forKey: name)
            try archiver.encode(index % 2 == 0 ? nested : .real(0.5), forKey: extra)
            try archiver.encode(owner, forKey: "owner")
        }
        let bytes = try archiver.finishEncoding()
        let reader = try KeyedArchiveReader(bytes)
        let root = try #require(try reader.rootUID())
        #expect(try reader.record(at: root)?.className() == "NSMutableArray")
        let elements = try #require(try reader.record(at: root)?.elements())
        var owners: Set<UInt32> = []
        for index in 0..<40 {
            let record = try #require(try reader.record(at: elements.uid(at: index)))
            #expect(try record.decodeString(forKey: "name") == (index == 7 ? "$null" : "n\(index % 5)"))
            #expect(try record.decodePropertyList(forKey: "extra") == (index % 2 == 0 ? nested : .real(0.5)))
            owners.insert(try #require(try record.reference(forKey: "owner")))
        }
        #expect(owners.count == 1)
    }

    @Test("an error in a record leaves no archive")
    func failingRecord() throws {
        let archiver = KeyedArchiver()
        #expect(throws: ArchiveError.self) {
            try archiver.encodeRecords(0..<3, of: Item.archivedClass) { (index, archiver) throws(ArchiveError) in
                try archiver.encode("a", forKey: "name")
                try archiver.encode("b", forKey: index == 2 ? "name" : "other")
            }
        }
        #expect(throws: ArchiveError.self) { try archiver.finishEncoding() }
    }

    @Test("the same calls give the same bytes")
    func deterministic() throws {
        func archive() throws -> [UInt8] {
            let archiver = KeyedArchiver()
            try archiver.encode(
                PropertyListValue.dictionary(["b": .integer(1), "a": .array([.string("x")])]), forKey: "root")
            return try archiver.finishEncoding()
        }
        #expect(try archive() == archive())
    }
}
