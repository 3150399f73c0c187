import TestSupport
import Testing

@testable import Lua

@Suite("Breakpoints and steps")
struct LuaDebuggerTests {
    struct Trial: CustomTestStringConvertible {
        let title: String
        let script: String
        let answers: [LuaDebugger.Resume]
        let breaks: [String]
        var testDescription: String { title }
    }

    private static let calls = """
        local function f(n)
          local m = n + 1
          return m
        end
        breakpoint()
        local a = f(1)
        local b = a + 1
        """

    static let trials: [Trial] = [
        Trial(
            title: "over a call", script: calls, answers: [.stepOver, .stepOver, .stepOver],
            breaks: ["call 5 chunk", "step 6 chunk", "step 7 chunk"]),
        Trial(
            title: "into a call, and out", script: calls, answers: [.stepIn, .stepIn, .stepOut, .stepOver],
            breaks: ["call 5 chunk", "step 6 chunk", "step 2 f", "step 7 chunk"]),
        Trial(
            title: "over the end of a function",
            script:
                "local function f()\n  breakpoint()\nend\nlocal function g()\n  f()\n  return 1\nend\ng()\nlocal x = 1",
            answers: [.stepOver, .stepOver, .stepOver, .stepOver],
            breaks: ["call 2 f", "step 3 f", "step 6 g", "step 9 chunk"]),
        Trial(
            title: "over a tail call",
            script:
                "local function f()\n  local x = 1\n  return x\nend\nlocal function g()\n  breakpoint()\n  return f()\nend\nlocal x = g()\nlocal y = 1",
            answers: [.stepOver, .stepOver], breaks: ["call 6 g", "step 7 g", "step 10 chunk"]),
        Trial(
            title: "over pcall and an error",
            script: "local function f()\n  error('no')\nend\nbreakpoint()\nlocal ok = pcall(f)\nlocal x = ok",
            answers: [.stepOver, .stepOver], breaks: ["call 4 chunk", "step 5 chunk", "step 6 chunk"]),
        Trial(
            title: "an error ends in its pcall",
            script: "local function f()\n  breakpoint()\n  error('no')\nend\nlocal ok = pcall(f)\nlocal x = ok",
            answers: [.stepOver, .stepOver],
            breaks: ["call 2 function <main.lua:1>", "step 3 function <main.lua:1>", "step 6 chunk"]),
        Trial(
            title: "over a coroutine's resume",
            script:
                "local co = coroutine.wrap(function()\n  local a = 1\n  coroutine.yield(a)\nend)\nbreakpoint()\nco()\nco()\nlocal x = 1",
            answers: [.stepOver, .stepOver, .stepOver],
            breaks: ["call 5 chunk", "step 6 chunk", "step 7 chunk", "step 8 chunk"]),
        Trial(
            title: "into a coroutine, over its yield",
            script:
                "local co = coroutine.wrap(function()\n  coroutine.yield(1)\n  local b = 2\nend)\nbreakpoint()\nco()\nco()\nlocal x = 1",
            answers: [.stepIn, .stepIn, .stepOver, .stepIn, .stepOut],
            breaks: [
                "call 5 chunk", "step 6 chunk", "step 2 function <main.lua:1>", "step 7 chunk",
                "step 3 function <main.lua:1>", "step 8 chunk",
            ]),
        Trial(
            title: "into and over a metamethod",
            script:
                "local t = setmetatable({}, { __add = function(a, b)\n  return 1\nend })\nbreakpoint()\nlocal x = t + 1\nlocal y = t + 2\nlocal z = 1",
            answers: [.stepOver, .stepIn, .stepOut, .stepOver],
            breaks: ["call 4 chunk", "step 5 chunk", "step 2 add", "step 6 chunk", "step 7 chunk"]),
        Trial(
            title: "over a variable that is closed",
            script:
                "do\n  local c <close> = setmetatable({}, { __close = function()\n    local x = 1\n  end })\n  breakpoint()\nend\nlocal y = 1",
            answers: [.stepOver, .stepOver], breaks: ["call 5 chunk", "step 7 chunk"]),
        Trial(
            title: "through a function of the host",
            script: "local function f()\n  local x = 1\nend\nbreakpoint()\ncall(f)\nlocal y = 1",
            answers: [.stepOver, .stepIn, .stepOut],
            breaks: ["call 4 chunk", "step 5 chunk", "step 2 function <main.lua:1>", "step 6 chunk"]),
        Trial(
            title: "on", script: calls + "\nbreakpoint()", answers: [.stepOver, .resume],
            breaks: ["call 5 chunk", "step 6 chunk", "call 8 chunk"]),
    ]

    @Test("a step ends where it should", arguments: trials, [false, true])
    func steps(trial: Trial, inThread: Bool) throws {
        let debug = try DebugTrial()
        debug.answers = trial.answers
        #expect(debug.run(trial.script, inThread: inThread) == nil)
        #expect(debug.breaks == trial.breaks)
    }

    @Test("a breakpoint is found by the end of its path, and moves to a line with code")
    func places() throws {
        let debug = try DebugTrial()
        #expect(debug.debugger.add(LuaBreakpoint(path: "lib/rules.lua", line: 2))?.number == 1)
        let script = "local function f(...)\n\n  -- nothing\n  return ...\nend\nf()"
        debug.run(script, name: "@other/rules.lua")
        #expect(debug.breaks == [])
        debug.run(script, name: "@~/lib/rules.lua")
        #expect(debug.breaks == ["1 4 f"])
        #expect(debug.debugger.breakpoints.map(\.line) == [4])
        #expect(debug.debugger.add(LuaBreakpoint(path: "x", line: 7), lines: [1, 4, 5, 6]) == nil)
        #expect(debug.debugger.add(LuaBreakpoint(path: "x", line: 2), lines: [1, 4, 5, 6])?.line == 4)
        #expect(debug.debugger.remove(1))
        #expect(!debug.debugger.remove(1))
        debug.run(script, name: "@~/lib/rules.lua")
        #expect(debug.breaks.count == 1)
    }

