import Foundation
import TestSupport
import Testing

@testable import Lua

/// Scripts that will not end, or dig as deep as they can: each is stopped, and the state is as good as before.
@Suite("Hostile scripts", .serialized)
struct HostileTests {
    /// Runs a script with a deadline; what it ended in.
    private func stop(_ script: String, in fixture: Fixture, after seconds: Double = 0.02) -> LuaError? {
        let watchdog = Watchdog(script)
        defer { watchdog.done() }
        fixture.state.interruptHandler = { reasons in
            reasons.contains(.deadline) ? .stop(LuaError(.deadline, "time is up"), depth: 1) : .resume
        }
        fixture.state.setDeadline(seconds: seconds)
        defer { fixture.state.setDeadline(nil) }
        do {
            try fixture.run(script)
            return nil
        } catch {
            return error as? LuaError
        }
    }

    private func expectUsable(_ fixture: Fixture) throws {
        #expect(try fixture.show("1 + 1, ('abc'):match('b'), coroutine.wrap(function() return 5 end)()") == "2 b 5")
        // Twice: what has a finalizer goes in the second round.
        fixture.state.collectGarbage()
        fixture.state.collectGarbage()
    }

    // MARK: Without end

    /// A script a line; lines that begin with `-- ` are about them.
    static let endless =
        ((try? String(contentsOfFile: "\(Project.root)/Tests/Hostile/scripts.lua", encoding: .utf8)) ?? "")
        .split(separator: "\n").filter { !$0.hasPrefix("-- ") }.map(String.init)

    @Test("a script without end is stopped by its deadline", arguments: endless)
    func stopped(script: String) throws {
        let fixture = try Fixture()
        let error = stop(script, in: fixture)
        #expect(error?.kind == .deadline, "\(error?.message ?? "it ended")")
        try expectUsable(fixture)
        // And again: nothing of the first time is left.
        #expect(stop(script, in: fixture)?.kind == .deadline)
        try expectUsable(fixture)
    }

    @Test(
        "a coroutine made before the deadline is stopped as well",
        arguments: [
            "while true do end", "while true do pcall(error) end", "while true do coroutine.yield() end",
            "('a'):rep(40):find(('a?'):rep(40) .. ('a'):rep(40))", "coroutine.wrap(function() while true do end end)()",
        ])
    func olderCoroutine(body: String) throws {
        let fixture = try Fixture()
        try fixture.run("step = coroutine.wrap(function() coroutine.yield(); \(body) end) step()")
        #expect(stop("while true do step() end", in: fixture)?.kind == .deadline)
        try expectUsable(fixture)
    }

    @Test("an interrupt that lets a script go on changes nothing of what a long call gives")
    func goingOn() throws {
        let fixture = try Fixture()
        defer { fixture.state.close() }  // its handler holds the fixture
        var resumed = 0
        fixture.state.interruptHandler = { _ in
            // What a host does then runs Lua code, in the middle of a match.
            _ = try? fixture.run("seen = (rawget(_G, 'seen') or 0) + #('abc'):gsub('b', '%0%0')")
            // A signal before the run has ended may ask once more.
            guard resumed < 20 else { return .stop(LuaError(.deadline, "time is up"), depth: 1) }
            resumed += 1
            return .resume
        }
        fixture.state.setDeadline(.seconds(0.001))
        let script = """
            local text = ('ab'):rep(20000) .. 'c'
            while true do
              local found, whole, count = text:find('(c)'), text:match('^[ab]*c$'), select(2, text:gsub('b', '%0'))
              if found ~= 40001 or #whole ~= 40001 or count ~= 20000 then error('wrong: ' .. tostring(found)) end
              if table.concat({ text, text }, ',') ~= text .. ',' .. text then error('wrong concat') end
            end
            """
        let error = #expect(throws: LuaError.self) { try fixture.run(script) }
        fixture.state.setDeadline(nil)
        #expect(error?.kind == .deadline)
        #expect(resumed == 20)
        try expectUsable(fixture)
    }

    // MARK: Too deep

