import CommandTestSupport
import TestSupport
import Testing

/// The way out by signals and by Ctrl-C, of programs that have a terminal and no shell.
@Suite("Life cycle without a shell")
struct LifeCycleTests {
    let program: Program

    init() throws { program = try Program() }

    @Test("SIGTERM at the prompt: the way out through every callback, saved, 0")
    func terminatePrompt() throws {
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try terminal.enter(
            "app:on(\"willTerminate\", function(e) log.info(\"bye, \" .. e.cause .. \", \" .. app.state) end) items:createItem() print(\"o\" .. \"k\")",
            andExpect: "ok")
        terminal.terminate()
        try terminal.expect("Saved all of the Items")
        try terminal.expect("bye, SIGTERM, ")
        #expect(try terminal.waitForExit() == .exited(0))
        #expect(program.isSaved)
        #expect(try program.itemCount() == "1")
    }

    @Test("SIGTERM to a script that waits: saved, 0")
    func terminateWaitingScript() throws {
        let terminal = try program.terminal("-e", "items:createItem() print('wai' .. 'ting') app:run()")
        try terminal.expect("waiting")
        terminal.terminate()
        #expect(try terminal.waitForExit() == .exited(0))
        #expect(try program.itemCount() == "1")
    }

    @Test("a signal inside of a transaction: what it did is rolled back, what was before is saved")
    func terminateInTransaction() throws {
        let terminal = try program.terminal(
            "-e",
            "items:createItem() items:transaction(function() items:createItem() print('bu' .. 'sy') while true do end end)"
        )
        try terminal.expect("busy")
        terminal.terminate()
        try terminal.expect("Saved all of the Items")
        #expect(try terminal.waitForExit() == .exited(0))
        #expect(try program.itemCount() == "1")
    }

    @Test("a second SIGTERM passes handlers over, and never the save")
    func secondTermination() throws {
        let terminal = try program.terminal(
            "-e",
            "app:on('didEnterBackground', function() print('ling' .. 'ering') timer.sleep(1000) end) app:on('willTerminate', function() print('never called') end) items:createItem() print('rea' .. 'dy') app:run()"
        )
        try terminal.expect("ready")
        terminal.terminate()
        try terminal.expect("lingering")
        terminal.terminate()
        try terminal.expect("Saved all of the Items")
        #expect(try terminal.waitForExit() == .exited(0))
        #expect(!terminal.transcript.contains("never called"))
        #expect(program.isSaved)
    }

    /// The handler is stopped, and so is the script that waits: without it Ctrl-C would seem to do nothing.
    @Test(
        "Ctrl-C while a handler runs ends the script that waits, too",
        arguments: [
            "io.read()", "timer.sleep(1000)", "app:run()", "coroutine.wrap(function() timer.sleep(1000) end)()",
        ])
    func interruptedInAHandler(waiting: String) throws {
        let terminal = try program.terminal(
            "-e", "timer.after(0.01, function() print('bu' .. 'sy') while true do end end) \(waiting)")
        try terminal.expect("busy")
        try terminal.send(control: "c")
        #expect(try terminal.waitForExit() == .exited(130))
    }
}
