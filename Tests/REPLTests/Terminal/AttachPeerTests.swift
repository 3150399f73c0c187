import CommandTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// Attached prompts that leave, interrupt, read slowly or talk nonsense: the host goes on, and ends with its own status.
@Suite("Attached peers", .serialized)
struct AttachPeerTests {
    private typealias ExitStatus = TestSupport.ExitStatus

    let program: Program

    init() throws { program = try Program() }

    private func host(_ code: String = "app:run()") throws -> PseudoTerminal { try program.host(code) }

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

    @Test("a key of another home is refused with the place of the host's")
    func otherHome() throws {
        let host = try host()
        let home = program.scratch.file("other")
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        let reason =
            "the key that was shown is not that of the host, which is in \(program.scratch.file("home"))/.config/cubby: use the HOME and XDG_CONFIG_HOME of the host\n"
        let refused = try program("attach", "-e", "return 1", environment: ["HOME": home])
        #expect(refused.status == .exited(69))
        #expect(refused.stderr == "cubby: cannot attach: \(reason)")
        #expect(try program("status", environment: ["HOME": home]).stdout.contains(reason))
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

    @Test("a script of entries on standard input ends with 1 when one of them failed")
    func failedScript() throws {
        let host = try host()
        let output = try program("attach", input: "return 1\nerror('no')\nreturn 2\n")
        #expect(output.stdout == "1\n2\n")
        #expect(output.status == .exited(1))
        try expectAlive(host)
    }
}
