import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Lua

@Suite("Async functions of an engine")
struct AsyncFunctionTests {
    @Test("values have Swift types")
    func values() async throws {
        let engine = try await Waits().engine
        #expect(try await engine.run("return echo(20) + echo(22)", as: Int.self) == 42)
        let page = try await engine.run(
            "return page({title = 'a', links = {1}}, '\\0\\1', 'b')", as: Waits.Page.self)
        #expect(page == Waits.Page(title: "ab", links: [1, 2]))
    }

    @Test(
        "arguments are checked, with the names of function and parameter",
        arguments: [
            ("echo('x')", "chunk:1: bad argument #1 'value' to 'echo' (integer expected, got string)"),
            ("echo()", "chunk:1: bad argument #1 'value' to 'echo' (integer expected, got no value)"),
            (
                "page({title = 'a', links = {1, 'x'}}, '')",
                "chunk:1: bad argument #1 'argument1' to 'page' (links[2]: integer expected, got string)"
            ),
        ])
    func arguments(call: String, message: String) async throws {
        let engine = try await Waits().engine
        let error = await #expect(throws: LuaError.self) { try await engine.run(call, name: "=chunk") }
        #expect(error?.message == message)
    }

    @Test("an async function names the argument that it refuses, once it has waited")
    func refusals() async throws {
        let engine = try await Waits().engine
        try await engine.register("dim", ["room", "percent"]) { (room: String, percent: Int) async throws in
            await Task.yield()
            throw LuaMismatch("0 to 100 expected, got \(percent)", argument: "percent")
        }
        let error = await #expect(throws: LuaError.self) { try await engine.run("dim('study', 400)", name: "=chunk") }
        #expect(error?.message == "chunk:1: bad argument #2 'percent' to 'dim' (0 to 100 expected, got 400)")
    }

