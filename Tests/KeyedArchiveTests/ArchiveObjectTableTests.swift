import KeyedArchive
import PropertyList
import Testing

@Suite("The objects of an archive, where they lie")
struct ArchiveObjectTableTests {
    private static let whole: PropertyListFields = [
        "$version": .integer(100_000), "$archiver": .string("NSKeyedArchiver"), "$top": .dictionary(["root": .uid(1)]),
        "$objects": .array([.string("$null"), .string("text")]),
    ]

    private static func list(_ root: PropertyListFields) throws -> BinaryPropertyListReader {
        try BinaryPropertyListReader(PropertyListValue.fields(root).encoded(as: .binary))
    }

    @Test("are found through the root")
    func opening() throws {
        let table = try ArchiveObjectTable(Self.list(Self.whole))
        #expect(table.top.map(\.key) == ["root"])
        #expect(try table.string(at: table.resolve(table.top[0].number)) == "text")
        #expect(try table.number(of: 0) == table.nilNumber)
    }

    static let damages: [(key: String, value: PropertyListValue?, isForgiven: Bool)] = [
        ("$version", nil, true), ("$version", .integer(99_999), true), ("$archiver", nil, true),
        ("$archiver", .integer(1), true), ("$top", nil, false), ("$top", .array([]), false), ("$objects", nil, false),
        ("$objects", .array([]), false), ("$objects", .string("$null"), false),
        ("$objects", .array([.string("$nil"), .string("text")]), true),
    ]

    @Test("are not found through a root that lacks something; of the lesser part some is forgiven", arguments: damages)
    func envelope(_ damage: (key: String, value: PropertyListValue?, isForgiven: Bool)) throws {
        var root = Self.whole
        root[damage.key] = damage.value
        let list = try Self.list(root)
        #expect(throws: PropertyListError.self) { try ArchiveObjectTable(list) }
        #expect(((try? ArchiveObjectTable(list, isForgiving: true)) != nil) == damage.isForgiven)
    }

    @Test("are found without a root by their first one")
    func withoutRoot() throws {
        let list = try BinaryPropertyListReader(
            PropertyListValue.array([.array([.string("a")]), .array([.string("$null"), .string("b")])])
                .encoded(as: .binary))
        #expect(throws: PropertyListError.self) { try ArchiveObjectTable(list, isForgiving: true) }
        let table = try #require(ArchiveObjectTable(withoutRoot: list))
        #expect(try table.string(at: table.number(of: 1)) == "b")
        #expect(ArchiveObjectTable(withoutRoot: try Self.list([:])) == nil)
    }

    @Test("have their leaves in place, behind a reference, and wrapped in an instance")
    func leaves() throws {
        var root = Self.whole
        root["$objects"] = .array([
            .string("$null"), .string("far"), .dictionary(["NS.string": .uid(1)]),
            .dictionary(["NS.bytes": .data(Array("ä".utf8))]), .dictionary(["NS.data": .data([1])]),
            .dictionary(["NS.intval": .integer(7)]), .dictionary(["NS.time": .integer(60)]),
            .dictionary(["NS.time": .real(.infinity)]), .dictionary(["NS.string": .uid(99)]),
            .dictionary(["NS.bytes": .data([0xFF])]),
        ])
        let table = try ArchiveObjectTable(Self.list(root))
        func number(_ uid: UInt32) throws -> Int { try table.number(of: uid) }
        #expect(try (1...3).map { try table.string(at: number($0)) } == ["far", "far", "ä"])
        #expect(try table.data(at: number(4)).map { Array($0) } == [1])
        #expect(try table.number(at: number(5)) == .integer(7))
        #expect(try table.date(at: number(6)) == PropertyListDate(secondsSinceReferenceDate: 60))
        #expect(try table.date(at: number(7)) == PropertyListDate(secondsSinceReferenceDate: .infinity))
        #expect(throws: PropertyListError.self) { try table.string(at: number(8)) }
        #expect(try table.string(at: number(9)) == nil)
        #expect(try table.string(at: number(6)) == nil)
        #expect(throws: PropertyListError.self) { try number(10) }
    }

    @Test("of a plain property list are what they are: nothing is a reference, nothing is wrapped")
    func plain() throws {
        let list = try Self.list(["NS.string": .uid(1)])
        let table = ArchiveObjectTable(plain: list)
        let root = try #require(try table.dictionary(at: list.topObject))
        #expect(try table.string(at: list.topObject) == nil)
        #expect(try list.uid(at: table.value(at: 0, in: root)) == 1)
        #expect(throws: PropertyListError.self) { try table.number(of: 0) }
    }
}
