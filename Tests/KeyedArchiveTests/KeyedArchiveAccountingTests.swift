import PropertyList
import TestSupport
import Testing

@testable import KeyedArchive

/// Each value that an archive holds comes back equal: as a property list, and through a graph that is saved again.
@Suite("Keyed archives account for every value")
struct KeyedArchiveAccountingTests {
    @Test("as property-list values, and as a graph")
    func values() throws {
        var foreign = ForeignValues(seed: 6)
        var values = (0..<Accounting.values).map { _ in foreign.value() }
        values += [.date(PropertyListDate(secondsSinceReferenceDate: .nan)), .string("$null"), .null, .real(.nan)]
        let archiver = KeyedArchiver()
        try archiver.encode(PropertyListValue.array(values), forKey: KeyedArchiver.rootKey)
        let bytes = try archiver.finishEncoding()
        #expect(try Self.root(bytes) == .array(values))
        let graph = try ArchiveGraph(bytes)
        defer { graph.dismantle() }
        #expect(try Self.root(graph.encoded()) == .array(values))
        // XML has no half of a surrogate pair; everything else of an archive it has.
        let check = ArchiveCheck(bytes)
        #expect(!check.hasErrors, "\(check.findings)")
    }

    @Test("a key in both normalization forms is two fields of an object")
    func keys() throws {
        let object = ArchivedObject(
            ArchivedClass("Thing"),
            fields: [
                .init(key: "é", value: .inline(.integer(1))), .init(key: "e\u{301}", value: .object(.utf16([0xD83D]))),
            ])
        let first = ArchiveGraph(top: [.init(key: "root", value: .object(.unknown(object)))])
        defer { first.dismantle() }
        let graph = try ArchiveGraph(first.encoded())
        defer { graph.dismantle() }
        guard case .object(.unknown(let thing)?)? = graph.top.first?.value else {
            Issue.record("no object")
            return
        }
        #expect(thing.fields.count == 2)
        guard case .inline(.integer(1))? = thing["é"], case .object(.utf16([0xD83D])?)? = thing["e\u{301}"] else {
            Issue.record("other fields: \(thing.fields)")
            return
        }
    }

    private static func root(_ bytes: [UInt8]) throws -> PropertyListValue? {
        let reader = try KeyedArchiveReader(PropertyListStorage(bytes))
        guard let entry = reader.top.first, let uid = try reader.propertyList.uid(at: entry.number) else { return nil }
        return try reader.propertyListValue(at: uid)
    }

    @Test("what check --repair writes has every entry, of keys of any kind, too")
    func repair() throws {
        var foreign = ForeignValues(seed: 7)
        let values = (0..<200).map { _ in
            PropertyListValue.dictionary(
                PropertyListDictionary((0..<4).map { _ in (foreign.value(depth: 0), foreign.value()) }))
        }
        var bytes = try PropertyListValue.array(values).encoded(as: .binary)
        #expect(!ArchiveCheck(bytes).hasErrors)
        // Without the trailer.
        bytes.removeLast(32)
        let rescue = try #require(ArchiveCheck(bytes).rescue)
        #expect(try PropertyListValue(decoding: rescue.bytes) == .array(values))
        #expect(rescue.entriesBefore == rescue.entriesAfter && rescue.entriesAfter > 800)
    }
}