    static let nestings: [(script: String, message: String?)] = [
        ("local function f(n) return call(f, n + 1) end f(1)", "C stack overflow"),
        ("local function f(n) return pcall(call, f, n + 1) end return f(1)", nil),
        ("local function f(n) return select(2, call(pcall, f, n + 1)) end return f(1)", nil),
        ("local function f() return 1 + f() end f()", "stack overflow"),
        ("local function f() local ok, err = pcall(f) if not ok then error(err, 0) end end f()", "stack overflow"),
        ("local function f() return coroutine.wrap(f)() end f()", "C stack overflow"),
        ("local function f() return call(coroutine.wrap(f)) end f()", "C stack overflow"),
        (
            "local function f() local ok, err = coroutine.resume(coroutine.create(f)) error(err, 0) end f()",
            "C stack overflow"
        ),
        ("local function f(s) return (s:gsub('.', f)) end f('x')", "C stack overflow"),
        ("local function f() table.sort({ 2, 1 }, f) end f()", "C stack overflow"),
        ("local t = {} for i = 1, 5000 do t = setmetatable({}, { __index = t }) end return t.x", "too long"),
        ("local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x", "loop"),
        ("local t = setmetatable({}, { __index = function(t, k) return t[k .. 'x'] end }) return t.x", "overflow"),
        (
            "local t t = setmetatable({}, { __tostring = function() return tostring(t) end }) tostring(t)",
            "C stack overflow"
        ),
        ("xpcall(error, function() error('again') end)", nil),
        ("return xpcall(error, function(m) local function g() return 1 + g() end return g() end)", nil),
        ("local function f() return 1 + f() end return xpcall(f, function(m) return f() end)", nil),
        ("local function f() return 1 + f() end return xpcall(f, debug.traceback)", nil),
        ("return xpcall(call, function(m) return call(error, m) end, error, 'x')", nil),
        ("load(('('):rep(100000))", nil), ("assert(load('return ' .. ('{'):rep(100000)))", "overflow"),
        ("assert(load('x = ' .. ('-'):rep(0) .. ('not '):rep(100000) .. '1'))", "overflow"),
        ("return ('x'):rep(1000000):find(('(x)'):rep(100000))", "too many captures"),
        ("return ('x'):rep(1000):find(('x?'):rep(100000))", "pattern too complex"),
        ("return ('x'):rep(1000):gsub('x', ('%1'):rep(100000))", nil),
        ("return string.format(('%d'):rep(100000), 1)", "bad argument"),
        ("return ('%999d'):format(1)", "invalid conversion"),
        ("return table.unpack({}, 1, 1 << 40)", "too many results"), ("return ('x'):rep(1e7):byte(1, -1)", "too long"),
        ("return ('x'):rep(1 << 40)", "too large"), ("return table.concat({}, 'x', 1, 1 << 60)", "invalid value"),
        (
            """
            local function make(n)
              local co = coroutine.create(function()
                local x <close> = setmetatable({}, { __close = function() coroutine.close(make(n + 1)) end })
                coroutine.yield()
              end)
              coroutine.resume(co)
              return co
            end
            coroutine.close(make(1))
            """, nil
        ),
        (
            """
            local function fail(n)
              coroutine.wrap(function()
                local x <close> = setmetatable({}, { __close = function() fail(n + 1) end })
                error('x', 0)
              end)()
            end
            fail(1)
            """, "C stack overflow"
        ),
        (
            """
            local co
            co = coroutine.create(function()
              local x <close> = setmetatable({}, { __close = function() coroutine.close(co) end })
              coroutine.yield()
            end)
            coroutine.resume(co)
            local ok, err = coroutine.close(co)
            error(err, 0)
            """, "cannot close a running coroutine"
        ),
        ("coroutine.close(coroutine.running())", "cannot close a running coroutine"),
        ("coroutine.wrap(function() call(coroutine.yield) end)()", "attempt to yield"),
        ("local co co = coroutine.wrap(function() return co() end) co()", "cannot resume non-suspended coroutine"),
    ]

