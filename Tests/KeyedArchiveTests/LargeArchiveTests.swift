import Foundation
import KeyedArchive
import PropertyList
import TestSupport
import Testing

/// Archives with more leaves than the writer's table holds at a time.
@Suite("Large archives")
struct LargeArchiveTests {
    static let count = 130_000

    static func archive() throws -> [UInt8] {
        let archiver = KeyedArchiver()
        try encode(archiver, count)
        return try archiver.finishEncoding()
    }

    /// The same by way of a file.
    static func archive(_ count: Int, in folder: TemporaryDirectory) throws -> [UInt8] {
        let path = "\(folder.path)/items.archive"
        let file = try PropertyListFile(replacing: path)
        let archiver = KeyedArchiver(writingTo: file)
        try encode(archiver, count)
        try archiver.finishWriting()
        try file.commit()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["items.archive"])
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private static func encode(_ archiver: KeyedArchiver, _ count: Int, at: (Int) -> Void = { _ in }) throws {
        let (name, serial, room) = (archiver.key("name"), archiver.key("serialNumber"), archiver.key("room"))
        let (date, value) = (archiver.key("dateCreated"), archiver.key("valueInDollars"))
        try archiver.encodeRecords(0..<count, of: Item.archivedClass) { (index, archiver) throws(ArchiveError) in
            at(index)
            try archiver.encode(index % 10_000 == 9_999 ? "$null" : "name \(index)", forKey: name)
            try archiver.encode("serial \(index)", forKey: serial)
            try archiver.encode("room \(index % 7)", forKey: room)
            try archiver.encode(PropertyListDate(secondsSinceReferenceDate: Double(index)), forKey: date)
            try archiver.encode(ArchiveValue.integer(Int64(index) &+ 5000), forKey: value)
        }
    }

    @Test("every field of every record comes back; what repeats is kept few times; the same calls give the same bytes")
    func everything() throws {
        let bytes = try Self.archive()
        #expect(try Self.archive() == bytes)
        try Self.expectAll(bytes)
    }

    @Test("written to a file piece by piece they are the same, and the root is object 0")
    func toFile() throws {
        let folder = try TemporaryDirectory()
        let bytes = try Self.archive(Self.count, in: folder)
        try Self.expectAll(bytes)
        #expect(try BinaryPropertyListReader(bytes).topObject == 0)
        #expect(!ArchiveCheck(bytes).hasErrors)
    }

    @Test("what is expected to be large goes to its file from the first megabyte on")
    func fromTheBeginning() throws {
        final class Recorder: PropertyListOutput {
            let scratch: PropertyListFile
            var bytes: [UInt8] = []
            init(_ scratch: PropertyListFile) { self.scratch = scratch }
            func write(_ more: UnsafeRawBufferPointer) throws(PropertyListError) { bytes.append(contentsOf: more) }
            func makeScratch() throws(PropertyListError) -> any PropertyListScratch { try scratch.makeScratch() }
        }
        let folder = try TemporaryDirectory()
        let scratch = try PropertyListFile(replacing: "\(folder.path)/scratch")
        let (expected, unexpected) = (Recorder(scratch), Recorder(scratch))
        for (output, count) in [(expected, Self.count), (unexpected, 64)] {
            let archiver = KeyedArchiver(writingTo: output, expectedObjects: count)
            try Self.encode(archiver, Self.count) { index in
                if index == 15_000 { #expect(output.bytes.isEmpty == (output === unexpected)) }
            }
            try archiver.finishWriting()
            try Self.expectAll(output.bytes)
        }
    }

    @Test("small ones are byte for byte what archiving to data gives", arguments: [0, 1, 20, 300, 20_000])
    func smallToFile(_ count: Int) throws {
        let archiver = KeyedArchiver()
        try Self.encode(archiver, count)
        #expect(try Self.archive(count, in: TemporaryDirectory()) == archiver.finishEncoding())
    }

    @Test("objects, what is spoken of before and after, and several keys go to a file, too")
    func objectsToFile() throws {
        let folder = try TemporaryDirectory()
        let file = try PropertyListFile(replacing: "\(folder.path)/graph")
        let archiver = KeyedArchiver(writingTo: file)
        let (owner, other) = (Item("owner"), Item("other"))
        try archiver.encodeConditionalObject(owner, forKey: "before")
        try archiver.encodeConditionalObject(other, forKey: "never")
        let blob = [UInt8](repeating: 7, count: 1 << 20)
        for index in 0..<40 {
            // Every one of them is another, so that much more than what is held comes together.
            try archiver.encodeData(blob + [UInt8(index)], forKey: "data \(index)")
            try archiver.encode(Item("item \(index)"), forKey: "item \(index)")
        }
        try archiver.encode(owner, forKey: "after")
        try archiver.finishWriting()
        try file.commit()
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/graph")))
        let unarchiver = try KeyedUnarchiver(bytes, classes: [Item.self])
        #expect(try unarchiver.decodeObject(of: Item.self, forKey: "before")?.name == "owner")
        #expect(
            try unarchiver.decodeObject(of: Item.self, forKey: "before")
                === unarchiver.decodeObject(of: Item.self, forKey: "after"))
        #expect(try unarchiver.decodeObject(of: Item.self, forKey: "never") == nil)
        #expect(try unarchiver.decodeObject(of: Item.self, forKey: "item 39")?.name == "item 39")
        #expect(try unarchiver.decodeData(forKey: "data 39") == blob + [39])
    }

    @Test("a file that takes no more is an error at the end, and leaves what was there")
    func fullFile() throws {
        final class Full: PropertyListOutput {
            func write(_ bytes: UnsafeRawBufferPointer) throws(PropertyListError) {
                throw PropertyListError(code: .writeStream, message: "no space left")
            }
            func makeScratch() throws(PropertyListError) -> any PropertyListScratch {
                throw PropertyListError(code: .writeStream, message: "no space left for scratch")
            }
        }
        for count in [1, 30] {
            let archiver = KeyedArchiver(writingTo: Full())
            let error = #expect(throws: ArchiveError.self) {
                for index in 0..<count {
                    let data = [UInt8](repeating: UInt8(index), count: 1 << 20)
                    try archiver.encodeData(data, forKey: "data \(index)")
                    try archiver.encode(Item("item \(index)"), forKey: "item \(index)")
                }
                try archiver.finishWriting()
            }
            #expect(error?.message.contains("no space left") == true)
        }
        let folder = try TemporaryDirectory()
        let path = try folder.write([1, 2, 3], to: "kept")
        _ = try PropertyListFile(replacing: path)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data([1, 2, 3]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["kept"])
        #expect(throws: PropertyListError.self) { try PropertyListFile(replacing: "\(folder.path)/absent/file") }
    }

    private static func expectAll(_ bytes: [UInt8]) throws {
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
