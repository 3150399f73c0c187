import KeyedArchive
import PropertyList
import TestSupport
import Testing

/// Everything that an archive of another program has is in each view, and a change of anything shows in a comparison.
@Suite("Views of foreign archives account for every value")
struct ArchiveViewAccountingTests {
    private static func tree(_ bytes: [UInt8]) throws -> ArchiveTree { try ArchiveTree(PropertyListStorage(bytes)) }

    private static func json(_ tree: ArchiveTree) throws -> String {
        var writer = TreeJSON(tree, layout: .compact)
        var json: [UInt8] = []
        try writer.write { json += $0 }
        #expect(writer.damage == nil)
        return String(decoding: json, as: UTF8.self)
    }

    private final class Paths { var all: [TreePath] = [] }

    /// The tree as text, with the archives in its data, which are opened by the paths that the text names.
    private static func text(_ tree: ArchiveTree) throws -> String {
        let paths = Paths()
        var text = ""
        var drawing = TreeDrawing(tree, leafText: LeafText(limit: nil)) { path in
            paths.all.append(path)
            return "\(path)"
        }
        drawing.draw { text += $0.map(\.text).joined() + "\n" }
        for path in paths.all {
            #expect(text.contains("a keyed archive: \(path)"))
            text += try Self.text(#require(try tree.embedded(at: TreePath(path.description))))
        }
        return text
    }

    private static func archives(_ body: (ForeignArchive, UInt64) throws -> Int) throws {
        var (count, seed) = (0, UInt64(0))
        while count < Accounting.values {
            var generator = ForeignArchiveGenerator(seed: seed)
            count += try body(try generator.archive(objects: 12), seed)
            seed += 1
        }
    }

    @Test("what is put in is in the tree, in JSON, and after a save of the graph")
    func everything() throws {
        try Self.archives { archive, seed in
            let bytes = try archive.encoded(seed: seed)
            let tree = try Self.tree(bytes)
            let graph = try ArchiveGraph(bytes)
            defer { graph.dismantle() }
            let saved = try Self.tree(graph.encoded())
            #expect(ForeignArchiveTests.differences(tree, saved) == [], "seed \(seed)")
            let views = [try Self.text(tree), try Self.json(tree), try Self.text(saved), try Self.json(saved)]
            for mark in archive.marks {
                let text = mark.replacing("embedded ", with: "")
                for (index, view) in views.enumerated() where !view.contains(text) {
                    Issue.record("seed \(seed): “\(mark)” is not in view \(index)")
                }
            }
            return archive.marks.count
        }
    }

    @Test("the same in another order is the same, and any single change shows")
    func changes() throws {
        try Self.archives { archive, seed in
            let tree = try Self.tree(archive.encoded(seed: seed))
            for other in 1...3 {
                let again = try Self.tree(archive.encoded(seed: seed &+ UInt64(other) << 32))
                #expect(ForeignArchiveTests.differences(tree, again) == [], "seed \(seed), \(other)")
            }
            var random = TestGenerator(seed: seed)
            let count = 12
            for number in 0..<count {
                var changed = archive
                guard let what = changed.change(number, &random) else { continue }
                let other = try Self.tree(changed.encoded(seed: random.next()))
                #expect(ForeignArchiveTests.differences(tree, other) != [], "seed \(seed): \(what)")
            }
            return count * 4
        }
    }
}

extension ForeignArchive {
    /// Changes one thing, of a kind by the number; nil when there is none.
    mutating func change(_ number: Int, _ random: inout TestGenerator) -> String? {
        let index = random.number(objects.count)
        switch number {
        case 0:
            classes["Foo"]?.insert("Other", at: 0)
            return classes["Foo"].map { _ in "a superclass" }
        case 1:
            archiver += "2"
            return "the archiver"
        case 2:
            objects.append(Object(leaf: .string("stray")))
            return "an unreferenced object"
        case 3:
            top[1].key += "x"
            return "a key of the top"
        case 4:
            guard case .integer(let value)? = objects[index].leaf, let real = Double(exactly: value) else { return nil }
            objects[index].leaf = .real(real)
            return "the kind of \(value)"
        case 5:
            objects[index].fields.append(Field(key: "another", value: .inline(.boolean(false))))
            return objects[index].leaf == nil ? "a new field" : nil
        case 6:
            let counted = objects.indices.filter { objects[$0].className == "NSCountedSet" }
            guard let index = counted.randomElement(using: &random) else { return nil }
            for field in objects[index].fields.indices where objects[index].fields[field].key == "NS.count1" {
                objects[index].fields[field].value = .inline(.integer(77))
            }
            return "a count"
        default:
            if let leaf = objects[index].leaf {
                objects[index].leaf = Self.changed(leaf)
                return "\(leaf)"
            }
            return changeField(of: index, &random)
        }
    }

    private mutating func changeField(of index: Int, _ random: inout TestGenerator) -> String? {
        guard !objects[index].fields.isEmpty else { return nil }
        let place = random.number(objects[index].fields.count)
        let field = objects[index].fields[place]
        // Zeros in front of a number do not change it.
        if field.key == "NS.length" { return nil }
        if !field.key.hasPrefix("NS"), random.number(3) == 0 {
            objects[index].fields[place].key += "x"
            return "the key \(field.key)"
        }
        switch field.value {
        case .inline(let leaf): objects[index].fields[place].value = .inline(Self.changed(leaf))
        case .object(nil): return nil
        case .object: objects[index].fields[place].value = .object(nil)
        case .objects(let elements): objects[index].fields[place].value = .objects(Array(elements.dropLast()))
        case .list(let elements): objects[index].fields[place].value = .list(Array(elements.dropLast()))
        case .dictionary(let entries): objects[index].fields[place].value = .dictionary(Array(entries.dropLast()))
        }
        return "\(objects[index].className).\(field.key)"
    }

    private static func changed(_ leaf: PropertyListValue) -> PropertyListValue {
        switch leaf {
        case .boolean(let value): .boolean(!value)
        case .integer(let value): .integer(value == .max ? 0 : value + 1)
        case .wideInteger(let value): .wideInteger(value ^ 1)
        case .real(let value): .real(value.nextUp)
        case .single(let value): .single(value.nextUp)
        case .date(let date):
            .date(PropertyListDate(secondsSinceReferenceDate: date.secondsSinceReferenceDate.nextUp))
        case .data(let bytes): .data(bytes + [7])
        case .string(let text): .string(text + "x")
        default: .string("another")
        }
    }
}
