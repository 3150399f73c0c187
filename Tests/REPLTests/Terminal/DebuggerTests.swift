import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// The debugger as a person uses it.
@Suite("The debugger on a terminal", .serialized)
struct DebuggerTests {
    let program: Program

    init() throws {
        program = try Program()
        try program.scratch.write(Self.script, to: "main.lua")
    }

    private static let script = """
        local rate = 0.2

        function discount(order)
          local part = order.total * rate
          return order.total - part
        end

        function all(orders)
          local sum = 0
          for _, order in ipairs(orders) do
            sum = sum + discount(order)
          end
          return sum
        end
        """

    /// The prompt behind the mark of a new line, unlike a comparison.
    private static let prompt = "   > "

    private func prompt(_ options: String...) throws -> PseudoTerminal {
        let terminal = try program.terminal(["--no-color"] + options, columns: 200, rows: 50, environment: [:])
        try terminal.waitForPrompt()
        return terminal
    }

    /// Types lines, and waits after each for its texts, which it does not hold itself.
    private func talk(_ terminal: PseudoTerminal, _ exchanges: (typed: String, texts: [String])...) throws {
        for exchange in exchanges {
            try terminal.sendLine(exchange.typed)
            for text in exchange.texts { try terminal.expect(text) }
        }
    }

    @Test("a breakpoint, the variables, an assignment, steps, and on")
    func session() throws {
        let terminal = try prompt("-i", "main.lua")
        try talk(
            terminal,
            (":break main.lua:4 if order.total > 50", ["breakpoint 1: main.lua:4 if order.total > 50", Self.prompt]),
            (
                "print(all{ { total = 10 }, { total = 100 } })",
                [
                    "breakpoint 1 · main.lua:4 in discount", "  3 | function discount(order)",
                    "→ 4 |   local part = order.total * rate", "main.lua:4> ",
                ]
            ),
            (":locals", ["order = { total = 100 }", "main.lua:4> "]),
            (":upvalues", ["rate = 0.2", "main.lua:4> "]), ("rate = 0.5", ["main.lua:4> "]),
            (":next", ["→ 5 |   return order.total - part", "main.lua:5> "]),
            ("part, order.total", ["50.0", "100", "main.lua:5> "]),
            (":up", ["→ 11 |     sum = sum + discount(order)", "main.lua:11> "]),
            ("sum", ["8.0", "main.lua:11> "]), (":down", ["main.lua:5> "]),
            (":where", ["→ 0  main.lua:5 in discount", "1  main.lua:11 in all", "2  [1]:1", "main.lua:5> "]),
            // An empty line repeats the step.
            ("", ["main.lua:10> "]), ("", ["main.lua:12> "]))
        // A variable of the function is the first candidate.
        try terminal.send("or\t")
        try terminal.expect("orders")
        try terminal.send(control: "u")
        try talk(
            terminal, (":continue", ["\n58.0", Self.prompt]),
            (":break", ["main.lua:4 if order.total > 50 · 1 hit", Self.prompt]), (":break off 1", [Self.prompt]),
            (":break", ["no breakpoints", Self.prompt]), (":next", ["no script stands at a break", Self.prompt]))
    }

    @Test("an entry from its first line, a watch, and Ctrl-C")
    func debug() throws {
        let terminal = try prompt("-i", "main.lua")
        try talk(
            terminal, (":watch order and order.total", [Self.prompt]),
            (":debug all{ { total = 10 } }", ["step · [1]:1", "order and order.total", "[1]:1> "]),
            (":step", ["main.lua:9> "]), (":s", ["main.lua:10> "]), ("", ["main.lua:11> "]),
            ("", ["order and order.total = 10", "main.lua:4> "]),
            (":watch (function() while true do end end)()", ["time is up", "main.lua:4> "]),
            (":out", ["main.lua:10> "]))
        // Ctrl-C drops a line that is being typed, and only then stops the script.
        try terminal.send("1 + 1")
        try terminal.expect("1 + 1")
        try terminal.send(control: "c")
        try terminal.expect("main.lua:10> ")
        try terminal.send(control: "c")
        try terminal.expect("interrupted")
        try talk(terminal, ("1 + 1", ["\n2"]))
    }

    @Test("an error breaks where it is raised")
    func error() throws {
        let terminal = try prompt("-i", "main.lua")
        try talk(
            terminal, (":break error", ["uncaught errors break", Self.prompt]),
            (
                "all{ { total = {} } }",
                ["error: main.lua:4: attempt to perform arithmetic on a table value", "main.lua:4> "]
            ), ("order.total", ["\n{}", "main.lua:4> "]))
        try terminal.send(control: "d")
        try terminal.expect("stack traceback")
        try terminal.expect("> ")
    }

    @Test(":up and :down pass the host's functions between coroutines")
    func coroutines() throws {
        let terminal = try prompt()
        try talk(
            terminal, ("inner = coroutine.wrap(function(here) breakpoint() end)", [Self.prompt]),
            ("function outer(there) inner(1) return there end", [Self.prompt]),
            ("outer(2)", ["breakpoint() · [1]:1 in", "[1]:1> "]),
            (":where", ["resumed by", "[C] in inner", "[2]:1 in outer"]),
            (":up", ["[2]:1 in outer", "[2]:1> "]), ("there", ["\n2", "[2]:1> "]),
            (":up", ["there is no further function", "[2]:1> "]), (":down", ["[1]:1> "]), ("here", ["\n1", "[1]:1> "]))
    }

    @Test("a timer breaks while a line is typed, which is there again")
    func timer() throws {
        let terminal = try prompt()
        try talk(terminal, ("timer.after(1, function() breakpoint() end)", ["Timer(", Self.prompt]))
        try terminal.send("1 + 41")
        try terminal.expect("breakpoint() · [1]:1 in function <[1]:1> · the timer after 1.0 s")
        try terminal.expect("[1]:1> ")
        try talk(terminal, (":continue", ["> 1 + 41"]), ("", ["\n42"]))
    }

    @Test("without a terminal nothing waits")
    func piped() throws {
        let output = try program("-e", "breakpoint() print('went on')")
        #expect(output.stdout == "went on\n" && output.stderr.contains("breakpoint() in "))
        let piped = try program(input: "breakpoint()\nprint('went on')\n")
        #expect(piped.stdout == "went on\n")
    }
}
