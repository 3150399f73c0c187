import Application
import Glibc
import Lua
import Platform
import PropertyList
import Scripting
import TestSupport
import Testing

/// Scripts that will not end, where a host runs them: as chunks, handlers, timers, delegate methods.
@Suite("Hostile scripts in a host", .serialized)
struct HostileScriptTests {
    private static let keys = "local t = {} for i = 1, 20000 do t['k' .. i] = i end"
    private static let sparse =
        "local path = app.container.tmp .. '/s' local f = io.open(path, 'w') f:seek('set', 800000000) f:write('x') f:close()"

    static let bodies = [
        "while true do end", "while true do pcall(function() while true do end end) end",
        "while true do xpcall(error, function() while true do end end) end",
        "while true do pcall(coroutine.wrap(function() while true do end end)) end",
        "while true do older() end",
        "do local t <close> = setmetatable({}, { __close = function() while true do end end }) end",
        "table.sort({ 3, 2, 1 }, function() while true do end end)",
        "(('a'):gsub('a', function() while true do end end))",
        "local _ = ('a'):rep(40):find(('a?'):rep(40) .. ('a'):rep(40))", "table.move({}, 1, 1 << 50, 2)",
        "while true do pcall(timer.after, -1, print) end",
        "while true do items:query([[name MATCHES '(.*f)+(i|r|s|t)*(.*)+x']]):count() end",
        // Waits where a coroutine of the script's own cannot yield to the host, and functions of the host that take long.
        "coroutine.wrap(function() timer.sleep(600) end)()",
        "coroutine.wrap(function() while true do pcall(timer.sleep, 600) end end)()",
        "table.sort({ 3, 2, 1 }, function(a, b) timer.sleep(600) return a < b end)",
        "\(keys) while true do pcall(json.encode, t) end", "\(keys) while true do pcall(plist.encode, t) end",
        "\(keys) local s = json.encode(t) while true do pcall(json.decode, s) end",
        "\(keys) while true do pcall(archiver.archivedData, t) end",
        "\(sparse) while true do pcall(fs.read, path) end", "\(sparse) while true do pcall(plist.read, path) end",
        "\(sparse) while true do pcall(items.import, items, path, { format = 'csv' }) end",
    ]

    let scratch: TemporaryDirectory
    let embedding: Embedding

    init() throws {
        scratch = try TemporaryDirectory()
        embedding = try Embedding(scratch.file("c")) { options in
            options.timeLimit = .seconds(0.05)
            options.outputLimit = 1000
        }
        embedding.host.launch()
        _ = embedding.run("older = coroutine.wrap(function() while true do coroutine.yield() end end) older()")
        _ = embedding.run("items:createItem{ name = 'first' }")
    }

    private func expectUsable() {
        #expect(embedding.run("return #items, ('abc'):match('b')") == "1 b")
    }

    @Test("an error whose text is never done is stopped as well")
    func endlessText() {
        let script = "error(setmetatable({}, { __tostring = function() while true do end end }))"
        let watchdog = Watchdog(script)
        defer { watchdog.done() }
        #expect(embedding.run(script) == "error: (an error object is a table value)")
        expectUsable()
        embedding.end()
    }

