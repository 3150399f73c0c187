import Foundation
import KeyedArchive
import PropertyList
import TestSupport
import Testing

@Suite("Graphs that are saved again")
struct GraphRoundTripTests {
    @Test(
        "an archive opened and saved without a change is the same, object for object",
        arguments: ForeignArchives.all)
    func everyFile(_ entry: ForeignArchives.Entry) throws {
        let bytes = try entry.bytes()
        let graph = try ArchiveGraph(bytes)
        defer { graph.dismantle() }
        for format in [PropertyListFormat.binary, .xml] {
            let saved = try graph.encoded(as: format)
            let comparison = try #require(ArchiveComparison(bytes, saved, isExact: format == .binary))
            #expect(comparison.differences == [], "as \(format)")
        }
    }

    @Test("a comparison finds what differs")
    func comparison() throws {
        func archive(_ value: ArchiveValue) throws -> [UInt8] { try KeyedArchiver.archivedData(withRootObject: value) }
        let shared = ArchivedCollection(.array, isMutable: true)
        let one = try archive(.collection(ArchivedCollection(elements: [.collection(shared), .collection(shared)])))
        let two = try archive(
            .collection(
                ArchivedCollection(elements: [
                    .collection(shared), .collection(ArchivedCollection(.array, isMutable: true)),
                ])))
        #expect(ArchiveComparison(one, two)?.differences == ["top.root.NS.objects[0]: one object and two"])
        #expect(try ArchiveComparison(archive(.real(1)), archive(.integer(1)))?.differences.count == 1)
        #expect(try ArchiveComparison(archive(.real(1)), archive(.single(1)))?.differences.count == 1)
        #expect(try ArchiveComparison(archive(.real(1)), archive(.real(1)))?.differences == [])
    }
}
