import Application
import Foundation
import Glibc
import TestSupport
import Testing

/// What a prompt does as a job of a shell: it stops, comes back, and is stopped from outside.
@Suite("The prompt as a job", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct PromptJobTests {
    let program: Program

    init() throws { program = try Program() }

    @Test("SIGTERM to a stopped prompt: after fg it ends without drawing a prompt again")
    func terminatedWhileStopped() throws {
        let shell = try program.shell()
        try shell.startPrompt()
        try shell.pressHome()
        let process = try shell.waitForProcess(named: "cubby", states: "T")
        kill(process, SIGTERM)
        try shell.sendLine("fg; echo status $?")
        let text = try shell.expect("status 0")
        #expect(!text.contains("> "))
    }

    @Test("Ctrl-Z keeps the line that is being edited")
    func suspendedLine() throws {
        let shell = try program.shell()
        try shell.startPrompt()
        try shell.send("40 + ")
        try shell.expect("40 + ")
        try shell.pressHome()
        try shell.sendLine("fg")
        try shell.expect("40 + ")
        try shell.sendLine("2")
        try shell.expect("\n42")
    }

    @Test("Ctrl-Z in the pager stops the application on the screen of before; fg shows the pager again")
    func stopped() throws {
        let shell = try program.shell()
        try shell.sendLine("\"$CUBBY\"")
        try shell.waitForPrompt()
        try shell.sendLine("app:on('didEnterBackground', function() print('go' .. 'ing') end)")
        try shell.expect("Hook(")
        try shell.expect("> ")
        try shell.sendLine("help(items)")
        try shell.expect("space: more")
        try shell.send(control: "z")
        try shell.expect("going")
        try shell.waitForStop()
        let before = shell.rawTranscript.count
        try shell.sendLine("fg")
        try shell.expect("space: more")
        #expect(String(decoding: shell.rawTranscript[before...], as: UTF8.self).contains("\u{1B}[?1049h"))
        try shell.send("q")
        try shell.expect("more lines")
        try shell.expect("> ")
        try shell.sendLine("40 + 2")
        try shell.expect("\n42")
    }

    @Test("after Ctrl-Z and fg :states shows the way; :trace shows the callbacks of the next one")
    func states() throws {
        let shell = try program.shell()
        try shell.startPrompt("--no-color")
        try shell.sendLine(":states")
        try shell.expect("launch  not running")
        try shell.pressHome()
        try shell.sendLine("fg")
        try shell.expect("> ")
        try shell.sendLine(":states")
        try shell.expect("Ctrl-Z (SIGTSTP)  active")
        try shell.expect("fg (SIGCONT)  suspended")
        try shell.sendLine(":trace on")
        try shell.expect("each callback is shown")
        try shell.send(control: "z")
        try shell.expect("applicationDidEnterBackground(_:)")
        try shell.waitForStop()
        try shell.sendLine("fg")
        try shell.expect("applicationDidBecomeActive(_:)")
    }

    // MARK: The debugger

    /// The prompt behind the mark of a new line, unlike a comparison.
    private static let prompt = "   > "

    private func prompt() throws -> PseudoTerminal {
        let shell = try program.shell()
        try shell.startPrompt("--no-color")
        return shell
    }

    /// Types lines, and waits after each for its texts, which it does not hold itself.
    private func talk(_ shell: PseudoTerminal, _ exchanges: (typed: String, texts: [String])...) throws {
        for exchange in exchanges {
            try shell.sendLine(exchange.typed)
            for text in exchange.texts { try shell.expect(text) }
        }
    }

    @Test("Ctrl-Z at a break saves and stops; after fg the break is there; SIGTERM ends")
    func home() throws {
        let shell = try prompt()
        try talk(
            shell, ("items:createItem{ name = 'Lamp' } local word = 'at hand' breakpoint()", ["[1]:1> "]))
        try shell.send(control: "z")
        try shell.expect("Saved all of the Items")
        try shell.waitForStop()
        #expect(program.isSaved)
        try talk(shell, ("fg", ["[1]:1> "]), ("word", ["\"at hand\"", "[1]:1> "]))
        let process = try shell.waitForProcess(named: "cubby")
        kill(process, SIGTERM)
        try shell.waitForEnd(of: process)
    }

    @Test("a breakpoint in didEnterBackground: the break ends with its time, and the items are saved")
    func background() throws {
        let shell = try prompt()
        try talk(
            shell,
            (
                "app:on('didEnterBackground', function() items:createItem{ name = 'late' } breakpoint() end)",
                ["Hook(", Self.prompt]
            ))
        try shell.send(control: "z")
        try shell.expect("breakpoint() · [1]:1")
        try shell.expect("the break ends: the handler's time is up", timeout: 20)
        try shell.expect("Saved all of the Items")
        try shell.waitForStop()
        #expect(program.isSaved)
        #expect(try program.itemCount() == "1")
        try talk(shell, ("fg", ["> "]), ("1 + 1", ["\n2"]))
    }
}

/// Hosts that are stopped while prompts are attached, other users, and programs within the kernel's fence.
@Suite("Attached prompts as jobs", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct AttachJobTests {
    let program: Program

    init() throws { program = try Program() }

    /// The host answers, and a signal ends it with its own status.
    private func expectAlive(_ host: PseudoTerminal, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try AttachPeer(program).ask("return 6 * 7").text == "42\n", sourceLocation: sourceLocation)
        host.terminate()
        #expect(try host.waitForExit() == .exited(0), sourceLocation: sourceLocation)
    }

    @Test("started in the background it is stopped at the terminal, as any program, and is a prompt after fg")
    func background() throws {
        let host = try program.host()
        let shell = try program.shell()
        try shell.sendLine("\"$CUBBY\" attach &")
        try shell.waitForProcess(named: "cubby", states: "T")
        try shell.sendLine("echo \"shell\" reads")
        try shell.expect("shell reads")
        // A stopped prompt holds nobody up.
        #expect(try program("attach", "-e", "return 6 * 7").stdout == "42\n")
        try shell.sendLine("fg")
        try shell.expect("attached> ")
        try shell.enter("print(\"and \" .. \"here\")", andExpect: "and here")
        try shell.sendLine(":quit")
        try expectAlive(host)
    }

    @Test("Tab asks the host; files are those of this side; a busy host leaves the keys alone")
    func completion() throws {
        let host = try program.host()
        let prompt = try program.terminal("attach")
        try prompt.expect("attached> ")
        try prompt.sendLine("treasures = { goldenCup = 1 }")
        try prompt.expect("attached> ")
        try prompt.send("treasures.gol\t")
        // What is on the screen already is not drawn again.
        try prompt.expect("denCup")
        try prompt.send(control: "c")
        try prompt.expect("attached> ")
        try Data("loaded = 'from this side'\n".utf8).write(to: URL(filePath: program.scratch.file("unique-script.lua")))
        try prompt.send(":load \(program.scratch.path)/unique-\t")
        try prompt.expect("unique-script.lua")
        try prompt.send("\r")
        try prompt.expect("attached> ")
        try prompt.sendLine("loaded")
        try prompt.expect("\"from this side\"")
        try prompt.expect("attached> ")
        let other = try program.terminal("attach", "-e", "print('bu' .. 'sy') while not rawget(_G, 'free') do end")
        try other.expect("busy")
        try prompt.send("treasures.gol\tx")
        try prompt.expect("golx")
        try other.send(control: "c")
        _ = try other.waitForExit()
        try prompt.send("\u{8}\t")
        try prompt.expect("denCup")
        try expectAlive(host)
    }

    @Test("a suspended host: the prompt says so, how it goes on, and waits", arguments: [0, 12])
    func suspended(others: Int) throws {
        let host = try program.host()
        kill(host.pid, SIGSTOP)
        try host.waitForProcess(named: "cubby", states: "T")
        // More than the kernel lets wait for a host that accepts nobody.
        let before = (0..<others).compactMap { _ in try? AttachPeer(program, greets: false) }
        let waiting = try program.terminal("attach", "-e", "return 'at last'")
        try waiting.expect("is suspended: fg in its terminal, or kill -CONT \(host.pid), lets it go on")
        let leaving = try program.terminal("attach")
        try leaving.expect("is suspended")
        try leaving.send(control: "c")
        #expect(try leaving.waitForExit() == .signaled(SIGINT))
        withExtendedLifetime(before) {}
        kill(host.pid, SIGCONT)
        if others == 0 {
            try waiting.expect("\"at last\"")
            #expect(try waiting.waitForExit() == .exited(0))
            try expectAlive(host)
        }
        host.terminate()
        #expect(try host.waitForExit() == .exited(0))
    }

    @Test("without a terminal nobody waits for ever: 75, and the reason", arguments: [0, 12])
    func unattended(others: Int) throws {
        let host = try program.host()
        kill(host.pid, SIGSTOP)
        try host.waitForProcess(named: "cubby", states: "T")
        let before = (0..<others).compactMap { _ in try? AttachPeer(program, greets: false) }
        for input in [["-e", "return 1"], []] {
            let output = try program(["attach", "--timeout", "0.2"] + input, input: "return 2\n")
            #expect(output.status == .exited(75))
            #expect(output.stderr.contains("process \(host.pid)"), "\(output.stderr)")
            #expect(output.stderr.hasSuffix("lets it go on. No answer within 0.2 s\n"), "\(output.stderr)")
        }
        withExtendedLifetime(before) {}
        kill(host.pid, SIGCONT)
        // A long entry of one's own is not given up.
        #expect(
            try program("attach", "--timeout", "0.2", "-e", "timer.sleep(1.2) return 'done'").stdout == "\"done\"\n")
        try expectAlive(host)
    }

    @Test("a host that is suspended while an entry runs: the prompt says so, and Ctrl-C leaves")
    func suspendedMeanwhile() throws {
        let host = try program.host()
        let prompt = try program.terminal("attach")
        try prompt.expect("attached> ")
        kill(host.pid, SIGSTOP)
        try host.waitForProcess(named: "cubby", states: "T")
        try prompt.sendLine("return 1")
        try prompt.expect("is suspended")
        try prompt.send(control: "c")
        #expect(try prompt.waitForExit() == .exited(130))
        kill(host.pid, SIGCONT)
        try expectAlive(host)
    }

    @Test("prompts that leave, interrupt, read slowly and are killed at random moments")
    func soak() throws {
        let seed = String(UInt32.random(in: 1...1_000_000))
        let output = try run(
            "python3", ["\(Project.root)/Tests/Soak/attach.py", program.path, "40", seed], timeout: 300)
        #expect(output.status == .exited(0), "seed \(seed): \(output.stdout)\(output.stderr)")
        #expect(output.stdout.contains("hosts went on"))
    }

    @Test(
        "a program behind the kernel's fence cannot read the key", .enabled(if: Landlock.abi != nil, "needs Landlock"))
    func fencedProgram() throws {
        // It makes the key.
        let host = try program.host()
        defer { host.terminate() }
        let key = "\(program.scratch.file("home"))/.config/cubby/attach.key"
        let text = AttachPeer.key(of: program)
        let read = try program(
            "--container", program.scratch.file("other"), "--allow-run", "-e",
            "print(io.popen('cat \(key) 2>&1'):read('a'))")
        #expect(read.stdout.contains("denied") && !read.stdout.contains(text), "\(read.stdout)\(read.stderr)")
        // Where a grant contains the key, the host takes no attachments.
        let home = program.scratch.file("home")
        let granted = try program(
            "--container", program.scratch.file("other"), "--allow-run", "--allow-read", home, "-e",
            "print(io.popen('test -e ' .. app.container.path .. '/.socket && echo there'):read('a'))")
        #expect(granted.stdout == "\n" && granted.status == .exited(0), "\(granted.stdout)\(granted.stderr)")
    }

    @Test(
        "another user is kept out: by the folder's mode, and by the kernel's word for who connects",
        .enabled(if: geteuid() == 0, "needs root, to be somebody else"))
    func otherUser() throws {
        let host = try program.host()
        let code = """
            import os, socket, sys
            os.setgroups([]); os.setgid(65534); os.setuid(65534)
            s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM); s.settimeout(20)
            try:
                s.connect(sys.argv[1])
                try: s.sendall(b"print(1)")
                except OSError: pass
                print("closed" if s.recv(1) == b"" else "SERVED")
            except PermissionError: print("refused")
            except ConnectionError: print("closed")
            """
        func knock() throws -> String {
            try run("python3", ["-c", code, "\(program.container)/.socket"], environment: program.environment).stdout
        }
        #expect(try knock() == "refused\n")
        // The modes were opened by mistake: the kernel still says who it is.
        for path in [program.scratch.path, program.container] { #expect(chmod(path, 0o755) == 0) }
        #expect(chmod("\(program.container)/.socket", 0o666) == 0)
        #expect(try knock() == "closed\n")
        #expect(try program("attach", "-e", "return #items").stdout == "0\n")
        host.terminate()
        #expect(try host.waitForExit() == .exited(0))
    }
}
