import Items
import Lua
import Scripting
import SharedItems
import TestSupport
import Testing

/// A program that drops its host gets everything back: the state, the stores, and what scripts left behind in them.
@Suite("Lifetime of a host")
struct ScriptHostLifetimeTests {
    static let scripts = [
        "", "x = {} x.x = x", "kept = items:createItem{ name = 'a', tags = { 1 } }",
        "items:createItem{ name = 'a' } all = items:query('name == \"a\"') first = all:first()",
        "items:on('didUpdate', function(e) last = e end) items:createItem().name = 'b'",
        "app:on('willTerminate', function(e) ended = e end)", "timer.every(60, function() end)",
        "timer.after(0, function() timer.sleep(60) end) timer.sleep(0.01)", "task = app:beginBackgroundTask('t')",
        "ok, err = pcall(error, { code = 1 })", "local f = print print = function(...) f(...) end",
        "step = coroutine.wrap(function() coroutine.yield(items) end) step()",
    ]

    @Test("a host that is dropped goes, with all that it held", arguments: scripts)
    func released(script: String) throws {
        let scratch = try TemporaryDirectory()
        weak var host: ScriptHost?
        weak var state: LuaState?
        weak var items: ItemStore?
        for isEnded in [true, false] {
            do {
                let embedding = try Embedding(scratch.file("c")) {
                    $0.timeLimit = .seconds(5)
                    $0.graceLimit = .zero
                }
                embedding.host.launch()
                #expect(embedding.run(script) == "")
                (host, state, items) = (embedding.host, embedding.host.state, embedding.host.items)
                if isEnded { embedding.end() }
            }
            #expect(host == nil)
            #expect(state == nil)
            #expect(items == nil)
        }
    }

    @Test(
        "so does one of a shared collection", .enabled(if: PostgresServer.missing == nil, "PostgreSQL is not installed")
    )
    func releasedShared() throws {
        let server = try PostgresServer()
        let address = try SharedAddress(server.url())
        try SharedSchema.initialize(address)
        weak var host: ScriptHost?
        weak var items: ItemStore?
        do {
            let embedding = try Embedding(server.folder.file("c")) { options in
                options.persistence = { _ in SharedPersistence(address, hostName: "a") }
            }
            embedding.host.launch()
            (host, items) = (embedding.host, embedding.host.items)
            embedding.end()
        }
        #expect(host == nil)
        #expect(items == nil)
    }
}
