import CommandTestSupport
import TestSupport
import Testing

/// Ctrl-C, Ctrl-D and the Home button at the prompt.
@Suite("The keys that stop and end", .serialized)
struct PromptKeysTests {
    let program: Program

    init() throws { program = try Program() }

    /// Three items, each committed as its line ends.
    private func createThree(in terminal: PseudoTerminal) throws {
        for number in 1...3 {
            try terminal.enter(
                "items:createItem{ name = \"n\(number)\" } print(\"now \" .. #items)", andExpect: "now \(number)")
        }
    }

    @Test("Ctrl-C stops a busy entry and keeps the session and its globals")
    func interrupt() throws {
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try terminal.enter("kept = 42 print(\"o\" .. \"k\")", andExpect: "ok")
        for _ in 1...2 {
            try terminal.begin("items:createItem() print(\"bu\" .. \"sy\") while true do end", andExpect: "busy")
            try terminal.send(control: "c")
            try terminal.expect("interrupted")
            try terminal.expect("> ")
        }
        // What an entry did before it was stopped is committed.
        try terminal.enter("print(\"kept \" .. kept .. \", \" .. #items)", andExpect: "kept 42, 2")
        try terminal.begin("print(\"wai\" .. \"ting\") timer.sleep(1000)", andExpect: "waiting")
        try terminal.send(control: "c")
        try terminal.expect("interrupted")
        try terminal.enter("print(\"kept \" .. kept)", andExpect: "kept 42")
    }

    @Test("Ctrl-C stops hostile entries, whatever they loop in, and the prompt is back with its globals")
    func interruptHostile() throws {
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try terminal.enter("kept = 42 print(\"o\" .. \"k\")", andExpect: "ok")
        let bodies = [
            "while true do pcall(function() while true do end end) end",
            "while true do xpcall(error, function() while true do end end) end",
            "while true do pcall(coroutine.wrap(function() while true do end end)) end",
            "local function f() pcall(f) pcall(f) end f()",
            "do local t <close> = setmetatable({}, { __close = function() while true do end end }) end",
            "table.sort({ 3, 2, 1 }, function() while true do end end)",
            "local _ = (\"a\"):rep(40):find((\"a?\"):rep(40) .. (\"a\"):rep(40))",
            "items:transaction(function() items:createItem() while true do end end)",
        ]
        for body in bodies {
            try terminal.begin("print(\"bu\" .. \"sy\") \(body)", andExpect: "busy")
            try terminal.send(control: "c")
            try terminal.expect("interrupted")
            try terminal.expect("> ")
        }
        // The value that the prompt is about to show.
        try terminal.begin(
            "return setmetatable({}, { __tostring = function() print(\"bu\" .. \"sy\") while true do end end })",
            andExpect: "busy")
        try terminal.send(control: "c")
        try terminal.expect("(tostring failed)")
        try terminal.enter("print(\"kept \" .. kept .. \", \" .. #items)", andExpect: "kept 42, 0")
    }

    @Test("app:pressHome at the prompt saves and never stops the process")
    func pressHome() throws {
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try createThree(in: terminal)
        try terminal.enter("app:pressHome() print(\"in \" .. app.state)", andExpect: "in background")
        #expect(program.isSaved)
        try terminal.enter("app:open() print(\"and \" .. app.state)", andExpect: "and active")
        try terminal.send(control: "d")
        #expect(try terminal.waitForExit() == .exited(0))
    }

    @Test("Ctrl-D is the orderly way out")
    func endOfInput() throws {
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try createThree(in: terminal)
        try terminal.send(control: "d")
        try terminal.expect("Saved all of the Items")
        #expect(try terminal.waitForExit() == .exited(0))
        #expect(try program.itemCount() == "3")
    }
}
