import Foundation
import KeyedArchive
import PropertyList
import Testing

/// How many items to measure with; 0 to measure nothing.
private enum Measurement {
    static let count = ProcessInfo.processInfo.environment["CUBBY_MEASURE"].flatMap { Int($0) } ?? 0
}

/// Not a test of speed: it prints how long archiving takes, beside Foundation in the same run.
///
/// `CUBBY_MEASURE=100000 swift test -c release --filter ArchivingMeasurement`
@Suite("Measurement", .serialized, .enabled(if: Measurement.count > 0, "set CUBBY_MEASURE to a number of items"))
struct ArchivingMeasurement {
    struct Record {
        var name: String
        var serialNumber: String
        var valueInDollars: Int
        var dateCreated: Double
        var itemKey: String
    }

    static func seconds(_ runs: Int, _ body: () throws -> Void) rethrows -> Double {
        var best = Double.infinity
        for _ in 0..<runs {
            let start = ContinuousClock.now
            try body()
            let time = (ContinuousClock.now - start).components
            best = min(best, Double(time.seconds) + Double(time.attoseconds) / 1e18)
        }
        return best
    }

    @Test("items, ours and Foundation's")
    func items() throws {
        let count = Measurement.count
        let records = (0..<count).map { index in
            Record(
                name: "Fluffy Bear \(10_000_000 + index)", serialNumber: String(UUID().uuidString.prefix(8)),
                valueInDollars: index % 1000, dateCreated: 7e8 + Double(index) * 1.37, itemKey: UUID().uuidString)
        }
        var ours: [UInt8] = []
        let write = try Self.seconds(5) { ours = try Self.archive(records) }
        var sum = 0
        let read = try Self.seconds(5) { sum = try Self.read(ours) }
        #expect(sum == records.reduce(0) { $0 + $1.valueInDollars })

        let objects = records.map {
            FoundationItem(
                name: $0.name, serialNumber: $0.serialNumber, valueInDollars: $0.valueInDollars,
                dateCreated: Date(timeIntervalSinceReferenceDate: $0.dateCreated))
        }
        var theirs = Data()
        let foundationWrite = try Self.seconds(1) {
            theirs = try NSKeyedArchiver.archivedData(withRootObject: objects, requiringSecureCoding: false)
        }
        let foundationRead = try Self.seconds(1) {
            let unarchiver = try NSKeyedUnarchiver(forReadingFrom: theirs)
            unarchiver.requiresSecureCoding = false
            #expect((unarchiver.decodeObject(forKey: "root") as? [FoundationItem])?.count == count)
        }
        let theirsByUs = try Self.seconds(3) { sum = try Self.read([UInt8](theirs)) }
        func perItem(_ seconds: Double) -> String { String(format: "%.3f", seconds / Double(count) * 1e6) }
        print(
            """
            \(count) items, µs an item
              ours        write \(perItem(write))  read \(perItem(read))  \(ours.count / count) bytes an item
              Foundation  write \(perItem(foundationWrite))  read \(perItem(foundationRead))  \
            \(theirs.count / count) bytes an item, read by us \(perItem(theirsByUs))
              ratio       write \(Int(foundationWrite / write))  read \(Int(foundationRead / read))
            """)
    }

    static func archive(_ records: [Record]) throws -> [UInt8] {
        let archiver = KeyedArchiver(expectedObjects: records.count * 5)
        let name = archiver.key("name")
        let serialNumber = archiver.key("serialNumber")
        let valueInDollars = archiver.key("valueInDollars")
        let dateCreated = archiver.key("dateCreated")
        let itemKey = archiver.key("itemKey")
        try archiver.encodeRecords(records, of: Item.archivedClass) { (record, archiver) throws(ArchiveError) in
            try archiver.encode(record.name, forKey: name)
            try archiver.encode(record.serialNumber, forKey: serialNumber)
            try archiver.encode(Int64(record.valueInDollars), forKey: valueInDollars)
            try archiver.encode(
                PropertyListDate(secondsSinceReferenceDate: record.dateCreated), forKey: dateCreated)
            try archiver.encode(record.itemKey, forKey: itemKey)
        }
        return try archiver.finishEncoding()
    }

    /// Decodes every field of every item; the sum of the values.
    static func read(_ bytes: [UInt8]) throws -> Int {
        let reader = try KeyedArchiveReader(bytes)
        let root = try #require(try reader.rootUID())
        let elements = try #require(try reader.record(at: root)?.elements())
        let keys = ["name", "serialNumber", "valueInDollars", "dateCreated", "itemKey"]
        var shape: ArchiveShape?
        var slots: [Int] = []
        var records: [Record] = []
        records.reserveCapacity(elements.count)
        for index in 0..<elements.count {
            guard let record = try reader.record(at: elements.uid(at: index)) else { continue }
            if record.shape !== shape {
                shape = record.shape
                slots = keys.compactMap { record.shape.slot(of: $0) }
            }
            records.append(
                Record(
                    name: try record.decodeString(at: slots[0]) ?? "",
                    serialNumber: try record.decodeString(at: slots[1]) ?? "",
                    valueInDollars: Int(try record.decodeInteger(at: slots[2]) ?? 0),
                    dateCreated: try record.decodeDate(at: slots[3])?.secondsSinceReferenceDate ?? 0,
                    itemKey: try record.decodeString(at: slots[4]) ?? ""))
        }
        return records.reduce(0) { $0 + $1.valueInDollars }
    }
}
