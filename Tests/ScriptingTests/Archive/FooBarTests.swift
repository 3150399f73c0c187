import Foundation
import KeyedArchive
import Scripting
import TestSupport
import Testing

/// The archiving tasks of the books, `examples/foo-bar.lua`, run twice in one container.
@Suite("Foo and Bar")
struct FooBarTests {
    let scratch: TemporaryDirectory
    let source: String

    init() throws {
        scratch = try TemporaryDirectory()
        source = try String(contentsOfFile: "\(Project.root)/examples/foo-bar.lua", encoding: .utf8)
    }

    private func run() throws -> String {
        let embedding = try Embedding(scratch.file("container"))
        embedding.host.launch()
        _ = try embedding.host.run(Array(source.utf8), name: "@foo-bar.lua").get()
        embedding.end()
        #expect(embedding.recorder.errors.contains("Documents/foo.archive"), "the path is logged")
        return embedding.recorder.output
    }

    private func expected(_ marker: String) -> String {
        source.split(separator: "\n").compactMap { line in
            line.range(of: "-- \(marker): ").map { line[$0.upperBound...] + "\n" }
        }.joined()
    }

    @Test("the first run, the next, and a run after files that are empty")
    func runs() throws {
        #expect(try run() == expected("expect"))
        #expect(try run() == expected("expect again"))
        #expect(try run() == expected("expect again"))
        for name in ["foo", "foo2"] {
            try Data().write(to: URL(fileURLWithPath: scratch.file("container/Documents/\(name).archive")))
        }
        #expect(try run() == expected("expect"))
    }

    @Test("the archive is the books': two keys, Foos that Bar shares with nobody, ages as NSNumber objects")
    func archive() throws {
        _ = try run()
        let data = try Data(contentsOf: URL(fileURLWithPath: scratch.file("container/Documents/foo2.archive")))
        let graph = try ArchiveGraph([UInt8](data))
        #expect(graph.top.map(\.key).sorted() == ["mybar", "myfoo"])
        guard case .object(.unknown(let foo)?)? = graph.top.first(where: { $0.key == "myfoo" })?.value,
            case .object(.integer(40)?)? = foo["age"]
        else {
            Issue.record("no Foo with an age that is an object")
            return
        }
        #expect(foo.archivedClass == ArchivedClass("Foo"))
        #expect(graph.dump().contains("foos: NSMutableArray"))
    }
}