    @Test("as a chunk", arguments: bodies)
    func chunk(body: String) {
        let watchdog = Watchdog(body)
        defer { watchdog.done() }
        #expect(
            embedding.run(body.hasPrefix("((") ? "return " + body : body)
                == "error: chunk:1: time is up: the limit is 0.05 s")
        expectUsable()
        embedding.end()
    }

    @Test("as a handler with a budget: the others still run", arguments: bodies)
    func handler(body: String) {
        let watchdog = Watchdog(body)
        defer { watchdog.done() }
        let text = body.hasPrefix("((") ? "return " + body : body
        _ = embedding.run("app:on('willResignActive', { budget = 0.05 }, function() \(text) end)")
        _ = embedding.run("app:on('willResignActive', function() heard = true end)")
        embedding.host.handle(.interrupt, cause: .script)
        #expect(embedding.recorder.errors.contains("time is up: the limit is 0.05 s"), "\(embedding.recorder.errors)")
        #expect(embedding.run("return rawget(_G, 'heard')") == "true")
        expectUsable()
        embedding.end()
    }

    @Test("work that ends at the deadline says so, also before the timer's signal")
    func beforeTheSignal() {
        embedding.host.register("late") { () throws -> Int in
            ThreadClock.advance(nanoseconds: 60_000_000_000)
            #expect(Interruption.isDue)
            throw WorkStopped()
        }
        defer { ThreadClock.reset() }
        #expect(embedding.run("late()") == "error: chunk:1: time is up: the limit is 0.05 s")
        #expect(embedding.run("pcall(late) return 1") == "error: chunk:1: time is up: the limit is 0.05 s")
        embedding.end()
    }

    @Test(
        "as a delegate's method: the handlers still run",
        arguments: [
            "{ applicationWillResignActive = function() while true do end end }",
            "{ sceneWillResignActive = function() while true do pcall(function() while true do end end) end end }",
            "setmetatable({}, { __index = { applicationWillResignActive = function() repeat until false end } })",
        ])
    func delegate(table: String) {
        let watchdog = Watchdog(table)
        defer { watchdog.done() }
        _ = embedding.run("app.delegate = \(table) app:on('willResignActive', function() heard = true end)")
        embedding.host.handle(.interrupt, cause: .script)
        #expect(embedding.recorder.errors.contains("time is up"), "\(embedding.recorder.errors)")
        #expect(embedding.run("return rawget(_G, 'heard')") == "true")
        expectUsable()
        embedding.end()
    }

    @Test("a delegate is looked into without running code of a script's")
    func delegateWithFunction() {
        _ = embedding.run("app.delegate = setmetatable({}, { __index = function() while true do end end })")
        embedding.host.handle(.interrupt, cause: .script)
        #expect(embedding.recorder.errors == "")
        expectUsable()
        embedding.end()
    }

    @Test(
        "as a timer's function",
        arguments: ["while true do end", "local _ = ('a'):rep(40):find(('a?'):rep(40) .. 'b')"])
    func timer(body: String) {
        let watchdog = Watchdog(body)
        defer { watchdog.done() }
        _ = embedding.run("timer.after(0, function() \(body) end) timer.sleep(0.02)")
        #expect(embedding.recorder.errors.contains("time is up"))
        expectUsable()
        embedding.end()
    }

    @Test("what a chunk prints is limited, and counted anew for the next")
    func output() {
        let text = "for i = 1, 1e5 do pcall(print, ('x'):rep(99)) end print(1)"
        for _ in 1...2 {
            #expect(embedding.run("print(('x'):rep(2000))").contains("output limit reached (1000 bytes)"))
        }
        _ = embedding.run(text)
        #expect(embedding.recorder.output.count == 1000)
        #expect(embedding.run("io.write(('x'):rep(2000))").contains("output limit reached"))
        #expect(embedding.run("print('fine')") == "")
        #expect(embedding.recorder.output.hasSuffix("fine\n"))
        embedding.end()
    }

    @Test("what nests without end gets an error on a thread with a small stack as well", arguments: [512, 1024])
    func smallStack(kilobytes: Int) async throws {
        await #expect(processExitsWith: .success) { [kilobytes] in
            let scratch = try TemporaryDirectory()
            OwnThread.run(stackSize: kilobytes << 10) {
                guard let embedding = try? Embedding(scratch.file("c")) else { exit(2) }
                embedding.host.launch()
                let error = embedding.run(Nestings.script)
                guard error == "", embedding.recorder.output == "\(Nestings.count) ended\n" else {
                    print(error, embedding.recorder.output)
                    exit(1)
                }
                embedding.end()
            }
        }
    }
}
