import Foundation
import Glibc
import TestSupport
import Testing

/// The services around an application, as processes meet them.
@Suite("Services", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct ServiceTests {
    let program: Program

    init() throws { program = try Program() }

    private let show = "print(app.restoration.selected)"

    @Test("between the two callbacks of the launch, and gone after a launch that failed while restoring")
    func failedRestoration() throws {
        let script = "container/Library/Scripts/init.lua"
        let selected = "print(e.name, app.restoration.selected)"
        try program.scratch.write(
            "for _, n in ipairs{ 'willFinishLaunching', 'didFinishLaunching' } do app:on(n, function(e) \(selected) end) end",
            to: script)
        _ = try program("-e", "app.restoration.selected = 'bear'")
        #expect(
            try program("-e", "").stdout
                == "willFinishLaunching\tnil\ndidFinishLaunching\tbear\n")
        // A handler that breaks over it.
        try program.scratch.write(
            "app:on('didFinishLaunching', function() error(app.restoration.selected) end)", to: script)
        let broken = try program("-e", show)
        #expect(broken.stdout == "nil\n")
        #expect(broken.stderr.contains("restoring it failed"))
        #expect(try program("--no-init", "-e", show).stdout == "nil\n")

        // A process that dies of it.
        try program.scratch.write("", to: script)
        _ = try program("-e", "app.restoration.selected = 'bear'")
        try program.scratch.write(
            "app:on('didFinishLaunching', function() print('restoring') while true do end end)", to: script)
        let terminal = try program.terminal("-e", "")
        try terminal.expect("restoring")
        terminal.kill()
        _ = try terminal.waitForExit()
        let next = try program("--no-init", "-e", show)
        #expect(next.stdout == "nil\n")
        #expect(next.stderr.contains("did not survive restoring it"))
    }

    @Test("a suspended process that is killed comes back as it was left")
    func restorationAfterKill() throws {
        let shell = try program.shell()
        try shell.startPrompt()
        try shell.enter("app.restoration.selected = \"bear\" print(\"o\" .. \"k\")", andExpect: "ok")
        try shell.pressHome()
        let process = try shell.waitForProcess(named: "cubby", states: "T")
        kill(process, SIGKILL)
        try shell.waitForEnd(of: process)
        #expect(try program("-e", show).stdout == "bear\n")
    }

    @Test("sd_notify: ready, saving, stopping")
    func serviceManager() throws {
        let path = program.scratch.file("notify")
        let code = """
            import os, socket, subprocess, sys
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1])
            done = subprocess.run([os.environ["CUBBY"], "-e", "items:createItem()"], env=dict(os.environ, NOTIFY_SOCKET=sys.argv[1]))
            s.setblocking(False)
            try:
                while True: print(s.recv(4096).decode())
            except BlockingIOError: pass
            """
        let result = try run("python3", ["-c", code, path], environment: program.environment)
        let lines = result.stdout.split(separator: "\n").map(String.init)
        func position(_ text: String) -> Int { lines.firstIndex(of: text) ?? -1 }
        #expect(position("READY=1") >= 0)
        #expect(position("STOPPING=1") > position("READY=1"))
        #expect(position("STATUS=saving 1 items") > position("STOPPING=1"))
        #expect(position("EXTEND_TIMEOUT_USEC=5000000") > position("STOPPING=1"))
    }

    @Test("doctor says which fences stand, and who has the container")
    func doctor() throws {
        func lines() throws -> [Substring: String] {
            let text = try program("doctor").stdout.split(separator: "\n").map {
                $0.split(separator: " ", maxSplits: 1)
            }
            return Dictionary(text.filter { $0.count == 2 }.map { ($0[0], String($0[1])) }) { first, _ in first }
        }
        #expect(try lines()["container"]?.contains("not there yet") == true)
        let terminal = try program.terminal("-e", "print('rea' .. 'dy') app:run()")
        try terminal.expect("ready")
        let found = try lines()
        #expect(found["container"]?.contains("in use by cubby, process \(terminal.pid),") == true, "\(found)")
        #expect(found["path"]?.contains("fence") == true)
        #expect(found["kernel"]?.contains("fence") == true)
        terminal.terminate()
        #expect(try terminal.waitForExit() == .exited(0))
        #expect(try lines()["container"]?.hasSuffix("free") == true)
    }

    @Test("a memory warning gives memory back to the system")
    func memoryIsReturned() throws {
        let result = try program(
            "--allow-read", "/proc/self", "-e",
            """
            local function pages() local f <close> = io.open("/proc/self/statm") return f:read("n", "n") and select(2, (function(t) return t:match("(%d+) (%d+)") end)(fs.read("/proc/self/statm"))) end
            big = {}
            for i = 1, 200000 do big[i] = ("x"):rep(300) .. i end
            app:on("didReceiveMemoryWarning", function(event) big = nil print(event.source) end)
            local before = pages()
            app:simulateMemoryWarning()
            print((before - pages()) * 4096 > 50e6)
            """)
        #expect(result.stdout == "script\ntrue\n", "\(result.stderr)")
    }

    @Test("scripts close to their limit are warned first, then refused")
    func memoryLadder() throws {
        let result = try program(
            "--memory-limit", "32", "-e",
            """
            cache, keep = {}, {}
            app:on("didReceiveMemoryWarning", { id = "flush" }, function(event) cache, flushed = {}, event.source .. " " .. event.cause end)
            for i = 1, 400 do cache[#cache + 1] = ("x"):rep(100000) .. i end
            print("warned by " .. flushed .. ", and went on")
            app:off("flush")
            print((pcall(function() for i = 1, 400 do keep[i] = ("y"):rep(100000) .. i end end)))
            keep = nil
            print("and on")
            """)
        #expect(
            result.stdout == "warned by scripts psi, and went on\nfalse\nand on\n", "\(result.stderr)")
        #expect(result.stderr.contains("flushing 0 images out of the cache"))
    }
}
