import TestSupport
import Testing

@testable import Lua

@Suite("A script at a break")
struct LuaBreakTests {
    private static let script = """
        local outer, list = 10, { 1, 2 }
        local function f(a, ...)
          local hidden = 1
          local hidden = a + 1
          do local gone = 5 end
          breakpoint()
          return hidden + outer
        end
        result = f(5, "x", nil, true)
        """

    @Test("its variables are read by name, the innermost of a name, without those out of scope")
    func variables() throws {
        let debug = try DebugTrial()
        var seen: [String] = []
        debug.look = { stop in
            let call = stop.innermost
            func text(_ variables: [LuaBreak.Variable]) -> String {
                variables.map { "\($0.name)=\(debug.state.describe($0.value))" }.joined(separator: " ")
            }
            seen = [
                text(stop.locals(of: call)), text(stop.upvalues(of: call)),
                stop.varargs(of: call).map { debug.state.describe($0).description }.joined(separator: " "),
                stop.locals(of: call + 1).map(\.name).joined(separator: " "),
                stop.calls.map { "\($0.source):\($0.line ?? 0):\($0.title)" }.joined(separator: " "),
            ]
        }
        #expect(debug.run(Self.script) == nil)
        #expect(
            seen == [
                "a=5 hidden=6", "outer=10", "x nil true", "outer list f",
                "main.lua:6:f main.lua:9:chunk",
            ])
    }

    @Test(
        "a text sees the variables of the function, then the globals",
        arguments: [
            ("hidden", "6"), ("outer + a", "15"), ("select('#', ...), ...", "3 x nil true"), ("gone", "nil"),
            ("math.max(a, hidden)", "6"), ("local x = a return x * 2", "10"), ("list", "nil"),
            ("a = 7", ""), ("nothing.at", "error: (break):1: attempt to index a nil value (global 'nothing')"),
            ("1 +", "error: (break):1: unexpected symbol near '1'"),
            ("select(2, pcall(coroutine.yield)):sub(1, 41)", "attempt to yield across a C-call boundary"),
            ("(function() return hidden end)()", "6"), ("_ENV == nil, rawget(_G, 'a') == nil", "false true"),
        ])
    func evaluated(text: String, value: String) throws {
        let debug = try DebugTrial()
        var seen = ""
        debug.look = { seen = debug.value(text, in: $0) }
        #expect(debug.run(Self.script) == nil)
        #expect(seen == value)
    }

    @Test("an assignment goes to the local variable, the upvalue or the global, and the script goes on with it")
    func assigned() throws {
        let debug = try DebugTrial()
        debug.look = { stop in
            _ = debug.value("hidden = 100 outer = 1 shared = 'g'", in: stop)
            _ = debug.value("list[1] = 'x'", in: stop, at: stop.innermost + 1)
            _ = debug.value("function kept() return hidden end", in: stop)
        }
        #expect(debug.run(Self.script + "\nfirst = list[1] .. tostring(a) after = kept()") == nil)
        // A function that was created at the break finds no variables after it.
        #expect(try debug.fixture.show("result, shared, outer, first, after") == "101 g nil xnil nil")
    }

    @Test("the functions of all coroutines that have resumed one another are there")
    func calls() throws {
        let debug = try DebugTrial()
        var seen: [String] = []
        debug.look = { stop in seen = stop.calls.map { "\($0.coroutine) \($0.line ?? 0) \($0.title)" } }
        debug.run(
            "local function inner()\n  breakpoint()\nend\nlocal co = coroutine.wrap(function()\n  inner()\nend)\ncall(function()\n  co()\nend)"
        )
        #expect(
            seen == [
                "0 2 inner", "0 5 function <main.lua:4>", "1 0 co",
                "1 8 function <main.lua:7>", "1 0 call", "1 7 chunk",
            ], "\(seen)")
    }

    @Test("a function that a tail call gave no name has that of its global variable")
    func globalNames() throws {
        let debug = try DebugTrial()
        var seen: [String] = []
        debug.look = { stop in seen = stop.calls.map(\.title) }
        debug.run("local function f()\n  breakpoint()\nend\nfunction g()\n  f()\nend\nlocal h = g\nreturn h()")
        #expect(seen == ["f", "g"])
        debug.run("g = nil\nlocal function f()\n  breakpoint()\nend\nreturn f()")
        #expect(seen == ["function <main.lua:2>"])
    }

    @Test("deep recursion gives its innermost and its outermost functions", arguments: [180, 197, 198, 199, 5000])
    func deep(depth: Int) throws {
        let debug = try DebugTrial()
        var (lines, gap): ([String], (position: Int, count: Int)?) = ([], nil)
        debug.look = { stop in
            gap = stop.gap
            lines = stop.lines { $0.map { "\(stop.calls[$0].line ?? 0)" } ?? stop.gapText }
        }
        debug.run(
            """
            local function f(n)
              if n == 0 then breakpoint() return 0 end
              return 1 + f(n - 1)
            end
            coroutine.wrap(function()
              f(\(depth))
            end)()
            """)
        // The innermost f, the others, the coroutine's function, its call, and the chunk.
        let all = ["2"] + Array(repeating: "3", count: depth) + ["6", "0", "5"]
        if all.count <= 200 {
            #expect(lines == all && gap == nil)
        } else {
            #expect(lines.filter { !$0.hasPrefix("…") } == all.prefix(180) + all.suffix(20))
            #expect(gap?.position == 180 && gap?.count == all.count - 200)
        }
    }

    // MARK: Errors

    @Test(
        "an error that nobody catches breaks where it is raised",
        arguments: [
            ("local t\nlocal x = 1\nreturn t.x", ["error 3 chunk"]),
            ("local function f(n)\n  error({ n })\nend\nf(1)", ["error 2 f"]),
            ("pcall(error, 1)\nxpcall(error, print)\ncoroutine.resume(coroutine.create(error))", []),
            (
                "local co = coroutine.wrap(function()\n  local deep = 1\n  error('in')\nend)\nco()",
                ["error 3 function <main.lua:1>"]
            ),
            ("pcall(coroutine.wrap(function()\n  error('in')\nend))", []),
            ("call(function()\n  error('in')\nend)", ["error 2 function <main.lua:1>"]),
        ])
    func uncaught(script: String, breaks: [String]) throws {
        let debug = try DebugTrial()
        debug.debugger.errors = .uncaught
        debug.run(script)
        #expect(debug.breaks == breaks)
    }

    @Test(
        "with all errors those that are caught break, too, once each",
        arguments: [
            ("pcall(function()\n  local x = nil + 1\nend)", ["error 2 function <main.lua:1>"]),
            ("xpcall(function()\n  error('no')\nend, print)", ["error 2 function <main.lua:1>"]),
            (
                "coroutine.resume(coroutine.create(function()\n  error('no')\nend))\npcall(error)",
                ["error 2 function <main.lua:1>", "error 4 chunk"]
            ),
            (
                "pcall(coroutine.wrap(function()\n  error('in')\nend))\npcall(error)",
                ["error 2 function <main.lua:1>", "error 4 chunk"]
            ),
            ("error('no')", ["error 1 chunk"]),
        ])
    func caught(script: String, breaks: [String]) throws {
        let debug = try DebugTrial()
        debug.debugger.errors = .all
        debug.run(script)
        #expect(debug.breaks == breaks)
        debug.debugger.errors = .none
        debug.run(script)
        #expect(debug.breaks == breaks)
    }

    @Test("the error's value and the variables are there")
    func raised() throws {
        let debug = try DebugTrial()
        debug.debugger.errors = .uncaught
        var seen: [String] = []
        debug.look = { stop in
            guard case .error(let value) = stop.reason else { return }
            seen.append(debug.state.describe(value).description + " " + debug.value("x", in: stop))
        }
        debug.run("local x = 5\nerror('no', 0)")
        debug.run("coroutine.wrap(function() local x = 6 error('in', 0) end)()")
        #expect(seen == ["no 5", "in 6"])
    }

    // MARK: Stops

    @Test("a script that is stopped at a break ends, past its pcall", arguments: [false, true])
    func stopped(inThread: Bool) throws {
        for script in [
            "breakpoint() after = 1", "pcall(function() breakpoint() after = 1 end) after = 2",
            "coroutine.wrap(function() breakpoint() end)() after = 3",
            "local function f()\n  local x = 1\n  after = 4\nend\npcall(f)",
            "table.sort({ 2, 1 }, function() breakpoint() end) after = 5",
        ] {
            let debug = try DebugTrial()
            debug.debugger.add(LuaBreakpoint(path: "main.lua", line: 3))
            debug.answers = [.stop(LuaError(.cancelled, "stopped"), depth: 1)]
            #expect(debug.run(script, inThread: inThread)?.kind == .cancelled, "\(script)")
            #expect(debug.breaks.count == 1 && debug.state.globals["after"].isNil)
            #expect(try debug.fixture.show("1 + 1") == "2")
        }
    }

    @Test("every hostile script is stopped with a breakpoint set", arguments: HostileTests.endless)
    func hostile(script: String) throws {
        let watchdog = Watchdog(script)
        defer { watchdog.done() }
        let debug = try DebugTrial()
        debug.debugger.add(LuaBreakpoint(path: "main.lua", line: 1, condition: "false"))
        debug.debugger.add(LuaBreakpoint(path: "other.lua", line: 1))
        debug.state.interruptHandler = { reasons in
            reasons.contains(.deadline) ? .stop(LuaError(.deadline, "time is up"), depth: 1) : .resume
        }
        for name in ["@main.lua", "@some.lua"] {
            debug.state.setDeadline(.seconds(0.02))
            #expect(debug.run(script, inThread: false, name: name)?.kind == .deadline)
            debug.state.setDeadline(nil)
            #expect(try debug.fixture.show("1 + 1") == "2")
        }
    }

    @Test("a deadline ends what is evaluated at a break, and then the script")
    func deadline() throws {
        let debug = try DebugTrial()
        let watchdog = Watchdog("a loop at a break")
        defer { watchdog.done() }
        debug.state.interruptHandler = { reasons in
            reasons.contains(.deadline) ? .stop(LuaError(.deadline, "time is up"), depth: 1) : .resume
        }
        var seen = ""
        debug.look = { stop in
            debug.state.setDeadline(.seconds(0.02))
            seen = debug.value("(function() while true do pcall(error) end end)()", in: stop)
        }
        #expect(debug.run("breakpoint() after = 1")?.kind == .deadline)
        debug.state.setDeadline(nil)
        #expect(seen == "error: time is up" && debug.state.globals["after"].isNil)
        #expect(try debug.fixture.show("1 + 1") == "2")
    }
}
