import CommandTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// `cubby attach`: a prompt on a host that runs.
@Suite("Attaching", .serialized)
struct AttachTests {
    let program: Program
    let host: PseudoTerminal

    init() throws {
        program = try Program()
        host = try program.host("ticks = 0 timer.every(0.01, function() ticks = ticks + 1 end) app:run()")
    }

    @Test("entries run there; output, results and errors come here; the host goes on")
    func entries() throws {
        let result = try program("attach", "-e", "items:createItem{ name = 'far' } print(#items) return items[1].name")
        #expect(result.stdout == "1\n\"far\"\n")
        let failed = try program("attach", "-e", "error('broken')")
        #expect(failed.status == .exited(1))
        #expect(failed.stderr.contains("broken"))
        let lines = try program("attach", input: "x = 20\nfor i = 1, 2 do\nx = x + i\nend\nx\n")
        #expect(lines.stdout == "23\n")
        #expect(try program("attach", "-e", "return ticks > 0").stdout == "true\n")
        host.terminate()
        #expect(try host.waitForExit() == .exited(0))
        #expect(try program.itemCount() == "1")
        #expect(try program("attach", "-e", "return 1").status == .exited(74))
    }

    @Test("an editor here: Ctrl-C stops a busy entry there and nothing else; the host's end is told")
    func prompt() throws {
        let prompt = try program.terminal("attach")
        try prompt.expect("Attached to cubby, process")
        try prompt.expect("attached> ")
        try prompt.begin("print(\"bu\" .. \"sy\") while true do end", andExpect: "busy")
        try prompt.send(control: "c")
        try prompt.expect("interrupted")
        try prompt.expect("attached> ")
        try prompt.begin("print(\"alive \" .. app.state)", andExpect: "alive active")
        try prompt.expect("attached> ")
        host.terminate()
        #expect(try host.waitForExit() == .exited(0))
        try prompt.expect("The host has ended.")
        _ = try prompt.waitForExit()
    }

    @Test("without the user's key nobody is let in, and nothing is done for it", arguments: ["", "0", "wrong"])
    func key(_ shown: String) throws {
        let key = AttachPeer.key(of: program)
        #expect(key.count == 64)
        let wrong = shown == "wrong" ? "0" + key.dropFirst(key.hasPrefix("0") ? 0 : 1) + "0" : shown
        let peer = try AttachPeer(program, greets: false)
        // All at once: the host serves what is not queued before what is.
        try peer.send("H", AttachPeer.hello(key: wrong))
        // It may have closed the connection by then.
        try? peer.send("?", #"{"number":1,"text":"it","cursor":2}"#)
        try? peer.send("E", "items:createItem()")
        let answer = try #require(try peer.next())
        #expect(answer.kind == "R" && answer.text.contains("the key"))
        #expect(try peer.next() == nil)
        #expect(try program("attach", "-e", "return #items").stdout == "0\n")
    }

    @Test("another debugger needs the key, too, and one that is not attached keeps nobody out")
    func debuggerKey() throws {
        let socket = "\(program.container)/.socket"
        let first = try DebugClient(socket: socket)
        try first.ask("initialize")
        #expect(try first.refusal("evaluate", ["expression": "1"]) == "attach comes first")
        for token in ["", "0", AttachPeer.key(of: program) + "0"] {
            let client = try DebugClient(socket: socket)
            try client.ask("initialize")
            #expect(try client.refusal("attach", ["token": token]).contains("\"token\""))
            try client.waitForEnd()
        }
        let right = try DebugClient(socket: socket)
        try right.begin("attach", ["token": AttachPeer.key(of: program)])
        #expect(try first.refusal("attach", ["token": AttachPeer.key(of: program)]).contains("another debugger"))
        right.leave()
    }

    @Test("the socket is the owner's alone, and goes with the host")
    func socket() throws {
        var status = stat()
        #expect(lstat("\(program.container)/.socket", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let result = try program(
            "attach", "-e", "print((select(2, fs.remove(app.container.path .. '/.socket'))).message)")
        #expect(result.stdout.contains("the host's own"))
        host.terminate()
        _ = try host.waitForExit()
        #expect(lstat("\(program.container)/.socket", &status) != 0)
    }
}
