import KeyedArchive
import PropertyList
import TestSupport
import Testing

@Suite("Texts in trees")
struct TreeSearchTests {
    private static func paths(of text: String, in value: PropertyListValue) throws -> [String] {
        var search = TreeSearch(text)
        var paths: [String] = []
        try search.run(in: ArchiveTree(PropertyListStorage(value.encoded(as: .binary)))) {
            paths.append($0.path.description)
        }
        return paths
    }

    private static let list = PropertyListValue.array([
        .string("Fluffy BEAR"), .integer(1978), .real(0.25), .boolean(true), .dictionary(["bear.x": .data([1])]),
        .date(PropertyListDate(secondsSinceReferenceDate: 0.5)), .string("Ärger, Straße"), .data(Array("bear".utf8)),
    ])

    @Test(
        "are found in any case, in keys, numbers and dates",
        arguments: [
            ("bear", ["[0]", "[4][\"bear.x\"]"]), ("Bear", ["[0]", "[4][\"bear.x\"]"]), ("78", ["[1]"]),
            ("0.25", ["[2]"]),
            ("TRUE", ["[3]"]), ("2001-01-01T00:00:00.5", ["[5]"]), ("01 00:00:00.5", ["[5]"]), ("äRGER", ["[6]"]),
            ("a\u{308}rger", ["[6]"]), ("STRASSE", []), ("straß", ["[6]"]), ("bears", []),
            ("R", ["[0]", "[3]", "[4][\"bear.x\"]", "[6]"]),
        ])
    func found(_ pair: (String, [String])) throws {
        #expect(try Self.paths(of: pair.0, in: Self.list) == pair.1)
    }

    @Test("in an object once, and under each key that has the text")
    func shared() throws {
        let bear = ArchiveValue.unknown(
            ArchivedObject(ArchivedClass("Bear"), fields: [.init(key: "name", value: .object(.string("Teddy")))]))
        let root = ArchivedObject(
            ArchivedClass("Room"),
            fields: ["first", "bearHere", "last"].map { .init(key: $0, value: .object(bear)) })
        let graph = ArchiveGraph(
            top: [.init(key: "root", value: .object(.unknown(root)))], unreferenced: [.string("a lost bear")])
        defer { graph.dismantle() }
        let tree = try ArchiveTree(PropertyListStorage(graph.encoded()))
        var search = TreeSearch("bear")
        var hits: [(String, String)] = []
        try search.run(in: tree) { hit in
            hits.append(
                (hit.path.description, String(decoding: try TreeJSON.brief(hit.node, of: hit.tree), as: UTF8.self)))
        }
        #expect(hits.map(\.0).dropLast() == ["root.first", "root.bearHere"])
        #expect(
            hits.map(\.1) == [#"{"$class":"Bear","$count":1}"#, #"{"$class":"Bear","$count":1}"#, "\"a lost bear\""])
        #expect(hits.last?.0.hasPrefix("$objects[") == true)
    }

    @Test("the same as a reading of the tree's JSON finds", arguments: ForeignArchives.all)
    func againstJSON(_ entry: ForeignArchives.Entry) throws {
        let tree = try ArchiveTree(PropertyListStorage(entry.bytes()))
        var json: [UInt8] = []
        var writer = TreeJSON(tree)
        try writer.write { json += $0 }
        let text = String(decoding: json, as: UTF8.self).lowercased()
        for name in tree.classCounts.keys.sorted() where text.contains("\"$class\": \"\(name.lowercased())\"") {
            var search = TreeSearch(name)
            var count = 0
            try search.run(in: tree) { _ in count += 1 }
            #expect(count > 0, "\(name)")
        }
    }

    @Test("a text of many places is not read again for each, and what unfolds without end is refused")
    func hostile() throws {
        let long = PropertyListValue.string(String(repeating: "x", count: 20_000))
        let many = ArchiveGraph(
            root: .collection(ArchivedCollection(elements: Array(repeating: ArchiveValue(leaf: long), count: 3000))))
        defer { many.dismantle() }
        let tree = try ArchiveTree(PropertyListStorage(many.encoded()))
        var search = TreeSearch("q")
        try search.run(in: tree) { _ in Issue.record("nothing has a q") }
        // Arrays that all begin at the same bytes, each with as many references as there are arrays.
        let overlapping = try ArchiveTree(PropertyListStorage(Self.overlapping(3000)))
        var other = TreeSearch("y")
        #expect(throws: ArchiveError.self) { try other.run(in: overlapping) { _ in } }
    }

    /// A property list with arrays that are all the same bytes, and refer to all arrays.
    static func overlapping(_ count: Int) -> [UInt8] {
        func big(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 255), UInt8(number & 255)] }
        var bytes = Array("bplist00".utf8) + [0xAF, 0x11] + big(count)
        for index in 0..<count { bytes += big(index) }
        let table = bytes.count
        for _ in 0..<count { bytes += big(8) }
        bytes += [0, 0, 0, 0, 0, 0, 2, 2]
        for number in [count, 0, table] { bytes += (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }
        return bytes
    }
}
