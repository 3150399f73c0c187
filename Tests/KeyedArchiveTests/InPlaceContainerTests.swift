import PropertyList
import Testing

@testable import KeyedArchive

@Suite("Containers within the fields of objects")
struct InPlaceContainerTests {
    /// An archive whose root is an object with a field; `build` adds its value. Object 1 is the root, object 3 a text.
    private static func archive(_ build: (BinaryPropertyListWriter) throws -> UInt32) throws -> [UInt8] {
        let writer = BinaryPropertyListWriter()
        func dictionary(_ entries: KeyValuePairs<String, UInt32>) -> UInt32 {
            writer.dictionary(of: entries.map { (writer.string($0.key), $0.value) })
        }
        let objects = [
            writer.string("$null"), dictionary(["field": try build(writer), "$class": writer.uid(2)]),
            dictionary(["$classname": writer.string("Node"), "$classes": try writer.add(.array([.string("Node")]))]),
            writer.string("leaf"),
        ]
        return try writer.finish(
            topObject: dictionary([
                "$version": writer.integer(Int64(100_000)), "$archiver": writer.string("NSKeyedArchiver"),
                "$top": dictionary(["root": writer.uid(1)]),
                "$objects": objects.withUnsafeBufferPointer { writer.array(of: $0) },
            ]))
    }

    private static func list(_ elements: [UInt32], _ writer: BinaryPropertyListWriter) -> UInt32 {
        elements.withUnsafeBufferPointer { writer.array(of: $0) }
    }

    private static func error(_ bytes: [UInt8]) -> String? {
        do throws(ArchiveError) {
            try ArchiveGraph(bytes).dismantle()
            return nil
        } catch {
            return error.message
        }
    }

    @Test("one that holds another twice, and so on, is refused beyond the limit, at once")
    func unfolding() throws {
        func bytes(levels: Int) throws -> [UInt8] {
            try Self.archive { writer in
                (0..<levels).reduce(writer.uid(3)) { inner, _ in Self.list([inner, inner], writer) }
            }
        }
        #expect(try Self.error(bytes(levels: 8)) == nil)
        #expect(try Self.error(bytes(levels: 40))?.contains("unfold too far") == true)
        #expect(!ArchiveCheck(try bytes(levels: 40)).hasErrors)
    }

    @Test("nesting has its limit, and a container within itself is refused")
    func depth() throws {
        func bytes(levels: Int) throws -> [UInt8] {
            try Self.archive { writer in
                (0..<levels).reduce(writer.uid(3)) { inner, _ in Self.list([inner], writer) }
            }
        }
        #expect(try Self.error(bytes(levels: 100)) == nil)
        #expect(try Self.error(bytes(levels: 600))?.contains("deeper than") == true)
        let endless = try Self.archive { writer in
            let (number, references) = writer.array(count: 2)
            writer.setReference(0, in: references, to: number)
            writer.setReference(1, in: references, to: writer.uid(3))
            return number
        }
        #expect(Self.error(endless) != nil)
    }

    @Test("objects that lead back to their owner through one are fine")
    func cycles() throws {
        let bytes = try Self.archive { writer in
            Self.list([writer.uid(1), writer.integer(Int64(5)), Self.list([writer.uid(1)], writer)], writer)
        }
        for _ in 0..<2 {
            let graph = try ArchiveGraph(bytes)
            defer { graph.dismantle() }
            #expect(graph.objects().count == 1)
            let again = try ArchiveGraph(graph.encoded())
            defer { again.dismantle() }
            guard case .unknown(let node)? = again.root, case .list(let parts)? = node["field"],
                case .object(.unknown(let first)?) = parts[0], case .inline(.integer(5)) = parts[1],
                case .list(let inner) = parts[2], case .object(.unknown(let second)?) = inner[0]
            else {
                Issue.record("\(again.dump())")
                return
            }
            #expect(first === node && second === node)
        }
    }

    @Test(
        "a raw UID is never written",
        arguments: [
            .uid(3), .array([.integer(1), .uid(3)]), .fields(["a": .array([.fields(["b": .uid(3)])])]),
            .set([.uid(3)]),
        ] as [PropertyListValue])
    func rawUIDs(_ value: PropertyListValue) {
        for field in [ArchivedObject.FieldValue.inline(value), .list([.object(.null), .inline(value)])] {
            let object = ArchivedObject(ArchivedClass("Node"), fields: [.init(key: "field", value: field)])
            #expect(throws: ArchiveError.self) { try ArchiveGraph(root: .unknown(object)).encoded() }
            #expect(throws: ArchiveError.self) {
                try ArchiveGraph(top: [.init(key: "field", value: field)]).encoded()
            }
        }
    }

    @Test("a reference to no object is found by the check, wherever it is, and repaired")
    func dangling() throws {
        let bytes = try Self.archive { writer in
            let entry = writer.dictionary(of: [(writer.string("k"), writer.uid(77))])
            return Self.list([writer.uid(3), entry], writer)
        }
        let check = ArchiveCheck(bytes)
        #expect(check.hasErrors)
        let graph = try ArchiveGraph(try #require(check.rescue).bytes)
        defer { graph.dismantle() }
        guard case .unknown(let node)? = graph.root, case .list(let parts)? = node["field"],
            case .object(.string("leaf")?) = parts[0]
        else {
            Issue.record("\(graph.dump())")
            return
        }
    }
}
