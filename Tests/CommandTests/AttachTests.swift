import Application
import Foundation
import Glibc
import TestSupport
import Testing

/// `cubby attach`: a prompt on a host that runs.
@Suite("Attaching", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct AttachTests {
    let program: Program
    let host: PseudoTerminal

    init() throws {
        program = try Program()
        host = try program.terminal(
            "-e", "ticks = 0 timer.every(0.01, function() ticks = ticks + 1 end) print('rea' .. 'dy') app:run()")
        try host.expect("ready")
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

    @Test(
        "a program behind the kernel's fence cannot read the key", .enabled(if: Landlock.abi != nil, "needs Landlock"))
    func fencedProgram() throws {
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
