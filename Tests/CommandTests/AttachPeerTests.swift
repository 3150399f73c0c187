import Foundation
import Glibc
import TestSupport
import Testing

/// Attached prompts that leave, interrupt, read slowly or talk nonsense: the host goes on, and ends with its own status.
@Suite("Attached peers", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct AttachPeerTests {
    private typealias ExitStatus = TestSupport.ExitStatus

    let program: Program

    init() throws { program = try Program() }

    private func host(_ code: String = "app:run()") throws -> PseudoTerminal {
        let host = try program.terminal("-e", "print('rea' .. 'dy') \(code)")
        try host.expect("ready")
        return host
    }

    /// The host answers, and a signal ends it with its own status.
    private func expectAlive(_ host: PseudoTerminal, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try AttachPeer(program).ask("return 6 * 7").text == "42\n", sourceLocation: sourceLocation)
        host.terminate()
        #expect(try host.waitForExit() == .exited(0), sourceLocation: sourceLocation)
    }

    // MARK: Whom a cancel is for

    /// Code of scripts that runs at some moment of an entry: it says `go`, and goes on until it is stopped.
    static let moments: [(String, String)] = [
        ("the entry itself", "print('go') while true do end"),
        ("a wait", "print('go') timer.sleep(1000)"),
        (
            "a wait with a variable to close",
            "local x <close> = setmetatable({}, { __close = function() while true do end end }) print('go') timer.sleep(1000)"
        ),
        ("a wait in place", "table.sort({ 1, 2, 3 }, function() print('go') timer.sleep(1000) end)"),
        ("a handler", onEvent("while true do end")), ("a handler that waits", onEvent("timer.sleep(1000)")),
        ("showing its value", "return setmetatable({}, { __tostring = function() print('go') while true do end end })"),
        ("showing its error", "error(setmetatable({}, { __tostring = function() print('go') while true do end end }))"),
        (
            "closing a variable",
            "local x <close> = setmetatable({}, { __close = function() print('go') while true do end end })"
        ),
    ]

    private static func onEvent(_ code: String) -> String {
        "app:on('user.x', { budget = 0 }, function() print('go') \(code) end) app:emit('user.x')"
    }

    /// What the host's own script does meanwhile.
    static let waits = [
        "app:run()", "coroutine.wrap(function() app:run() end)()", "while true do timer.sleep(0.001) end",
    ]

    @Test("leaving at any moment stops the entry and nothing else", arguments: moments, waits)
    func leaving(moment: (String, String), wait: String) throws {
        let host = try host(wait)
        var peer: AttachPeer? = try AttachPeer(program)
        try peer?.send("E", moment.1)
        #expect(try peer?.next()?.text == "go\n")
        peer = nil
        try expectAlive(host)
    }

    @Test("an interrupt at any moment stops the entry and nothing else", arguments: moments, waits)
    func interrupting(moment: (String, String), wait: String) throws {
        let host = try host(wait)
        let peer = try AttachPeer(program)
        try peer.send("E", moment.1)
        #expect(try peer.next()?.text == "go\n")
        try peer.send("I")
        _ = try peer.answer()
        #expect(try peer.ask("return 'and on'").text == "\"and on\"\n")
        try expectAlive(host)
    }

    @Test("an interrupt is for the entries that were sent before it, and for no later one")
    func order() throws {
        let host = try host()
        let peer = try AttachPeer(program)
        #expect(try peer.ask("return 1").text == "1\n")
        try peer.send("I")
        try peer.send("E", "timer.sleep(0.05) return 'whole'")
        #expect(try peer.answer().text == "\"whole\"\n")
        // One that waits for its turn is not begun.
        try peer.send("E", "timer.sleep(1000)")
        try peer.send("E", "begun = true")
        try peer.send("I")
        try peer.send("E", "return rawget(_G, 'begun')")
        #expect(try peer.answer() == ("interrupted\n", "F"))
        #expect(try peer.answer() == ("interrupted\n", "F"))
        #expect(try peer.answer() == ("nil\n", "D"))
        try expectAlive(host)
    }

    @Test("an interrupt of one prompt leaves another one's entry alone")
    func others() throws {
        let host = try host()
        let (first, second) = (try AttachPeer(program), try AttachPeer(program))
        try first.send("E", "print('first') timer.sleep(0.2) return 'whole'")
        #expect(try first.next()?.text == "first\n")
        try second.send("E", "print('second') while true do end")
        #expect(try second.next()?.text == "second\n")
        try second.send("I")
        #expect(try second.answer().text == "interrupted\n")
        #expect(try first.answer().text == "\"whole\"\n")
        try expectAlive(host)
    }

    @Test(
        "an entry that waits holds up neither the host's script nor another entry",
        arguments: [
            "timer.sleep(1000)", "coroutine.wrap(function() timer.sleep(1000) end)()",
            "app:on('user.x', { budget = 0 }, function() timer.sleep(1000) end) app:emit('user.x')",
        ])
    func waitingEntry(wait: String) throws {
        let host = try host("while not rawget(_G, 'leave') do timer.sleep(0.001) end")
        let (first, second) = (try AttachPeer(program), try AttachPeer(program))
        try first.send("E", "print('waits') \(wait)")
        #expect(try first.next()?.text == "waits\n")
        #expect(try second.ask("return 'answered'").text == "\"answered\"\n")
        try second.send("E", "leave = true")
        #expect(try host.waitForExit() == .exited(0))
    }

    @Test("what an entry writes goes to its prompt, and what the host's script writes meanwhile does not")
    func output() throws {
        let host = try host(
            """
            while true do
              timer.sleep(0.001)
              if rawget(_G, 'say') then print('of the host') say = nil end
            end
            """)
        let peer = try AttachPeer(program)
        let answer = try peer.ask("say = true timer.sleep(0.05) print(nobody_assigned_this) return 'of the entry'")
        #expect(!answer.text.contains("of the host"), "\(answer.text)")
        #expect(answer.text.contains("warning: undefined global 'nobody_assigned_this'"), "\(answer.text)")
        #expect(answer.text.hasSuffix("nil\n\"of the entry\"\n"), "\(answer.text)")
        try host.expect("of the host")
        try expectAlive(host)
    }

    @Test("an entry that ends the application is done; one that a signal cuts off is not")
    func ends() throws {
        let host = try host()
        let peer = try AttachPeer(program)
        #expect(try peer.ask("app:terminate(3)").end == "D")
        #expect(try host.waitForExit() == .exited(3))

        let next = try self.host()
        let other = try program.terminal("attach", "-e", "print('wai' .. 'ts') timer.sleep(1000)")
        try other.expect("waits")
        next.terminate()
        #expect(try next.waitForExit() == .exited(0))
        #expect(try other.waitForExit() == .exited(74))
    }

    // MARK: Who does not read

    @Test("a prompt that does not read holds nobody up, loses output, and is told how much")
    func slowReader() throws {
        let host = try host()
        let slow = try AttachPeer(program)
        try slow.send("E", "local line = ('x'):rep(1023) for i = 1, 20000 do print(line) end return 'end'")
        #expect(try AttachPeer(program).ask("return 'meanwhile'").text == "\"meanwhile\"\n")
        let answer = try slow.answer()
        #expect(answer.end == "D")
        #expect(answer.text.utf8.count < 16 << 20)
        #expect(answer.text.contains("bytes of output were left out: this prompt did not read them in time"))
        #expect(try slow.ask("return 'again'").text == "\"again\"\n")

        // Nobody waits for it on the way out, either.
        try slow.send("E", "local line = ('x'):rep(1023) for i = 1, 20000 do print(line) end")
        #expect(try AttachPeer(program).ask("return 'meanwhile'").text == "\"meanwhile\"\n")
        host.terminate()
        #expect(try host.waitForExit() == .exited(0))
    }

    // MARK: Too many, and nonsense

    @Test("a ninth prompt is refused with words and a status of its own; a place that is left is free")
    func ninth() throws {
        let host = try host()
        var peers = try (1...8).map { _ in try AttachPeer(program) }
        let refused = try program("attach", "-e", "return 1")
        #expect(refused.status == .exited(69))
        #expect(refused.stderr == "cubby: cannot attach: 8 prompts are attached already: leave one of them first\n")
        peers.removeLast()
        // Its end has to be seen by the host first.
        var status = ExitStatus.exited(69)
        for _ in 1...100 where status == .exited(69) { status = try program("attach", "-e", "return 1").status }
        #expect(status == .exited(0))
        peers = []
        try expectAlive(host)
    }

    @Test("entries that wait have a bound; those beyond it are answered in their order")
    func queue() throws {
        let host = try host()
        let peer = try AttachPeer(program)
        try peer.send("E", "print('go') while not rawget(_G, 'goOn') do timer.sleep(0.001) end")
        #expect(try peer.next()?.text == "go\n")
        for number in 1...100 { try peer.send("E", "return \(number)") }
        try peer.send("H", AttachPeer.hello(key: AttachPeer.key(of: program)))
        #expect(try AttachPeer(program).ask("timer.sleep(0.2) goOn = true").end == "D")
        #expect(try peer.answer().end == "D")
        for number in 1...64 { #expect(try peer.answer() == ("\(number)\n", "D")) }
        let first = try peer.answer()
        #expect(first.text == "36 entries were left out: at most 64 entries, 16 MB of text, wait for the host\n")
        #expect(first.end == "F")
        for _ in 2...36 { #expect(try peer.answer() == ("", "F")) }
        _ = try peer.expect("B")
        #expect(try peer.ask("return 'again'").text == "\"again\"\n")
        try expectAlive(host)
    }

    static let nonsense: [(String, [UInt8], String?)] = [
        (
            "bytes that are not a message", Array("GET / HTTP/1.1\r\n\r\n".utf8),
            "the bytes are not a message of cubby attach\n"
        ),
        ("a message of the host's", [0x44, 0, 0, 0, 0], "the bytes are not a message of cubby attach\n"),
        ("a huge message", [0x45, 0xFF, 0xFF, 0xFF, 0xFF], "a message is longer than 16 MB\n"),
        ("half a head", [0x45, 9, 0], nil),
        ("half a message", [0x45, 100, 0, 0, 0] + Array("while true do end".utf8), nil),
        ("nothing", [], nil),
    ]

    @Test("nonsense ends its own connection, with words where there are any", arguments: nonsense)
    func refused(_ name: String, _ bytes: [UInt8], _ said: String?) throws {
        let host = try host()
        for greets in [true, false] {
            let peer = try AttachPeer(program, greets: greets)
            try peer.send(bytes: bytes)
            guard let said else { continue }
            #expect(try peer.next()?.text == said)
            #expect(try peer.next() == nil)
        }
        try expectAlive(host)
    }

    @Test("nonsense stops the entry that runs: nobody could stop it any more")
    func nonsenseMeanwhile() throws {
        let host = try host()
        let peer = try AttachPeer(program)
        try peer.send("E", "print('go') while true do end")
        #expect(try peer.next()?.text == "go\n")
        try peer.send(bytes: [0])
        #expect(try peer.answer() == ("interrupted\n", "F"))
        try expectAlive(host)
    }

    // MARK: A host that does not answer

    @Test("a suspended host: the prompt says so, how it goes on, and waits", arguments: [0, 12])
    func suspended(others: Int) throws {
        let host = try host()
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
        let host = try host()
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

    @Test("a host that is busy with something else does not answer in time")
    func busy() throws {
        let host = try program.terminal("-e", "print('bu' .. 'sy') while true do end")
        try host.expect("busy")
        let output = try program("attach", "--timeout", "0.2", "-e", "return 1")
        #expect(output.status == .exited(75))
        #expect(output.stderr.contains("does not answer: it is busy. No answer within 0.2 s"), "\(output.stderr)")
        #expect(try program("attach", "--timeout", "0", "-e", "return 1").status == .exited(64))
        host.terminate()
        #expect(try host.waitForExit() == .exited(0))
    }

    @Test("a host that is suspended while an entry runs: the prompt says so, and Ctrl-C leaves")
    func suspendedMeanwhile() throws {
        let host = try host()
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

    @Test("a script of entries on standard input ends with 1 when one of them failed")
    func failedScript() throws {
        let host = try host()
        let output = try program("attach", input: "return 1\nerror('no')\nreturn 2\n")
        #expect(output.stdout == "1\n2\n")
        #expect(output.status == .exited(1))
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
}
