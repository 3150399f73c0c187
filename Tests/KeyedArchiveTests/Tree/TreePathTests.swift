import KeyedArchive
import PropertyList
import TestSupport
import Testing

@Suite("Paths in trees")
struct TreePathTests {
    /// Goes through a tree, and holds each path against what it leads to.
    static func check(_ tree: ArchiveTree, _ name: String) throws -> Int {
        var count = 0
        var walk = TreeWalk(tree)
        try walk.run { visit, walk in
            count += 1
            // Of a large archive a part: a step into an array takes as long as the array is.
            guard tree.objectCount < 1000 || count % 16 == 0 else { return }
            let text = walk.path.description
            let place = try tree.place(at: TreePath(text))
            #expect(place.tree === visit.tree, "\(name): \(text)")
            #expect(
                place.tree.objectNumber(of: place.node) == visit.tree.objectNumber(of: visit.node), "\(name): \(text)")
        }
        return count
    }

    @Test("each path of a walk leads to its value", arguments: ForeignArchives.all)
    func foreign(_ entry: ForeignArchives.Entry) throws {
        let tree = try ArchiveTree(PropertyListStorage(entry.bytes()))
        #expect(try Self.check(tree, entry.file) > 0)
    }

    @Test("also in graphs of every kind", arguments: 1...60)
    func generated(seed: Int) throws {
        var generator = GraphGenerator(seed: UInt64(seed))
        let graph = generator.graph(40)
        defer { graph.dismantle() }
        let tree = try ArchiveTree(PropertyListStorage(graph.encoded()))
        #expect(try Self.check(tree, "seed \(seed)") > 1)
    }

    static let keys = [
        "a.b", "a[0]", "", " a", "a ", "a b", "'", "\"", "'\"", "\\", "a\nb", "\r\n", "\u{301}a", "ä", "e\u{301}", "0",
        "-1",
        "$objects", "$embedded", "$x", "key 0", "[", "]", "\"]", "']", "\u{202E}", "\u{0}", "🧸", ".", "..", "root", "値",
    ]

    @Test("keys with signs of the syntax are quoted, and lead to their values")
    func keys() throws {
        let values = PropertyListFields(
            Self.keys.enumerated().map { ($1, PropertyListValue.integer(Int64($0))) })
        let outer = PropertyListValue.dictionary([
            "root": .fields(values), "$objects": .array([.fields(values)]),
        ])
        #expect(
            try Self.check(ArchiveTree(PropertyListStorage(outer.encoded(as: .binary))), "plain") == 2 * values.count
                + 4)
        let entries = Self.keys.map { ArchivedDictionary.Entry(key: .string($0), value: .string("value of \($0)")) }
        let numbers = [Int64(5), -5, 0].map { ArchivedDictionary.Entry(key: .integer($0), value: .integer($0)) }
        let others: [ArchivedDictionary.Entry] = [
            .init(key: .string("5"), value: .string("text")), .init(key: .real(0.5), value: .boolean(true)),
            .init(key: .value(.uuid(Array(0..<16))), value: .boolean(false)), .init(key: .string("5"), value: .null),
        ]
        let dictionary = ArchivedDictionary()
        dictionary.entries = others + entries + numbers
        let object = ArchivedObject(
            ArchivedClass("Odd"),
            fields: Self.keys.map { ArchivedObject.Field(key: $0, value: .object(.dictionary(dictionary))) })
        let graph = ArchiveGraph(top: [.init(key: "$objects", value: .object(.unknown(object)))])
        defer { graph.dismantle() }
        _ = try Self.check(ArchiveTree(PropertyListStorage(graph.encoded())), "archive")
    }

    @Test(
        "are written as they are read",
        arguments: [
            ("root[0].name", "root[0].name"), ("root.0.name", "root[0].name"), ("[\"a.b\"].c", "[\"a.b\"].c"),
            ("['a']", "a"), ("a['\"']", "a['\"']"), ("$objects[3].x", "$objects[3].x"),
            ("a.$embedded[0]", "a.$embedded[0]"),
            ("[$\"a\\nb\"]", "[$\"a\\nb\"]"), ("[$\"\\u{41}\"]", "A"), ("a[key 1].b[value 2]", "a[key 1].b[value 2]"),
            ("", ""), ("[\"$objects\"][1]", "[\"$objects\"][1]"),
        ])
    func text(_ pair: (String, String)) throws {
        #expect(try TreePath(pair.0).description == pair.1)
    }

    @Test(
        "that are none are refused",
        arguments: [
            ".", "a..b", "a[", "a[]", "a[x]", "a[-1]", "[\"a]", "[$a]", "[$\"\\x\"]", "[$\"\\u{110000}\"]", "[key]",
            "[$",
        ])
    func malformed(text: String) {
        #expect(throws: ArchiveError.self) { try TreePath(text) }
    }

    @Test("fields as they are stored are found, too, where a value or elements are shown")
    func storedFields() throws {
        let entry = try #require(
            ForeignArchives.named("swiftlang_swift-corelibs-foundation__NSIndexSet-ManyRanges.archive"))
        let tree = try ArchiveTree(PropertyListStorage(entry.bytes()))
        let place = try tree.place(at: TreePath("root.NSRangeCount"))
        guard case .leaf(.integer(let count)) = tree.value(place.node).content else {
            Issue.record("no number")
            return
        }
        #expect(count > 1)
    }

    @Test("of deep values begin at an object near them")
    func deep() throws {
        var value = ArchiveValue.string("end")
        for _ in 0..<3000 { value = .collection(ArchivedCollection(elements: [value])) }
        let graph = ArchiveGraph(root: value)
        defer { graph.dismantle() }
        let tree = try ArchiveTree(PropertyListStorage(graph.encoded()))
        #expect(try Self.check(tree, "deep") == 3001)
        var longest = 0
        var walk = TreeWalk(tree)
        try walk.run { _, walk in longest = max(longest, walk.path.steps.count) }
        #expect(longest < 100)
    }
}
