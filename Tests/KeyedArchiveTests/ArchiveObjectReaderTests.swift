import FuzzExercise
import KeyedArchive
import PropertyList
import Testing

@Suite("Fields of an archive's objects, one at a time")
struct ArchiveObjectReaderTests {
    private static func reader(
        _ value: ArchiveValue, limits: ArchiveLimits = .standard, isReadWhole: Bool = false
    ) throws -> (archive: ArchiveObjectReader, root: Int) {
        let field = ArchivedObject.Field(key: "root", value: .object(value))
        let table = try ArchiveObjectTable(
            BinaryPropertyListReader(ArchiveGraph(top: [field]).encoded(as: .binary)))
        let archive = ArchiveObjectReader(table, limits: limits, isReadWhole: isReadWhole)
        return (archive, try table.resolve(table.top[0].number))
    }

    private static func item(_ number: Int, _ extra: [ArchivedObject.Field] = []) -> ArchiveValue {
        let date = PropertyListDate(secondsSinceReferenceDate: Double(number))
        return .unknown(
            ArchivedObject(
                ArchivedClass("Home.Item", superclasses: ["Item", "NSObject"]),
                fields: [
                    ArchivedObject.Field(key: "name", value: .object(.string("name \(number)"))),
                    ArchivedObject.Field(key: "date", value: .object(.date(date))),
                    ArchivedObject.Field(key: "count", value: .inline(.integer(Int64(number)))),
                ] + extra))
    }

    private static func items(_ count: Int, odd: Int? = nil) -> ArchiveValue {
        let extra = ArchivedObject.Field(key: "extra", value: .object(nil))
        let items = (0..<count).map { item($0, $0 == odd ? [extra] : []) }
        return .collection(ArchivedCollection(.array, isMutable: true, elements: items))
    }

    @Test("the elements of an array, their class, and their fields by the places of a shape")
    func fields() throws {
        var (archive, root) = try Self.reader(Self.items(20))
        let table = archive.table
        let array = try #require(try table.dictionary(at: root))
        let elements = try #require(try archive.elements(of: array))
        #expect(elements.count == 20)
        for index in 0..<elements.count {
            let item = try #require(try table.dictionary(at: table.element(index, of: elements)))
            #expect(try archive.archivedClass(of: item)?.lineage == ["Home.Item", "Item", "NSObject"])
            let shape = try archive.shape(of: item)
            let places = ["name", "date", "count"].compactMap { shape.slot(ofStored: $0) }
            try #require(places.count == 3)
            let text = try #require(try table.propertyList.asciiString(at: table.value(at: places[0], in: item)))
            #expect(text.elementsEqual("name \(index)".utf8))
            let storage = table.propertyList.storage.bytes
            let (start, whole) = (try #require(text.baseAddress), try #require(storage.baseAddress))
            #expect(start > whole && start < whole + storage.count, "the bytes are the archive's")
            #expect(try archive.date(at: places[1], in: item)?.secondsSinceReferenceDate == Double(index))
            #expect(try table.number(at: table.value(at: places[2], in: item)) == .integer(Int64(index)))
            #expect(try archive.date(at: places[0], in: item) == nil)
        }
        #expect(archive.describe(root) == "of class NSMutableArray")
        #expect(archive.describe(table.nilNumber) == "a value")
        let set = ArchiveValue.collection(ArchivedCollection(.set, elements: []))
        var (other, number) = try Self.reader(set)
        let container = try #require(try other.table.dictionary(at: number))
        #expect(try other.elements(of: container) == nil)
    }

    @Test("the texts of many elements at once, but for one that has other keys")
    func texts() throws {
        var (archive, root) = try Self.reader(Self.items(30, odd: 7))
        let array = try #require(try archive.table.dictionary(at: root))
        let elements = try #require(try archive.elements(of: array))
        #expect(archive.runNumber == -1)
        let odd = try #require(try archive.element(7, of: elements))
        let oddRun = archive.runNumber
        let item = try #require(try archive.element(0, of: elements))
        #expect(archive.runNumber != oddRun)
        let run = archive.runNumber
        _ = try archive.element(1, of: elements)
        #expect(archive.runNumber == run)
        let place = try #require(try archive.shape(of: item).slot(ofStored: "name"))
        #expect(try archive.shape(of: odd) !== archive.shape(of: item))
        let found = Array<UInt32>(0..<30).withUnsafeBufferPointer { indexes in
            withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: 30) { texts in
                let isElsewhere = archive.findTexts(of: indexes, in: elements, at: 99, into: texts)
                let isThere = archive.findTexts(of: indexes, in: elements, at: place, into: texts)
                #expect(!isElsewhere && isThere)
                return texts.map { $0.baseAddress == nil ? nil : String(decoding: $0, as: UTF8.self) }
            }
        }
        #expect(found == (0..<30).map { $0 == 7 ? nil : "name \($0)" })
    }

