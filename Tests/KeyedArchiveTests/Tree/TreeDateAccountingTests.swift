import Foundation
import KeyedArchive
import PropertyList
import TestSupport
import Testing

/// Each moment of an archive has the same digits in the tree and in its JSON, and both read back as that moment.
@Suite("The tree accounts for its dates")
struct TreeDateAccountingTests {
    @Test("text and JSON of archived dates")
    func dates() throws {
        var values = ForeignValues(seed: 43)
        let seconds =
            [0.9999, 817_331_983.823_859_7, -0.0004, -63_114_076_800, 1e15]
            + (0..<Accounting.values).map { _ in values.seconds() }
        let dates = seconds.map { PropertyListDate(secondsSinceReferenceDate: $0) }
        let graph = ArchiveGraph(root: .collection(ArchivedCollection(elements: dates.map { .date($0) })))
        defer { graph.dismantle() }
        let tree = try ArchiveTree(PropertyListStorage(graph.encoded()))
        let root = try #require(tree.roots.first).node
        let texts = tree.children(root).map { child -> String in
            guard case .leaf(let leaf) = tree.value(child.node).content else { return "" }
            return LeafText().text(leaf)
        }
        var json: [UInt8] = []
        var writer = TreeJSON(tree, layout: .compact)
        try writer.write { json += $0 }
        let object = try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any]
        let tagged = try #require(object?["root"] as? [[String: String]])
        try #require(texts.count == dates.count && tagged.count == dates.count)
        for ((date, text), json) in zip(zip(dates, texts), tagged) {
            #expect(ISO8601.parse(text) == date && ISO8601.parse(json["$date"] ?? "") == date, "\(text)")
            #expect(json["$date"] == date.exchangeText)
        }
    }
}
