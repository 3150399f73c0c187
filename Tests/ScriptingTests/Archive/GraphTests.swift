import Foundation
import Lua
import Scripting
import TestSupport
import Testing

/// Archives of other writers through Lua's tables and back.
@Suite("Graphs in Lua")
struct GraphTests {
    @Test("what a script has looked at, without a change, is saved as it was", arguments: ForeignArchives.all)
    func unchanged(_ entry: ForeignArchives.Entry) throws {
        let bytes = try entry.bytes()
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("container")) { $0.readable = ForeignArchives.folders }
        defer { embedding.end() }
        for format in ["binary", "xml"] {
            let source = """
                local graph = assert(archiver.open(...))
                local objects = graph:objects()
                graph:walk(function(value, path) return tostring(value) ~= path end)
                for _, object in ipairs(objects) do assert(archiver.className(object)) end
                return graph:bytes({ format = "\(format)" })
                """
            let result = try embedding.host.run(
                Array(source.utf8), name: "=graph", arguments: [.text(entry.path)]
            ).get()
            guard case .string(let saved)? = result.first else {
                Issue.record("no bytes")
                continue
            }
            let comparison = try #require(ArchiveComparison(bytes, saved.bytes, isExact: format == "binary"))
            #expect(comparison.differences == [], "\(entry) as \(format)")
            // What other readers of XML refuse is said once, and nothing else is.
            let isForeign = format == "xml" && saved.bytes.contains { $0 < 0x20 && !"\t\n\r".utf8.contains($0) }
            let lines = embedding.recorder.errors.split(separator: "\n")
            #expect(lines.count == (isForeign ? 1 : 0), "\(lines)")
            #expect(lines.allSatisfy { $0.contains("XML does not have the character") }, "\(lines)")
        }
    }

    @Test("the root of every archive unarchives, and archives again as the same", arguments: ForeignArchives.all)
    func unarchived(_ entry: ForeignArchives.Entry) throws {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("container")) { $0.readable = ForeignArchives.folders }
        defer { embedding.end() }
        let source = """
            local path = ...
            local reader = assert(archiver.reader(assert(fs.read(path))))
            local writer = archiver.writer()
            for _, key in ipairs(reader.keys) do
              local object, problem = reader:decodeObject(key)
              if problem then reader = nil break end
              writer:encodeObject(object, key)
            end
            if not reader then return "scalars" end
            assert(reader:finishDecoding())
            return assert(writer:finishEncoding())
            """
        let result = try embedding.host.run(
            Array(source.utf8), name: "=graph", arguments: [.text(entry.path)]
        ).get()
        guard case .string(let saved)? = result.first else {
            Issue.record("no bytes")
            return
        }
        #expect(saved.bytes.starts(with: Array("bplist00".utf8)), "\(saved.bytes.count)")
    }
}
