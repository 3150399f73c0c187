import KeyedArchive
import PropertyList
import Testing

/// Archives with more leaves than the writer's table holds at a time.
@Suite("Large archives")
struct LargeArchiveTests {
    static let count = 130_000

    static func archive() throws -> [UInt8] {
        let archiver = KeyedArchiver()
        let (name, serial, room) = (archiver.key("name"), archiver.key("serialNumber"), archiver.key("room"))
        let (date, value) = (archiver.key("dateCreated"), archiver.key("valueInDollars"))
        try archiver.encodeRecords(0..<count, of: Item.archivedClass) { (index, archiver) throws(ArchiveError) in
            try archiver.encode(index % 10_000 == 9_999 ? "$null" : "name \(index)", forKey: name)
            try archiver.encode("serial \(index)", forKey: serial)
            try archiver.encode("room \(index % 7)", forKey: room)
            try archiver.encode(PropertyListDate(secondsSinceReferenceDate: Double(index)), forKey: date)
            try archiver.encode(ArchiveValue.integer(Int64(index) &+ 5000), forKey: value)
        }
        return try archiver.finishEncoding()
    }

    @Test("every field of every record comes back; what repeats is kept few times; the same calls give the same bytes")
    func everything() throws {
        let bytes = try Self.archive()
        #expect(try Self.archive() == bytes)
        let reader = try KeyedArchiveReader(bytes)
        let root = try #require(try reader.rootUID())
        let elements = try #require(try reader.record(at: root)?.elements())
        #expect(elements.count == Self.count)
        var rooms: Set<UInt32> = []
        var differing = 0
        for index in 0..<Self.count {
            let record = try #require(try reader.record(at: elements.uid(at: index)))
            let isSame =
                try record.decodeString(forKey: "name") == (index % 10_000 == 9_999 ? "$null" : "name \(index)")
                && record.decodeString(forKey: "serialNumber") == "serial \(index)"
                && record.decodeString(forKey: "room") == "room \(index % 7)"
                && record.decodeDate(forKey: "dateCreated")?.secondsSinceReferenceDate == Double(index)
                && record.decodeInteger(forKey: "valueInDollars") == Int64(index) &+ 5000
            if !isSame { differing += 1 }
            if let room = try record.reference(forKey: "room") { rooms.insert(room) }
        }
        #expect(differing == 0)
        #expect(rooms.count < 100)
    }
}
