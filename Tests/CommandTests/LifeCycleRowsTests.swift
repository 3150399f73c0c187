import Foundation
import Glibc
import TestSupport
import Testing

/// What happens to the process, row by row of docs/life-cycle.md: the callbacks in their order, as --trace-lifecycle writes
/// them, and what is on disk afterwards.
@Suite("Life cycle, row by row", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct LifeCycleRowsTests {
    let program: Program

    init() throws { program = try Program() }

    static let launch = [
        "application(_:willFinishLaunchingWithOptions:)", "application(_:didFinishLaunchingWithOptions:)",
        "sceneWillEnterForeground(_:)", "applicationDidBecomeActive(_:)", "sceneDidBecomeActive(_:)",
    ]
    static let home = [
        "applicationWillResignActive(_:)", "sceneWillResignActive(_:)", "applicationDidEnterBackground(_:)",
        "sceneDidEnterBackground(_:)",
    ]
    static let back = [
        "applicationWillEnterForeground(_:)", "sceneWillEnterForeground(_:)", "applicationDidBecomeActive(_:)",
        "sceneDidBecomeActive(_:)",
    ]
    static let end = ["applicationWillTerminate(_:)"]

    private var traceText: String {
        (try? String(contentsOfFile: program.scratch.file("trace"), encoding: .utf8)) ?? ""
    }

    /// The trace's callbacks, and their causes.
    private var trace: [(name: String, cause: String)] {
        traceText.split(separator: "\n").filter { $0.contains("(_:") }.map { line in
            let words = line.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
            return (words[0], words.dropFirst(2).joined(separator: " "))
        }
    }

    private func expect(
        _ callbacks: [String], causes: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(trace.map(\.name) == callbacks, sourceLocation: sourceLocation)
        var seen: [String] = []
        for (_, cause) in trace where seen.last != cause { seen.append(cause) }
        #expect(seen == causes, sourceLocation: sourceLocation)
    }

    /// Waits until files say so.
    private func wait(_ what: String, until condition: () -> Bool) throws {
        let deadline = Date(timeIntervalSinceNow: 30)
        while !condition() {
            if deadline.timeIntervalSinceNow < 0 { throw TestFailure("waited in vain \(what): \(trace)") }
            usleep(5000)
        }
    }

    /// `fg`, and the prompt is there: a key before that would be the shell's, or lost with SIGCONT.
    private func comeBack(_ shell: PseudoTerminal, time: Int) throws {
        try shell.sendLine("fg")
        try wait("to come back") { trace.count { $0.name == "sceneDidBecomeActive(_:)" } == time + 1 }
        try shell.enter("print(\"back \" .. app.state)", andExpect: "back active")
    }

    /// A prompt in a shell, its trace in a file, with one item committed and not yet saved.
    private func prompt(_ options: String = "") throws -> PseudoTerminal {
        let shell = try program.shell()
        try shell.startPrompt("--trace-lifecycle \(options) 2>trace")
        try shell.enter("items:createItem() print(\"now \" .. #items)", andExpect: "now 1")
        return shell
    }

    /// Such a prompt, suspended by Ctrl-Z.
    private func suspended() throws -> (PseudoTerminal, pid_t) {
        let shell = try prompt()
        try shell.pressHome()
        return (shell, try shell.waitForProcess(named: "cubby", states: "T"))
    }

    @Test("Ctrl-Z, fg, Ctrl-Z, bg, fg, Ctrl-D")
    func jobControl() throws {
        let shell = try prompt()
        try shell.pressHome()
        #expect(program.isSaved)
        try comeBack(shell, time: 1)
        try shell.pressHome()
        try shell.sendLine("bg")
        // Told, and at rest: a return while handlers are called has their cause.
        try wait("for the background") { trace.last?.name == "applicationDidResumeInBackground(_:)" }
        try shell.waitForProcess(named: "cubby", states: "S")
        try comeBack(shell, time: 2)
        try shell.send(control: "d")
        try shell.expect("$ ")
        let resumed = ["applicationDidResumeInBackground(_:)"]
        expect(
            Self.launch + Self.home + Self.back + Self.home + resumed + Self.back + Self.home + Self.end,
            causes: ["launch", "SIGTSTP", "SIGCONT", "SIGTSTP", "SIGCONT", "terminal", "eof"])
    }

    @Test("started with &, taken up with fg")
    func startedInBackground() throws {
        let shell = try program.shell()
        try shell.sendLine("\"$CUBBY\" --trace-lifecycle -e 'items:createItem() app:run()' 2>trace &")
        try shell.expect("$ ")
        try wait("for the commit") { program.isCommitted }
        try shell.sendLine("fg")
        try wait("for the foreground") { trace.map(\.name).contains("sceneDidBecomeActive(_:)") }
        kill(try shell.waitForProcess(named: "cubby"), SIGTERM)
        try shell.expect("$ ")
        let began = Array(Self.launch.prefix(2)) + Array(Self.home.suffix(2))
        expect(began + Self.back + Self.home + Self.end, causes: ["launch", "terminal", "SIGTERM"])
        #expect(program.isSaved)
        #expect(try program.itemCount() == "1")
    }

    @Test("the shell ends while the job is stopped: it is continued, and saved")
    func shellExits() throws {
        let (shell, process) = try suspended()
        try shell.sendLine("exit")
        try shell.expect("stopped jobs")
        try shell.sendLine("exit")
        _ = try shell.waitForExit()
        try shell.waitForEnd(of: process)
        #expect(Array(trace.map(\.name).prefix(9)) == Self.launch + Self.home)
        #expect(trace.last?.name == "applicationWillTerminate(_:)")
        #expect(try program.itemCount() == "1")
    }

    @Test("SIGTERM, and SIGHUP when the window closes", arguments: [SIGTERM, SIGHUP])
    func terminated(signal: Int32) throws {
        let shell = try prompt()
        let process = try shell.waitForProcess(named: "cubby")
        kill(process, signal)
        try shell.waitForEnd(of: process)
        expect(
            Self.launch + Self.home + Self.end, causes: ["launch", signal == SIGTERM ? "SIGTERM" : "SIGHUP"])
        #expect(program.isSaved)
    }

    @Test("closing the window in front: the way out, saved")
    func windowCloses() throws {
        let shell = try prompt()
        let process = try shell.waitForProcess(named: "cubby")
        shell.hangUp()
        try shell.waitForEnd(of: process)
        expect(Self.launch + Self.home + Self.end, causes: ["launch", "SIGHUP"])
        #expect(program.isSaved)
        #expect(try program.itemCount() == "1")
    }

    @Test("closing the window while suspended: woken without the terminal, and the way out")
    func windowClosesWhileSuspended() throws {
        let (shell, process) = try suspended()
        shell.hangUp()
        try shell.waitForEnd(of: process)
        expect(
            Self.launch + Self.home + ["applicationDidResumeInBackground(_:)"] + Self.end,
            causes: ["launch", "SIGTSTP", "SIGCONT", "SIGHUP"])
        #expect(try program.itemCount() == "1")
    }

    @Test("SIGTERM while suspended waits for fg: the return, then the way out")
    func terminatedWhileSuspended() throws {
        let (shell, process) = try suspended()
        kill(process, SIGTERM)
        try shell.waitForProcess(named: "cubby", states: "T")
        #expect(trace.last?.name == Self.home.last)
        try shell.sendLine("fg; echo status $?")
        try shell.expect("status 0")
        expect(
            Self.launch + Self.home + Self.back + Self.home + Self.end,
            causes: ["launch", "SIGTSTP", "SIGCONT", "SIGTERM"])
        #expect(try program.itemCount() == "1")
    }

    @Test("suspended, nothing runs: neither timers nor the interpreter")
    func suspendedRunsNothing() throws {
        let shell = try prompt()
        try shell.enter(
            "n = 0 timer.every(0.002, function() n = n + 1 fs.write(app.container.tmp .. \"/ticks\", tostring(n)) end) print(\"tick\" .. \"ing\")",
            andExpect: "ticking")
        try wait("for a tick") { FileManager.default.fileExists(atPath: "\(program.container)/tmp/ticks") }
        try shell.pressHome()
        let process = try shell.waitForProcess(named: "cubby", states: "T")
        func used() throws -> [String] {
            [
                try String(contentsOfFile: "\(program.container)/tmp/ticks", encoding: .utf8),
                try String(contentsOfFile: "/proc/\(process)/schedstat", encoding: .utf8),
            ]
        }
        let before = try used()
        // Twenty-five ticks would fit in: what is tested is that nothing happens meanwhile.
        usleep(50_000)
        #expect(try used() == before)
        try comeBack(shell, time: 1)
        try shell.enter("print(\"more \" .. tostring(n > \(before[0])))", andExpect: "more true")
    }

    @Test("background tasks end with their work, or by their expiration when the time is up")
    func backgroundTime() throws {
        let shell = try prompt("--background-time 0.3")
        try shell.enter(
            "function begin(s) local id id = app:beginBackgroundTask(\"work\", function() print(\"exp\" .. \"ired\") end) app:once(\"didEnterBackground\", function() timer.after(s, function() app:endBackgroundTask(id) print(\"do\" .. \"ne\") end) end) end begin(0.02) print(\"o\" .. \"k\")",
            andExpect: "ok")
        try shell.send(control: "z")
        let inTime = try shell.expect("Stopped")
        #expect(inTime.contains("done") && !inTime.contains("expired"))
        try shell.expect("$ ")
        try comeBack(shell, time: 1)
        try shell.enter("begin(600) print(\"lo\" .. \"ng\")", andExpect: "long")
        try shell.send(control: "z")
        let late = try shell.expect("Stopped")
        #expect(late.contains("expired") && !late.contains("done"))
    }

    @Test("kill -9 while suspended: no callback, nothing lost")
    func killedWhileSuspended() throws {
        let (shell, process) = try suspended()
        kill(process, SIGKILL)
        try shell.waitForEnd(of: process)
        expect(Self.launch + Self.home, causes: ["launch", "SIGTSTP"])
        #expect(try program.itemCount() == "1")
    }

    @Test("UIApplicationExitsOnSuspend: Ctrl-Z ends")
    func exitsOnSuspend() throws {
        _ = try program("-e", "defaults:set('UIApplicationExitsOnSuspend', true)")
        let shell = try prompt()
        try shell.send(control: "z")
        try shell.expect("$ ")
        try shell.sendLine("echo status $?")
        try shell.expect("status 0")
        expect(Self.launch + Self.home + Self.end, causes: ["launch", "SIGTSTP"])
        #expect(program.isSaved)
    }

    @Test("background tasks hold the stop up; a second Ctrl-Z expires them at once, and stops once")
    func backgroundTasks() throws {
        let shell = try prompt("--background-time 600")
        try shell.enter(
            "app:beginBackgroundTask(\"upload\", function() items:createItem() print(\"exp\" .. \"ired\") end) app:on(\"didEnterBackground\", function() timer.after(0, function() print(\"left \" .. tostring(app.backgroundTimeRemaining > 590)) end) end) print(\"o\" .. \"k\")",
            andExpect: "ok")
        try shell.send(control: "z")
        try shell.expect("left true")
        try shell.send(control: "z")
        try shell.expect("expired")
        try shell.waitForStop()
        #expect(try program.itemCount() == "2")
        try comeBack(shell, time: 1)
        // Without tasks, one Ctrl-Z after the other is one stop.
        try shell.begin("print(\"bu\" .. \"sy\") while app.state == \"active\" do end", andExpect: "busy")
        try shell.send(control: "z")
        try shell.pressHome()
        try shell.sendLine("fg")
        try shell.waitForProcess(named: "cubby", states: "R")
        try shell.send(control: "c")
        // The loop ends by Ctrl-C only: it has seen no state but the one that it began in.
        try wait("for the interruption") { traceText.hasSuffix("interrupted\n") }
        try shell.enter("print(\"again \" .. app.state)", andExpect: "again active")
    }

    @Test("whatever is typed behind bg and fg finds the foreground, told already")
    func typedAhead() throws {
        let shell = try prompt()
        for round in 1...3 {
            try shell.pressHome()
            // What the first return still had to do, it does before the second stop, or never.
            try shell.sendLine("fg")
            try shell.enter("print(\"first \" .. app.state .. \" \(round)\")", andExpect: "first active \(round)")
            try shell.pressHome()
            try shell.sendLine("bg")
            try shell.waitForProcess(named: "cubby", states: "S")
            try shell.sendLine("fg")
            try shell.enter("print(\"second \" .. app.state .. \" \(round)\")", andExpect: "second active \(round)")
        }
        try shell.send(control: "d")
        try shell.expect("$ ")
        #expect(trace.last?.name == "applicationWillTerminate(_:)")
        #expect(program.isSaved)
    }

    @Test(
        "a script that waits for a line is reached by signals",
        arguments: [
            "io.read()", "io.stdin:read('l')", "for line in io.lines() do print(line) end",
            "local ok = app:on('didEnterBackground', function() end) for line in io.stdin:lines() do print(line) end",
        ])
    func waitsForALine(reading: String) throws {
        let code = "items:createItem() timer.after(0.01, function() print('mean' .. 'while') end) \(reading)"
        let interrupted = try program.terminal("-e", code)
        try interrupted.expect("meanwhile")
        try interrupted.send(control: "c")
        #expect(try interrupted.waitForExit() == .exited(130))
        let ended = try program.terminal("-e", code)
        try ended.expect("meanwhile")
        ended.terminate()
        try ended.expect("Saved all of the Items")
        #expect(try ended.waitForExit() == .exited(0))
        #expect(program.isSaved)
    }

    @Test("a loop that Ctrl-C stopped leaves nothing for the next wait")
    func nothingIsLeftOfAnInterrupt() throws {
        let shell = try prompt()
        try shell.begin("print('bu' .. 'sy') while true do end", andExpect: "busy")
        try shell.send(control: "c")
        try wait("for the interruption") { traceText.hasSuffix("interrupted\n") }
        try shell.enter(
            "coroutine.wrap(function() timer.sleep(0.01) print('sle' .. 'pt') end)()", andExpect: "slept")
    }

    @Test("stopped from outside without a warning: told afterwards")
    func stoppedFromOutside() throws {
        let terminal = try program.terminal(
            "-e",
            "app:on('wasSuspended', function(e) print('gone ' .. tostring(e.seconds > 1) .. ' ' .. e.cause) end) print('rea' .. 'dy') app:run()"
        )
        try terminal.expect("ready")
        // It waits, in the loop: a stop between two waits shows no gap.
        try terminal.waitForProcess(named: "cubby", states: "S")
        terminal.signal(SIGSTOP)
        // The gap is what is tested.
        usleep(1_600_000)
        terminal.signal(SIGCONT)
        try terminal.expect("gone true clock")
        terminal.terminate()
        #expect(try terminal.waitForExit() == .exited(0))
    }

    @Test("focus, when the terminal is asked for it: inactive, and back")
    func focus() throws {
        let shell = try prompt("--focus-events")
        try shell.send(bytes: Array("\u{1B}[O".utf8))
        try wait("for the focus to go") { trace.last?.cause == "focus" }
        // Repeated, as terminals do.
        try shell.send(bytes: Array("\u{1B}[O\u{1B}[I".utf8))
        try wait("for the focus to come back") { trace.last?.name == "sceneDidBecomeActive(_:)" }
        expect(
            Self.launch + Self.home.prefix(2) + Self.back.suffix(2), causes: ["launch", "focus"])
        try shell.send(control: "d")
        try shell.expect("$ ")
        #expect(program.isSaved)
    }

    @Test("focus in tmux: another pane, and back", .enabled(if: Self.hasTmux, "needs tmux"))
    func focusInTmux() throws {
        let server = ["-L", "cubby-\(getpid())", "-f", program.scratch.file("tmux.conf")]
        try program.scratch.write("set -g focus-events on\nset -g default-shell /bin/sh\n", to: "tmux.conf")
        func tmux(_ arguments: String...) throws {
            let result = try run("tmux", server + arguments, environment: program.environment)
            #expect(result.status == .exited(0), "\(arguments): \(result.stderr)")
        }
        let window = try PseudoTerminal(
            "tmux",
            server + [
                "new-session", "exec \"$CUBBY\" --trace-lifecycle --focus-events 2>\(program.scratch.file("trace"))",
            ],
            environment: program.environment, directory: program.scratch.path, columns: 120, rows: 40)
        defer { _ = try? run("tmux", server + ["kill-server"], environment: program.environment) }
        try window.waitForPrompt()
        try window.enter("items:createItem() print(\"now \" .. #items)", andExpect: "now 1")
        try tmux("split-window", "cat")
        try wait("for the other pane") { trace.last?.name == "sceneWillResignActive(_:)" }
        try tmux("select-pane", "-t", "0")
        try wait("for this pane") { trace.last?.name == "sceneDidBecomeActive(_:)" }
        expect(Self.launch + Self.home.prefix(2) + Self.back.suffix(2), causes: ["launch", "focus"])
        try window.send(control: "d")
        try wait("for the end") { trace.last?.name == Self.end.last }
        try wait("for the archive") { program.isSaved }
    }

    private static let hasTmux = (try? run("tmux", ["-V"]))?.status == .exited(0)

    @Test("a question at the prompt waits through bg, and is answered after fg")
    func questionInBackground() throws {
        let file = try program.scratch.write("granted", to: "outside/file")
        let shell = try prompt()
        try shell.begin("fs.read(\"\(file)\")", andExpect: "Allow reading")
        try shell.pressHome()
        try shell.sendLine("bg")
        try shell.waitForProcess(named: "cubby", states: "S")
        try shell.sendLine("echo \"shell\" reads")
        try shell.expect("shell reads")
        try shell.sendLine("fg")
        try shell.expect("Allow reading")
        try wait("to come back") { trace.count { $0.name == "sceneDidBecomeActive(_:)" } == 2 }
        try shell.sendLine("y")
        try shell.expect("\"granted\"")
    }

    @Test("a continuation, or a request to end, before the stop is honoured: the process does not stop")
    func continuedBeforeTheStop() throws {
        let shell = try program.shell()
        try shell.sendLine(
            "\"$CUBBY\" --trace-lifecycle -e \"app:on('didEnterBackground', function() print('ste' .. 'pping') timer.sleep(0.3) end) items:createItem() print('rea' .. 'dy') app:run()\""
        )
        try shell.expect("ready")
        let process = try shell.waitForProcess(named: "cubby", states: "S")
        kill(process, SIGTSTP)
        try shell.expect("stepping")
        kill(process, SIGCONT)
        try shell.expect("sceneDidBecomeActive")
        kill(process, SIGTSTP)
        try shell.expect("stepping")
        kill(process, SIGTERM)
        try shell.expect("applicationWillTerminate")
        try shell.waitForEnd(of: process)
        #expect(program.isSaved)
    }

    @Test("in the background no input is read")
    func noInputInBackground() throws {
        let shell = try prompt()
        try shell.pressHome()
        try shell.sendLine("bg")
        try shell.waitForProcess(named: "cubby", states: "S")
        // What is typed is the shell's.
        try shell.sendLine("echo \"shell\" reads")
        try shell.expect("shell reads")
        try comeBack(shell, time: 1)
        try shell.enter("print(\"and here \" .. #items)", andExpect: "and here 1")
    }
}
