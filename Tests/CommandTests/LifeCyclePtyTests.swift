import Foundation
import Glibc
import TestSupport
import Testing

/// The life cycle as a person drives it: keys and signals, through a real terminal and a real shell.
@Suite("Life cycle in a terminal", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct LifeCyclePtyTests {
    let program: Program

    init() throws { program = try Program() }

    static let events = [
        "willResignActive", "didEnterBackground", "willEnterForeground", "didBecomeActive", "didResumeInBackground",
        "willTerminate", "willSave", "didSave",
    ]

    /// An entry that writes down each event in the global `heard`.
    static let hear =
        "heard = {} for _, name in ipairs{ "
        + events.map { "\"\($0)\"" }.joined(separator: ", ")
        + " } do app:on(name, function(event) heard[#heard + 1] = event.name end) end print(\"lis\" .. \"tening\")"

    /// Three items, each committed as its line ends.
    private func createThree(in terminal: PseudoTerminal) throws {
        for number in 1...3 {
            try terminal.enter(
                "items:createItem{ name = \"n\(number)\" } print(\"now \" .. #items)", andExpect: "now \(number)")
        }
    }

    @Test("Ctrl-Z saves and stops; kill -9 of the stopped process loses nothing")
    func homeAndKill() throws {
        let shell = try program.shell()
        try shell.startPrompt()
        try shell.enter(
            "app:on(\"didEnterBackground\", function(e) log.info(\"going away with \" .. #items .. \" items, \" .. e.cause) end) print(\"o\" .. \"k\")",
            andExpect: "ok")
        try createThree(in: shell)
        try shell.send(control: "z")
        try shell.expect("going away with 3 items, SIGTSTP")
        try shell.expect("Saved all of the Items")
        try shell.waitForStop()
        let process = try shell.waitForProcess(named: "cubby", states: "T")
        #expect(program.isSaved)
        kill(process, SIGKILL)
        try shell.waitForEnd(of: process)

        try shell.sendLine("")
        try shell.startPrompt()
        try shell.enter(
            "print(\"still \" .. #items .. \": \" .. items[1].name .. items[2].name .. items[3].name)",
            andExpect: "still 3: n1n2n3")
    }

    @Test("fg brings it back, and the callbacks come in Cocoa's order, each time")
    func homeAndBack() throws {
        let shell = try program.shell()
        try shell.startPrompt()
        try shell.enter(Self.hear, andExpect: "listening")
        for round in 1...3 {
            try shell.enter("heard = {} items:createItem() print(\"round \" .. \(round))", andExpect: "round \(round)")
            try shell.pressHome()
            try shell.sendLine("fg")
            try shell.expect("> ")
            try shell.enter(
                "print(app.state .. \": \" .. table.concat(heard, \" \"))",
                andExpect: "active: willResignActive didEnterBackground willSave didSave willEnterForeground "
                    + "didBecomeActive")
        }
    }

    @Test("bg goes on without the terminal, and fg takes it up again")
    func backgroundAndForeground() throws {
        let shell = try program.shell()
        try shell.startPrompt()
        try shell.enter(
            "for _, n in ipairs{ \"didResumeInBackground\", \"didBecomeActive\" } do app:on(n, function(e) log.info(\"now \" .. app.state .. \", \" .. e.name) end) end print(\"o\" .. \"k\")",
            andExpect: "ok")
        try shell.pressHome()
        try shell.sendLine("bg")
        try shell.expect("now background, didResumeInBackground")
        try shell.waitForProcess(named: "cubby", states: "SR")
        try shell.sendLine("fg")
        // A job that already runs gets no signal from fg: the program finds out by itself.
        try shell.expect("now active, didBecomeActive")
        try shell.enter("print(\"state \" .. app.state)", andExpect: "state active")
    }

    @Test("a script that is started with & is launched in the background")
    func launchedInBackground() throws {
        let shell = try program.shell()
        try shell.sendLine("\"$CUBBY\" -e 'print(\"launched in: \" .. app.state)' & wait")
        try shell.expect("launched in: background")
    }

    @Test("closing the window saves")
    func hangUp() throws {
        let shell = try program.shell()
        try shell.startPrompt()
        try createThree(in: shell)
        let process = try shell.waitForProcess(named: "cubby")
        shell.hangUp()
        try shell.waitForExit()
        try shell.waitForEnd(of: process)
        #expect(program.isSaved)
        #expect(try program.itemCount() == "3")
    }

    @Test("closing the window of a program without a shell saves, and ends in 0")
    func hangUpOfLeader() throws {
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try createThree(in: terminal)
        terminal.hangUp()
        #expect(try terminal.waitForExit() == .exited(0))
        #expect(program.isSaved)
        #expect(try program.itemCount() == "3")
    }

    @Test("closing the window while stopped: what was saved is there")
    func hangUpWhileStopped() throws {
        let shell = try program.shell()
        try shell.startPrompt()
        try createThree(in: shell)
        try shell.pressHome()
        let process = try shell.waitForProcess(named: "cubby", states: "T")
        shell.hangUp()
        try shell.waitForExit()
        try shell.waitForEnd(of: process)
        #expect(try program.itemCount() == "3")
    }

    @Test("SIGTERM and SIGHUP to a busy script: stopped, saved, 0", arguments: [SIGTERM, SIGHUP])
    func terminateScript(signal: Int32) throws {
        let terminal = try program.terminal(
            "-e", "items:createItem{ name = 'kept' } print('bu' .. 'sy') while true do end")
        try terminal.expect("busy")
        terminal.signal(signal)
        #expect(try terminal.waitForExit() == .exited(0))
        #expect(program.isSaved)
        #expect(try program.itemCount() == "1")
    }

    @Test("SIGTERM waits while the process is stopped, and is honoured when it goes on")
    func terminateWhileStopped() throws {
        let shell = try program.shell()
        try shell.startPrompt()
        try shell.enter(
            "app:on(\"willTerminate\", function(e) log.info(\"bye, \" .. e.cause) end) print(\"o\" .. \"k\")",
            andExpect: "ok")
        try createThree(in: shell)
        try shell.pressHome()
        let process = try shell.waitForProcess(named: "cubby", states: "T")
        kill(process, SIGTERM)
        try shell.sendLine("echo still \"$(jobs | grep -c Stopped)\"")
        try shell.expect("still 1")
        try shell.sendLine("fg; echo status $?")
        try shell.expect("bye, SIGTERM")
        try shell.expect("status 0")
        #expect(try program.itemCount() == "3")
    }

    @Test("Ctrl-C works where whoever started the program had it ignored")
    func interruptIgnored() throws {
        let terminal = try PseudoTerminal(
            "sh", ["-c", "trap '' INT; exec \"$CUBBY\""], environment: program.environment, columns: 200, rows: 50)
        try terminal.waitForPrompt()
        try terminal.begin("print(\"bu\" .. \"sy\") while true do end", andExpect: "busy")
        try terminal.send(control: "c")
        try terminal.expect("interrupted")
        try terminal.enter("print(\"on\" .. \"ward\")", andExpect: "onward")
    }

    @Test("Ctrl-C ends a script with 130, and saves")
    func interruptScript() throws {
        let shell = try program.shell()
        try shell.sendLine(
            "\"$CUBBY\" -e 'items:createItem() print(\"bu\" .. \"sy\") while true do end'; echo status $?")
        try shell.expect("busy")
        try shell.send(control: "c")
        try shell.expect("status 130")
        #expect(program.isSaved)
        #expect(try program.itemCount() == "1")
    }

    @Test("Ctrl-Z pauses a running script, and fg lets it go on")
    func pauseScript() throws {
        let shell = try program.shell()
        try program.scratch.write(
            """
            local go = false
            app:on("didBecomeActive", function() go = true end)
            items:createItem()
            print("run" .. "ning")
            while not go do end
            print("went on, " .. app.state)
            """, to: "busy.lua")
        try shell.sendLine("\"$CUBBY\" run busy.lua; echo status $?")
        try shell.expect("running")
        try shell.send(control: "z")
        try shell.expect("Saved all of the Items")
        try shell.waitForStop()
        try shell.sendLine("fg; echo status $?")
        try shell.expect("went on, active")
        try shell.expect("status 0")
    }

    @Test("kill -9 in the middle: the journal keeps the lines that ended")
    func killWithoutWarning() throws {
        let shell = try program.shell()
        try shell.startPrompt()
        try createThree(in: shell)
        try shell.begin("items:createItem() print(\"half\" .. \"way\") while true do end", andExpect: "halfway")
        let process = try shell.waitForProcess(named: "cubby")
        kill(process, SIGKILL)
        try shell.expect("Killed")
        #expect(!program.isSaved)
        #expect(try program.itemCount() == "3")
        try shell.sendLine("")
        try shell.startPrompt()
        try shell.enter("print(\"still \" .. #items)", andExpect: "still 3")
    }

    @Test("Ctrl-Z inside of a transaction stops it, and it goes on after fg and is saved")
    func pauseInTransaction() throws {
        let shell = try program.shell()
        try program.scratch.write(
            """
            local go = false
            app:on("didBecomeActive", function() go = true end)
            items:createItem()
            items:transaction(function()
              items:createItem()
              print("in" .. "side")
              while not go do end
            end)
            print("ended with " .. #items)
            """, to: "transaction.lua")
        try shell.sendLine("\"$CUBBY\" run transaction.lua; echo status $?")
        try shell.expect("inside")
        try shell.pressHome()
        try shell.sendLine("fg; echo status $?")
        try shell.expect("ended with 2")
        try shell.expect("status 0")
        #expect(try program.itemCount() == "2")
    }

    @Test("Ctrl-Z without job control saves and goes on at once")
    func noJobControl() throws {
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try terminal.enter(Self.hear, andExpect: "listening")
        try createThree(in: terminal)
        try terminal.send(control: "z")
        try terminal.expect("Saved all of the Items")
        try terminal.enter(
            "print(app.state .. \": \" .. table.concat(heard, \" \"))",
            andExpect:
                "active: willResignActive didEnterBackground willSave didSave willEnterForeground didBecomeActive")
        try terminal.send(control: "d")
        #expect(try terminal.waitForExit() == .exited(0))
    }

    @Test("a terminal that is too simple for editing has a plain prompt with the same life cycle")
    func plainTerminal() throws {
        let shell = try PseudoTerminal.shell(
            environment: program.environment.merging(["TERM": "dumb"]) { $1 }, directory: program.scratch.path)
        try shell.startPrompt()
        try createThree(in: shell)
        try shell.send(control: "z")
        try shell.expect("Saved all of the Items")
        try shell.waitForStop()
        try shell.sendLine("fg")
        try shell.expect("> ")
        try shell.enter("print(\"state \" .. app.state)", andExpect: "state active")
        try shell.send(control: "d")
        try shell.expect("$ ")
        #expect(try program.itemCount() == "3")
    }
}
