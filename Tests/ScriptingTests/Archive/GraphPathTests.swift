import Foundation
import KeyedArchive
import Lua
import PropertyList
import Scripting
import TestSupport
import Testing

/// The paths of `graph:walk`, each led to in the archive itself.
@Suite("Paths of graphs in Lua")
struct GraphPathTests {
    @Test("lead to the same value in the file", arguments: ForeignArchives.all)
    func paths(_ entry: ForeignArchives.Entry) throws {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("container")) { $0.readable = ForeignArchives.folders }
        defer { embedding.end() }
        let source = """
            local lines = {}
            local every = ({...})[2]
            local count = 0
            assert(archiver.open((...))):walk(function(value, path)
              count = count + 1
              if count % every == 0 then
                local kind = type(value) == "table" and archiver.className(value) or math.type(value) or type(value)
                lines[#lines + 1] = kind .. "\\0" .. tostring(type(value) == "table" and "" or value) .. "\\0" .. path
              end
            end)
            return table.concat(lines, "\\1")
            """
        let every: Int64 = entry.objectCount < 300 ? 1 : 101
        let result = try embedding.host.run(
            Array(source.utf8), name: "=graph", arguments: [.text(entry.path), .integer(every)]
        ).get()
        guard case .string(let text)? = result.first else {
            Issue.record("no text")
            return
        }
        let tree = try ArchiveTree(PropertyListStorage(entry.bytes()))
        let lines = text.description.split(separator: "\u{1}")
        let isNothing = tree.roots.allSatisfy { if case .nothing = tree.value($0.node).content { true } else { false } }
        #expect(lines.isEmpty == isNothing || every > 1)
        for line in lines {
            let parts = line.split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
            let (kind, shown, path) = (parts[0], parts[1], parts[2])
            let place: (tree: ArchiveTree, node: ArchiveTree.Node)
            do { place = try tree.place(at: TreePath(path)) } catch {
                Issue.record("\(path): \(error)")
                continue
            }
            let value = tree.value(place.node)
            switch value.content {
            case .leaf(.string(let text)) where text != "$null":
                #expect(text == shown || value.className != nil, "\(path)")
            case .leaf(.integer(let number)): #expect("\(number)" == shown || value.className != nil, "\(path)")
            case .leaf(.boolean(let flag)): #expect("\(flag)" == shown || value.className != nil, "\(path)")
            case .object, .list, .bag, .dictionary:
                if let name = value.className { #expect(name == kind, "\(path)") }
            default: break
            }
        }
    }
}
