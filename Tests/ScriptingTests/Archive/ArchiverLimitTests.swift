import Application
import Lua
import Scripting
import TestSupport
import Testing

/// Archives that would never end, and what is left behind of those that failed.
@Suite("Limits of archiver")
struct ArchiverLimitTests {
    static let endless = [
        "an encode that makes ever new objects":
            """
        local Node = archiver.class("Node")
        function Node:encode(coder) coder:encodeObject(Node{}, "next") end
        return archiver.archivedData(Node{})
        """,
        "an init that never returns":
            """
        local Node = archiver.class("Node")
        function Node:encode(coder) end
        function Node:init(coder) while true do pcall(coder.decodeObject, coder, "x") end end
        return archiver.reader(archiver.archivedData(Node{})):decodeObject("root")
        """,
        "a copy that never returns":
            """
        local Node = archiver.class("Node")
        function Node:copy() while true do end end
        return archiver.copy(Node{})
        """,
        "a visitor that never returns":
            "return archiver.open(archiver.archivedData({ 1 })):walk(function() while true do end end)",
    ]

    @Test("the time limit stops", arguments: endless.keys.sorted())
    func deadline(_ title: String) throws {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("container")) { $0.timeLimit = .seconds(0.3) }
        defer { embedding.end() }
        let result = embedding.host.run(Array((Self.endless[title] ?? "").utf8), name: "=endless")
        guard case .failure(let error) = result else {
            Issue.record("it ended")
            return
        }
        #expect(error.kind == .deadline, "\(error.message)")
        #expect(embedding.run("return 1 + 1") == "2")
    }

    @Test("copies that call themselves without end are an error")
    func recursion() throws {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("container"))
        defer { embedding.end() }
        let message = embedding.run(
            """
            local Node = archiver.class("Node")
            function Node:copy() return archiver.copy(Node{}) end
            return archiver.copy(Node{})
            """)
        #expect(message.contains("stack overflow"), "\(message)")
    }

    @Test("nothing is left of archives that are done with, or failed half way")
    func leaks() throws {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("container"))
        defer { embedding.end() }
        let state = embedding.host.state
        let source = """
            local Node = archiver.class("Node")
            function Node:encode(coder) self.coder = coder coder:encodeObject(self.next, "next") end
            function Node:init(coder) self.coder = coder self.next = coder:decodeObject("next") end
            local node = Node{}
            node.next = { node, date(0), archiver.url("http://a.org/") }
            local bytes = archiver.archivedData(node)
            archiver.unarchivedObject({ Node }, bytes)
            local reader = archiver.reader(bytes)
            reader:decodeObject("root")
            reader:finishDecoding()
            local graph = archiver.open(bytes)
            graph.root.next[4] = "new"
            graph:bytes()
            archiver.copy(node)
            function Node:encode(coder) self.coder = coder error("half way") end
            pcall(archiver.archivedData, { node, Node{} })
            """
        /// What a freed object of the host held is given back when the state is used again.
        func collect() {
            for _ in 0..<4 {
                state.collectGarbage()
                _ = embedding.run("return")
            }
        }
        _ = embedding.run(source)
        collect()
        let objects = state.liveObjects
        let used = state.memory.used
        for _ in 0..<50 { #expect(embedding.run(source) == "") }
        collect()
        #expect(state.liveObjects - objects < 10, "\(objects) objects, then \(state.liveObjects)")
        #expect(state.memory.used < used + 200_000, "\(used) bytes, then \(state.memory.used)")
    }
}
