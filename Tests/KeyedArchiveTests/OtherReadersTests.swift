import Foundation
import KeyedArchive
import PropertyList
import Testing

/// Foundation's counterpart of `Item`.
final class FoundationItem: NSObject, NSCoding {
    let name: String?
    let serialNumber: String?
    let valueInDollars: Int
    let dateCreated: Date?

    init(name: String?, serialNumber: String?, valueInDollars: Int, dateCreated: Date?) {
        self.name = name
        self.serialNumber = serialNumber
        self.valueInDollars = valueInDollars
        self.dateCreated = dateCreated
    }

    func encode(with coder: NSCoder) {
        coder.encode(name, forKey: "name")
        coder.encode(serialNumber, forKey: "serialNumber")
        coder.encode(valueInDollars, forKey: "valueInDollars")
        coder.encode(dateCreated, forKey: "dateCreated")
        coder.encode(UUID().uuidString, forKey: "itemKey")
    }

    init?(coder: NSCoder) {
        name = coder.decodeObject(forKey: "name") as? String
        serialNumber = coder.decodeObject(forKey: "serialNumber") as? String
        valueInDollars = coder.decodeInteger(forKey: "valueInDollars")
        dateCreated = coder.decodeObject(forKey: "dateCreated") as? Date
    }
}

@Suite("Readers and writers that are not ours")
struct OtherReadersTests {
    static func archive(_ count: Int, format: PropertyListFormat = .binary) throws -> [UInt8] {
        let archiver = KeyedArchiver()
        archiver.outputFormat = format
        try archiver.encodeRecords(0..<count, of: Item.archivedClass) { (index, archiver) throws(ArchiveError) in
            try archiver.encode("Bär \(index)", forKey: "name")
            try archiver.encode(index % 2 == 0 ? nil : "S\(index % 7)", forKey: "serialNumber")
            try archiver.encode(index - 3, forKey: "valueInDollars")
            try archiver.encode(PropertyListDate(secondsSinceReferenceDate: Double(index) / 4), forKey: "dateCreated")
            try archiver.encode("key \(index)", forKey: "itemKey")
        }
        return try archiver.finishEncoding()
    }

    /// Runs a program on a file; its output.
    static func run(_ program: String, _ arguments: [String]) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(program) ended with \(process.terminationStatus)")
        return [UInt8](data)
    }

    static func isInstalled(_ program: String) -> Bool {
        let folders = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
        return folders.split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    static func withFile<Result>(_ bytes: [UInt8], _ body: (String) throws -> Result) throws -> Result {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).archive")
        try Data(bytes).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try body(url.path)
    }

    @Test("Foundation reads our items", arguments: [PropertyListFormat.binary, .xml])
    func foundationReads(_ format: PropertyListFormat) throws {
        let data = Data(try Self.archive(300, format: format))
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = false
        unarchiver.setClass(FoundationItem.self, forClassName: "Item")
        let items = try #require(unarchiver.decodeObject(forKey: "root") as? [FoundationItem])
        #expect(items.count == 300)
        #expect(items[8].name == "Bär 8")
        #expect(items[8].serialNumber == nil)
        #expect(items[9].serialNumber == "S2")
        #expect(items[0].valueInDollars == -3)
        #expect(items[6].dateCreated?.timeIntervalSinceReferenceDate == 1.5)
    }

    @Test("we read Foundation's items", arguments: [PropertyListSerialization.PropertyListFormat.binary, .xml])
    func weReadFoundation(_ format: PropertyListSerialization.PropertyListFormat) throws {
        let items = (0..<100).map { index in
            FoundationItem(
                name: "Name \(index)", serialNumber: index % 2 == 0 ? nil : "S", valueInDollars: index,
                dateCreated: Date(timeIntervalSinceReferenceDate: Double(index)))
        }
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.outputFormat = format
        archiver.encode(items, forKey: "root")
        archiver.finishEncoding()
        let bytes = [UInt8](archiver.encodedData)
        let reader = try KeyedArchiveReader(bytes)
        let root = try #require(try reader.rootUID())
        let elements = try #require(try reader.record(at: root)?.elements())
        #expect(elements.count == 100)
        let record = try #require(try reader.record(at: elements.uid(at: 51)))
        #expect(try record.className().hasSuffix("FoundationItem"))
        #expect(try record.decodeString(forKey: "name") == "Name 51")
        #expect(try record.decodeString(forKey: "serialNumber") == "S")
        #expect(try record.decodeInteger(forKey: "valueInDollars") == 51)
        #expect(try record.decodeDate(forKey: "dateCreated")?.secondsSinceReferenceDate == 51)
        let unarchiver = KeyedUnarchiver(reader: reader)
        unarchiver.setClass(Item.self, forClassName: try record.className())
        #expect(try unarchiver.decodeArray(forKey: "root")?.count == 100)
    }

    @Test("Foundation reads our property list objects, whatever the references' width", arguments: [10, 300, 70000])
    func foundationReadsPropertyLists(_ count: Int) throws {
        let value = PropertyListValue.dictionary([
            "list": .array((0..<count).map { .string("element \($0)") }), "flag": .boolean(true), "real": .real(0.1),
            "data": .data([1, 2, 3]), "date": .date(PropertyListDate(secondsSinceReferenceDate: 7)),
        ])
        let archiver = KeyedArchiver()
        try archiver.encode(value, forKey: "root")
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: Data(try archiver.finishEncoding()))
        unarchiver.requiresSecureCoding = false
        let back = try #require(unarchiver.decodeObject(forKey: "root") as? [String: Any])
        #expect((back["list"] as? [String])?.count == count)
        #expect((back["list"] as? [String])?.last == "element \(count - 1)")
        #expect(back["flag"] as? Bool == true)
        #expect(back["real"] as? Double == 0.1)
        #expect(back["data"] as? Data == Data([1, 2, 3]))
        #expect((back["date"] as? Date)?.timeIntervalSinceReferenceDate == 7)
    }

    @Test(
        "Python's plistlib reads our archives", .enabled(if: isInstalled("python3"), "python3 is not installed"),
        arguments: [20, 300, 9000])
    func plistlib(_ count: Int) throws {
        let script = """
            import plistlib, sys
            archive = plistlib.load(open(sys.argv[1], 'rb'))
            objects = archive['$objects']
            root = objects[archive['$top']['root'].data]
            items = [objects[uid.data] for uid in root['NS.objects']]
            last = items[-1]
            print(objects[last['$class'].data]['$classname'], len(items), objects[last['name'].data].encode('ascii', 'xmlcharrefreplace').decode(),
                last['valueInDollars'], objects[last['dateCreated'].data]['NS.time'])
            """
        let output = try Self.withFile(Self.archive(count)) { try Self.run("python3", ["-c", script, $0]) }
        #expect(
            String(decoding: output, as: UTF8.self)
                == "Item \(count) B&#228;r \(count - 1) \(count - 4) \(Double(count - 1) / 4)\n")
    }

    @Test("plistutil reads our archives", .enabled(if: isInstalled("plistutil"), "plistutil is not installed"))
    func plistutil() throws {
        let binary = try Self.archive(300)
        let xml = try Self.withFile(binary) { try Self.run("plistutil", ["-i", $0]) }
        let isSame = try PropertyListValue(decoding: xml) == PropertyListValue(decoding: binary)
        #expect(isSame)
    }
}