    @Test("a script that nests without end gets an error, not a crash", arguments: nestings)
    func nested(script: String, message: String?) throws {
        let fixture = try Fixture()
        let watchdog = Watchdog(script)
        defer { watchdog.done() }
        do {
            try fixture.run(script)
            #expect(message == nil, "it ended without an error")
        } catch let error as LuaError {
            if let message { #expect(error.message.contains(message), "\(error.message)") }
        }
        try expectUsable(fixture)
    }

    @Test("the same on a thread with a small stack", arguments: [512, 1024])
    func nestedOnSmallStack(kilobytes: Int) async throws {
        await #expect(processExitsWith: .success) { [kilobytes] in
            OwnThread.run(stackSize: kilobytes << 10) {
                for (script, _) in HostileTests.nestings {
                    guard let fixture = try? Fixture() else { exit(2) }
                    _ = fixture.failure(of: script)
                    guard (try? fixture.show("1 + 1")) == "2" else { exit(1) }
                }
            }
        }
    }

    @Test(
        "any value may be raised, and comes back as it was",
        arguments: [
            ("error()", "nil was raised as an error"), ("error(nil)", "nil was raised as an error"),
            ("error({})", "{}"),
            ("error(setmetatable({}, { __tostring = function() return 'mine' end }))", "mine"),
            (
                "error(setmetatable({}, { __tostring = function() error('x') end }))",
                "(an error object is a table value)"
            ),
            ("error(setmetatable({}, { __tostring = function() return 5 end }))", "5"),
            ("error(coroutine.create(print))", "thread: "), ("error(print)", "function: "), ("error(true)", "true"),
            ("error(Counter(3))", "Counter(3)"), ("error(42)", "42"), ("call(error)", "nil was raised as an error"),
            ("call(call, error, setmetatable({}, { __tostring = function() return 'mine' end }))", "mine"),
            ("coroutine.wrap(error)(nil)", "nil was raised as an error"),
        ])
    func raised(script: String, message: String) throws {
        let fixture = try Fixture()
        let error = try #require(#expect(throws: LuaError.self) { try fixture.run(script) })
        #expect(error.message.hasPrefix(message), "\(error.message)")
        try expectUsable(fixture)
    }

    // MARK: Memory and output

    @Test(
        "a script that eats memory gets an error of that kind, wherever it does",
        arguments: [
            "return ('x'):rep(100000000)", "local s = 'x' while true do s = s .. s end",
            "local t = {} for i = 1, math.huge do t[i] = {} end", "return ('x'):rep(1000000):gsub('x', ('y'):rep(100))",
            "return table.concat(setmetatable({}, { __index = rawlen }), ('x'):rep(1000), 1, 1 << 40)",
            "return ('x'):rep(3000000):upper():lower():reverse():rep(3)", "local function f() return 1, f() end f()",
            "local t = {} while true do t[#t + 1] = coroutine.create(function() end) end",
            "call(function() local t = {} for i = 1, math.huge do t[i] = Counter(i) end end)",
            "return assert(load('return {' .. ('{1},'):rep(1000000) .. '}'))()",
            "return ('x'):rep(1000000):find(('x'):rep(900000) .. '.?')",
        ])
    func memory(script: String) throws {
        let fixture = try Fixture(limits: LuaLimits(memory: 8 << 20))
        let error = #expect(throws: LuaError.self) { try fixture.run(script) }
        let message = error?.message ?? ""
        #expect(message.contains("not enough memory") || message.contains("stack overflow"), "\(message)")
        try expectUsable(fixture)
        #expect(fixture.state.liveObjects < 20)
        // Tables that were large once keep their size until they are filled again.
        #expect(fixture.state.memory.used < 4 << 20)
    }

    @Test("output beyond its limit raises once, and is dropped then")
    func output() throws {
        let fixture = try Fixture(limits: LuaLimits(output: 10))
        let script = """
            local failures = 0
            for i = 1, 1000 do
              if not pcall(print, ('x'):rep(100)) then failures = failures + 1 end
              if not pcall(io.write, ('x'):rep(100)) then failures = failures + 1 end
              if not pcall(io.stdout.write, io.stdout, ('x'):rep(100)) then failures = failures + 1 end
            end
            return failures
            """
        #expect(try fixture.run(script).first?.integerValue == 1)
        #expect(fixture.state.output >= 300_000)
        fixture.state.resetOutput()
        #expect(fixture.state.output == 0)
        let error = #expect(throws: LuaError.self) { try fixture.run("io.stderr:write(('x'):rep(11))") }
        #expect(error?.message == "test:1: output limit reached (10 bytes): what follows is dropped")
        #expect(try fixture.state.countOutput(1) == false)
    }
}