    @Test("any number of arguments, of every decodable type, with the nils that an optional type takes")
    func variadics() async throws {
        let engine = try await Waits().engine
        try await engine.register("pages", ["title", "pages"]) { (title: String, pages: LuaVariadic<Waits.Page>) in
            title + pages.map(\.title).joined()
        }
        try await engine.register("later", ["pages"]) { (pages: LuaVariadic<Waits.Page>) async in pages.values.count }
        try await engine.register("count", ["values"]) { (values: LuaVariadic<Int?>) in values.values.count }
        try await engine.register("sum", ["values"]) { (values: LuaVariadic<Int>) in values.reduce(0, +) }
        let page = "{title = 'a', links = {}}"
        #expect(try await engine.run("return pages('x', \(page), \(page)) .. pages('y')", as: String.self) == "xaay")
        #expect(try await engine.run("return later(\(page), \(page)) + later()", as: Int.self) == 2)
        let script = "return {count(), count(nil), count(1, nil, nil), count(nil, 2), sum(1, 2, nil)}"
        #expect(try await engine.run(script, as: [Int].self) == [0, 1, 3, 2, 3])
        let error = await #expect(throws: LuaError.self) {
            try await engine.run("pages('x', \(page), {title = 5})", name: "=chunk")
        }
        #expect(error?.message == "chunk:1: bad argument #3 'pages' to 'pages' (title: string expected, got number)")
    }

    @Test("any number of arguments have the limits of one conversion together")
    func variadicBomb() async throws {
        let engine = try await LuaEngine(limits: LuaLimits(memory: 16 << 20))
        try await engine.register("count", ["pages"]) { (pages: LuaVariadic<Waits.Page>) in pages.values.count }
        let script =
            "local links, pages = {}, {} for i = 1, 10000 do links[i] = i end "
            + "local page = { title = 'a', links = links } for i = 1, 10000 do pages[i] = page end "
            + "return count(table.unpack(pages))"
        let error = await #expect(throws: LuaError.self) { try await engine.run(script) }
        #expect(error?.message.contains("values for one conversion") == true)
        #expect(try await engine.run("return count()", as: Int.self) == 0)
    }

    @Test(
        "a wait is not seen by the script around it",
        arguments: [
            ("return select('#', echo(1)) .. ' ' .. echo(2)", "1 2"),
            (
                "local c = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(echo(i)) end end) return c() .. c() .. c()",
                "123"
            ),
            (
                "local s = '' for v in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(echo(i)) end end) do s = s .. v end return s",
                "123"
            ),
            (
                "local c = coroutine.create(function(a) local b = coroutine.yield(echo(a)) return echo(b) end) "
                    + "return table.concat({select(2, coroutine.resume(c, 1)), select(2, coroutine.resume(c, 2)), coroutine.status(c)}, ' ')",
                "1 2 dead"
            ),
            (
                "local w = coroutine.wrap return w(function() return w(function() return w(function() return echo(7) end)() + 1 end)() + 1 end)() .. ''",
                "9"
            ),
            (
                "local t = {3, 1, 2} table.sort(t, function(a, b) return echo(a) < echo(b) end) return table.concat(t)",
                "123"
            ),
            ("return (('abc'):gsub('.', function(c) return echo(c:byte()) .. ' ' end))", "97 98 99 "),
            ("return setmetatable({}, {__index = function(_, k) return echo(k) end})[5] .. ''", "5"),
            ("return tostring(setmetatable({}, {__tostring = function() return 'x' .. echo(1) end}))", "x1"),
            (
                "local s = '' do local x <close> = setmetatable({}, {__close = function() s = s .. echo(1) end}) s = s .. echo(0) end return s",
                "01"
            ),
            (
                "local s = '' pcall(function() local x <close> = setmetatable({}, {__close = function() s = s .. echo(1) end}) error() end) return s",
                "1"
            ),
            ("local function f(n) if n == 0 then return echo(0) end return f(n - 1) end return f(100) .. ''", "0"),
            ("return tostring(coroutine.isyieldable()) .. tostring(select(2, coroutine.running()))", "falsetrue"),
            (
                "return coroutine.wrap(function() echo(1) return tostring(coroutine.isyieldable()) .. tostring(select(2, coroutine.running())) end)()",
                "truefalse"
            ),
            (
                "local c c = coroutine.create(function() echo(1) return coroutine.status(c) end) return select(2, coroutine.resume(c))",
                "running"
            ),
            ("local n = 0 for i = 1, 1000 do n = n + echo(i) end return n .. ''", "500500"),
            ("local ok, e = pcall(coroutine.yield, 1) return e", "attempt to yield from outside a coroutine"),
        ])
    func transparent(script: String, result: String) async throws {
        let watchdog = Watchdog(script, needsTasks: true)
        defer { watchdog.done() }
        let engine = try await Waits().engine
        #expect(try await engine.run(script, as: String.self) == result)
    }

    @Test(
        "what a function throws is raised at the line of the call",
        arguments: [
            ("return select(2, pcall(refuseText))", "no text"),
            ("return select(2, pcall(function()\nrefuseText() end))", "chunk:2: no text"),
            ("local ok, e = pcall(refuse) return tostring(e)", "refused"),
            ("local ok, e = pcall(refuse) return e.message .. tostring(ok)", "refusedfalse"),
            (
                "return select(2, coroutine.resume(coroutine.create(function()\n\nrefuseText() end)))",
                "chunk:3: no text"
            ),
            ("return select(2, xpcall(refuse, function(e) return 'caught ' .. e end))", "caught refused"),
            ("return select(2, pcall(table.sort, {1, 2}, function()\nrefuseText() end))", "chunk:2: no text"),
        ])
    func raised(script: String, result: String) async throws {
        let engine = try await Waits().engine
        #expect(try await engine.run(script, name: "=chunk", as: String.self) == result)
    }

    @Test("an error that no pcall catches has its place, its traceback and the Swift error")
    func uncaught() async throws {
        let engine = try await Waits().engine
        let text = await #expect(throws: LuaError.self) {
            try await engine.run("local function f()\nrefuseText() end\nf()", name: "=chunk")
        }
        #expect(text?.message == "chunk:2: no text")
        #expect(text?.traceback?.contains("chunk:3: in main chunk") == true)
        let error = await #expect(throws: LuaError.self) { try await engine.run("\nrefuse()", name: "=chunk") }
        #expect(error?.underlying is Waits.Refusal)
        #expect(error?.traceback?.contains("chunk:2: in main chunk") == true)
    }

    @Test("the function is a global of all environments, those made before too, and has help")
    func environments() async throws {
        let waits = try await Waits()
        let engine = waits.engine
        let before = try await engine.makeEnvironment()
        try await engine.run("x = 1")
        try await engine.register("late", ["value"], doc: "Gives it back.") { (value: Int) async -> Int in value }
        try await engine.register("sum", ["a", "b"]) { (a: Int, b: Int) in a + b }
        let after = try await engine.makeEnvironment()
        for environment in [nil, before, after] {
            #expect(try await engine.run("return late(sum(1, 2))", as: Int.self, in: environment) == 3)
        }
        let declaration = try await engine.withState { $0.declarations["late"] }
        #expect(declaration?.documentation == "Gives it back.")
        #expect(declaration?.functions.first?.signature() == "(value) → integer")
    }

    @Test("others run while a script waits, each with its own limits and results")
    func others() async throws {
        let watchdog = Watchdog("others", needsTasks: true)
        defer { watchdog.done() }
        let waits = try await Waits()
        let engine = waits.engine
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        try await engine.register("door") { () async in for await _ in opened { break } }
        let first = Task {
            try await engine.run(
                "note('1') io.write(('x'):rep(10)) door() io.write(('x'):rep(10)) note('3') return 'first'",
                as: String.self, timeLimit: .seconds(60), limits: LuaLimits(output: 20))
        }
        while waits.noted.isEmpty { await Task.yield() }
        try await engine.run("note('2') io.write(('y'):rep(100)) x = 5")
        await #expect(throws: LuaError.self) {
            try await engine.run("while true do end", timeLimit: .milliseconds(20))
        }
        open.yield()
        #expect(try await first.value == "first")
        #expect(waits.noted == ["1", "2", "3"])
    }

    @Test("a coroutine in a wait can be neither resumed nor closed by another run")
    func foreign() async throws {
        let watchdog = Watchdog("foreign", needsTasks: true)
        defer { watchdog.done() }
        let waits = try await Waits()
        let engine = waits.engine
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        try await engine.register("door") { () async in for await _ in opened { break } }
        let task = Task {
            try await engine.run(
                "main = coroutine.running() inner = coroutine.create(function() note('waits') door() return 7 end) "
                    + "return select(2, coroutine.resume(inner))", as: Int.self)
        }
        while waits.noted.isEmpty { await Task.yield() }
        for name in ["main", "inner"] {
            let script =
                "local a, b = coroutine.resume(N, 1) local c, d = pcall(coroutine.close, N) "
                + "return {tostring(a), b, tostring(c), d, coroutine.status(N)}"
            let results = try await engine.run(
                script.replacingOccurrences(of: "N", with: name), as: [String].self)
            #expect(
                results == [
                    "false", "cannot resume non-suspended coroutine", "false", "cannot close a normal coroutine",
                    "normal",
                ])
        }
        open.yield()
        #expect(try await task.value == 7)
    }

    @Test("task-local values reach the function; outside of a run it cannot be called")
    func context() async throws {
        let engine = try await Waits().engine
        try await engine.register("request") { () async -> Int in Self.request }
        #expect(try await Self.$request.withValue(7) { try await engine.run("return request()", as: Int.self) } == 7)
        let error = await #expect(throws: LuaError.self) {
            try await engine.withState { _ = try $0.load("echo(1)".utf8, name: "=chunk").call() }
        }
        #expect(error?.message == "chunk:1: an async function can be called by runs of its LuaEngine only")
    }

    @TaskLocal private static var request = 0
}