    @Test("the lines with code are those at which a line event comes")
    func codeLines() throws {
        let state = try LuaState()
        let text = """
            local a <const>, b = 1, "text"

            -- a comment
            local function f(...)
              if a then
                return ...
              end
              return 1.5
            end
            for i = 1, 2 do
              f(i)
            end
            """
        #expect(try state.load(text.utf8, name: "@a.lua").codeLines == [1, 5, 6, 8, 9, 10, 11, 12])
        // Further apart than a difference of lines can encode.
        let long = "local x = 1" + String(repeating: "\n", count: 300) + "x = x"
        #expect(try state.load(long.utf8, name: "@a.lua").codeLines == [1, 301])
        guard case .function(let native) = state.globals["print"] else { throw TestFailure("print is not a function") }
        #expect(native.codeLines == [])
    }

    @Test("a condition, a count of hits and a message decide whether a script breaks")
    func conditions() throws {
        let debug = try DebugTrial()
        var messages: [String] = []
        debug.debugger.onMessage = { text, breakpoint in messages.append("\(breakpoint.number): \(text)") }
        let script = "for i = 1, 5 do\n  local double = i * 2\n  last = double\nend"
        debug.debugger.add(LuaBreakpoint(path: "main.lua", line: 3, condition: "i == 2 or double == 10"))
        debug.run(script)
        #expect(debug.breaks == ["1 3 chunk", "1 3 chunk"])
        #expect(debug.debugger.breakpoints.first?.hits == 2)
        debug.debugger.add(LuaBreakpoint(path: "main.lua", line: 3, firstHit: 5))
        debug.run(script)
        #expect(debug.breaks.count == 3)
        debug.debugger.add(
            LuaBreakpoint(path: "main.lua", line: 3, condition: "i > 3", message: "{i} of {double + 1}, {x.y}"))
        debug.run(script)
        #expect(debug.breaks.count == 3)
        #expect(messages.count == 2 && messages.first?.hasPrefix("3: 4 of 9, ((condition):1: ") == true, "\(messages)")
        // A failing condition breaks, and is reported.
        debug.debugger.add(LuaBreakpoint(path: "main.lua", line: 3, condition: "nothing.at.all"))
        debug.debugger.add(LuaBreakpoint(path: "main.lua", line: 2, condition: "i ="))
        debug.run("local i = 1\nlocal a = 1\nlocal b = 1")
        #expect(debug.breaks.suffix(2) == ["5! 2 chunk", "4! 3 chunk"])
    }

    @Test(
        "a condition is one expression",
        arguments: [
            ("n == 5", true), ("n == 5 -- the fifth", true), ("f{ 1, 2 }[1]", true), ("not (n > 1)", true),
            ("...", true),
            ("n = 5", false), ("n = 5 or n == 5", false), ("", false), ("1, 2", false), ("1) or (2", false),
            ("n;", false),
            ("return n", false), ("local n = 1", false), ("if n then end", false), ("n) n = (5", false),
            ("f() g()", false),
        ])
    func expressions(text: String, isOne: Bool) throws {
        let debug = try DebugTrial()
        let debugger = debug.debugger
        for breakpoint in [
            LuaBreakpoint(path: "main.lua", line: 1, condition: text),
            LuaBreakpoint(path: "main.lua", line: 1, message: "it is {\(text)}"),
        ] {
            let isTaken = (try? debugger.check(breakpoint)) != nil
            #expect(isTaken == isOne, "\(breakpoint)")
        }
    }

    @Test("a condition and a message only look: what they assign is an error, and the program's variables stay")
    func looking() throws {
        let debug = try DebugTrial()
        var messages: [String] = []
        debug.debugger.onMessage = { text, _ in messages.append(text) }
        debug.debugger.add(
            LuaBreakpoint(path: "main.lua", line: 3, condition: "(function() n = 5 g = 1 return true end)()"))
        debug.debugger.add(
            LuaBreakpoint(path: "main.lua", line: 4, message: "{({ 'a}' })[1]} {{}} {(function() n = 6 end)()} {n}"))
        debug.run("local n = 1\ng = 0\nlocal a\nlocal b\nseen = n + g")
        #expect(debug.breaks == ["1! 3 chunk"])
        #expect(messages.count == 1 && messages.first?.hasPrefix("a} table: ") == true, "\(messages)")
        #expect(messages.first?.contains("'n' is not assigned here") == true && messages.first?.hasSuffix(" 1") == true)
        #expect(debug.state.globals["seen"] == .integer(1))
    }

    @Test("breakpoints and steps reach handlers of other coroutines and those made before")
    func coroutines() throws {
        let debug = try DebugTrial()
        debug.run("older = coroutine.wrap(function()\n  while true do\n    coroutine.yield()\n  end\nend) older()")
        debug.debugger.add(LuaBreakpoint(path: "main.lua", line: 3))
        debug.run("older() older()", name: "@other.lua")
        #expect(debug.breaks.count == 2)
        debug.debugger.removeAll()
        debug.run("older() older()", name: "@other.lua")
        #expect(debug.breaks.count == 2)
    }
}