    @Test("values of all classes of property lists, and none for others")
    func values() throws {
        func value(_ given: ArchiveValue) throws -> (value: PropertyListValue?, isOtherForm: Bool) {
            var (archive, root) = try Self.reader(given)
            return (try archive.value(at: root), archive.metOtherForm)
        }
        let nested = PropertyListValue.dictionary([
            "a": .array([.string("ä"), .data([1]), .date(PropertyListDate(secondsSinceReferenceDate: 1)), .real(0.5)]),
            "b": .boolean(true),
        ])
        let given = try #require(ArchiveValue(propertyList: nested))
        let plain = try value(given)
        #expect(plain.value == nested)
        #expect(!plain.isOtherForm)
        let others = ArchiveValue.collection(
            ArchivedCollection(
                .set, elements: [.null, nil, .mutableString(ArchivedMutableString("$null")), .mutableData(.init([2]))]))
        let found = try value(others)
        #expect(found.value == .set([.null, .null, .string("$null"), .data([2])]))
        #expect(found.isOtherForm)
        #expect(try value(Self.items(1)).value == nil)
        #expect(try value(Self.item(1)).value == nil)
    }

    private static func nested(_ levels: Int, _ inner: ArchiveValue = .string("x"), twice: Bool = false) -> ArchiveValue
    {
        (0..<levels).reduce(inner) { value, _ in
            .collection(ArchivedCollection(elements: twice ? [value, value] : [value]))
        }
    }

    private static func isRefused(_ given: ArchiveValue, _ limits: ArchiveLimits) throws -> Bool {
        var (archive, root) = try Self.reader(given, limits: limits)
        do throws(PropertyListError) { return try archive.value(at: root) == nil } catch {
            #expect(ArchiveError(error).code == .readCorrupt)
            return true
        }
    }

    @Test("a value nests as deep as the limit, and no deeper, also where it was met less deep before")
    func depth() throws {
        let limits = ArchiveLimits(propertyList: PropertyListLimits(maximumDepth: 10))
        #expect(try !Self.isRefused(Self.nested(10), limits))
        #expect(try Self.isRefused(Self.nested(11), limits))
        let deep = Self.nested(9)
        let both = ArchiveValue.collection(ArchivedCollection(elements: [deep, Self.nested(1, deep)]))
        #expect(try Self.isRefused(both, limits))
        let ring = ArchivedCollection(elements: [])
        ring.elements = [.collection(ring)]
        var (archive, root) = try Self.reader(.collection(ring), limits: limits)
        #expect(try archive.value(at: root) == nil)
        ring.elements = []
        // What is within one that nests too deep is a value by itself.
        (archive, root) = try Self.reader(both, limits: limits)
        #expect(try archive.value(at: root) == nil)
        let elements = try #require(try archive.table.dictionary(at: root).flatMap { try archive.elements(of: $0) })
        let element = try archive.table.element(0, of: elements)
        #expect(try archive.value(at: element) != nil)
    }

    @Test("what is shared counts each time: a value, and all values together")
    func sharing() throws {
        #expect(try !Self.isRefused(Self.nested(10, twice: true), .standard))
        #expect(try Self.isRefused(Self.nested(40, twice: true), .standard))
        var (archive, root) = try Self.reader(Self.nested(14, twice: true), isReadWhole: true)
        var read = 0
        while read < 100, (try? archive.value(at: root)) != nil { read += 1 }
        #expect((1..<10).contains(read))
    }

    @Test("a plain property list is read in the same way")
    func plain() throws {
        let value = PropertyListValue.array([.dictionary(["NS.string": .string("$null"), "k": .array([.integer(1)])])])
        let list = try BinaryPropertyListReader(value.encoded(as: .binary))
        var archive = ArchiveObjectReader(ArchiveObjectTable(plain: list))
        #expect(try archive.value(at: list.topObject) == value)
        let uid = try BinaryPropertyListReader(PropertyListValue.array([.uid(1)]).encoded(as: .binary))
        archive = ArchiveObjectReader(ArchiveObjectTable(plain: uid))
        #expect(try archive.value(at: uid.topObject) == nil)
    }

    @Test("any byte may be any other: there are values or errors")
    func damage() throws {
        let field = ArchivedObject.Field(key: "root", value: .object(Self.items(3, odd: 1)))
        let whole = try ArchiveGraph(top: [field]).encoded(as: .binary)
        for place in whole.indices {
            for change in [0x01, 0x10, 0x80, 0xFF] as [UInt8] {
                var damaged = whole
                damaged[place] ^= change
                try Exercise.fields(damaged)
            }
        }
    }
}
