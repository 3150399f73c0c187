import Foundation
import Glibc
import TestSupport
import Testing

/// The services around an application, as processes meet them.
@Suite("Services", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct ServiceTests {
    let program: Program

    init() throws { program = try Program() }

    // MARK: Preferences

    @Test("preferences are a property list that Python reads, and another process's change is seen")
    func preferences() throws {
        _ = try program("-e", "defaults:set('columns', 3) defaults:set('names', { 'a', 'b' })")
        let read = try run(
            "python3",
            [
                "-c", "import plistlib, sys; print(sorted(plistlib.load(open(sys.argv[1], 'rb')).items()))",
                "\(program.container)/Library/Preferences/cubby.plist",
            ], environment: program.environment)
        #expect(read.stdout == "[('columns', 3), ('names', ['a', 'b'])]\n")

        let terminal = try program.terminal("-e", "print('rea' .. 'dy') app:run()")
        try terminal.expect("ready")
        let changed = try run(
            "python3",
            [
                "-c",
                "import plistlib, sys; plistlib.dump({'columns': 9}, open(sys.argv[1], 'wb'))",
                "\(program.container)/Library/Preferences/cubby.plist",
            ], environment: program.environment)
        #expect(changed.status == .exited(0))
        #expect(try program("attach", "-e", "return defaults:get('columns')").stdout == "9\n")
        terminal.terminate()
        _ = try terminal.waitForExit()
    }

    @Test("a damaged preference file is reported, kept aside, and replaced")
    func damagedPreferences() throws {
        try program.scratch.write("bplist00 no more", to: "container/Library/Preferences/cubby.plist")
        let result = try program("-e", "defaults:set('k', 1) print(defaults:get('k'))")
        #expect(result.stdout == "1\n")
        #expect(result.stderr.contains("damaged"))
        #expect(
            try program.scratch.contents(of: "container/Library/Preferences") == ["cubby.plist", "cubby.plist.damaged"])
    }

    // MARK: Restoration

    private let show = "print(app.restoration.selected)"

    @Test("what app.restoration holds comes back, until an explicit way out")
    func restoration() throws {
        _ = try program("-e", "app.restoration.selected = 'bear'")
        #expect(try program("-e", show).stdout == "bear\n")
        #expect(try program("-e", show + " app:pressHome() app:open()").stdout == "bear\n")
        #expect(try program("-e", show + " app:terminate()").stdout == "bear\n")
        #expect(try program("-e", show).stdout == "nil\n")
        _ = try program("-e", "app.restoration.selected = 'bear' os.exit(0)")
        #expect(try program("-e", show).stdout == "nil\n")
    }

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

    // MARK: init.lua, watched

    @Test("--watch takes a new init.lua, keeps globals, and keeps the last good version when the new one fails")
    func watch() throws {
        let script = "container/Library/Scripts/init.lua"
        func version(_ text: String) -> String {
            "count = (rawget(_G, 'count') or 0) + 1 app:on('user.ask', function() print('\(text)', count) end)"
                + " timer.every(0.01, function() last = '\(text)' end)"
                + " notifications:addObserver('ask', function() print('heard by \(text)') end)"
        }
        try program.scratch.write(version("one"), to: script)
        let terminal = try program.terminal("--watch", "-e", "print('rea' .. 'dy') app:run()")
        try terminal.expect("ready")
        func ask() throws -> String {
            try program("attach", "-e", "app:emit('user.ask') notifications:post('ask')").stdout
        }
        #expect(try ask() == "one\t1\nheard by one\n1\n" || ask().hasPrefix("one\t1\nheard by one\n"))
        try program.scratch.write(version("two"), to: script)
        try terminal.expect("init.lua was loaded again")
        #expect(try ask().hasPrefix("two\t2\nheard by two\n"))
        try program.scratch.write(version("three") + " error('broken on purpose')", to: script)
        try terminal.expect("broken on purpose")
        try terminal.expect("its last good version goes on")
        #expect(try ask().hasPrefix("two\t3\nheard by two\n"))
        try program.scratch.write("this is not Lua", to: script)
        try terminal.expect("its last good version goes on")
        #expect(try ask().hasPrefix("two\t3\nheard by two\n"))
        #expect(try program("attach", "-e", "timer.sleep(0.05) return last").stdout == "\"two\"\n")
        terminal.terminate()
        #expect(try terminal.waitForExit() == .exited(0))
    }

    // MARK: The service manager

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

    @Test("--log-format json: an object a line")
    func structuredLog() throws {
        let result = try program("--log-format", "json", "-e", "log.warning('a \"b\"\\n', 1) log.error('c')")
        let objects = try result.stderr.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(objects.map { $0["level"] as? String } == ["warning", "error"])
        #expect(objects.map { $0["message"] as? String } == ["a \"b\"\n\t1", "c"])
        #expect(objects.allSatisfy { $0["time"] is String && $0["pid"] is Int })
    }

    @Test("errors are lines of the log where programs read it", arguments: ["json", "journal"])
    func structuredErrors(form: String) throws {
        try program.scratch.write("error('at the start')", to: "container/Library/Scripts/init.lua")
        let result = try program(
            "--log-format", form, "-e",
            """
            app:on("didEnterBackground", function() error("in the handler") end)
            app:pressHome()
            error("in the script")
            """)
        #expect(result.status == .exited(1))
        let lines = result.stderr.split(separator: "\n").map(String.init)
        if form == "journal" { return #expect(lines.allSatisfy { $0.hasPrefix("<3>") }, "\(lines)") }
        let messages = try lines.map {
            let object = try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            #expect(object["level"] as? String == "error")
            return try #require(object["message"] as? String)
        }
        try #require(messages.count == 3, "\(messages)")
        for (message, part) in zip(messages, ["at the start", "in the handler", "in the script"]) {
            #expect(message.contains(part))
        }
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

    // MARK: Memory

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

    // MARK: Folders that vanish

    @Test("Caches and tmp may vanish at any time")
    func vanishingFolders() throws {
        let picture = "\(Project.root)/examples/data/pictures/chair.png"
        let terminal = try program.terminal(
            "-e",
            "item = items:createItem() item.image = image.open(arg[1]) print('rea' .. 'dy') app:run()", picture)
        try terminal.expect("ready")
        let work =
            "print(images:thumbnail(item.itemKey, 32) ~= nil, (fs.write(os.tmpname(), 'x')), (fs.write(app.container.caches .. '/a', 'x')), (io.open(os.tmpname(), 'w')) ~= nil)"
        for _ in 1...2 {
            #expect(try program("attach", "-e", work).stdout == "true\ttrue\ttrue\ttrue\n")
            for folder in ["Library/Caches", "tmp"] {
                try FileManager.default.removeItem(atPath: "\(program.container)/\(folder)")
            }
        }
        terminal.terminate()
        #expect(try terminal.waitForExit() == .exited(0))
    }

    @Test("tmp is emptied at launch; a container that was moved opens as it was")
    func movedContainer() throws {
        _ = try program(
            "-e", "items:createItem{ name = 'kept' } fs.write(app.container.tmp .. '/t', 'x') defaults:set('k', 1)")
        let moved = program.scratch.file("moved")
        try FileManager.default.moveItem(atPath: program.container, toPath: moved)
        let result = try program(
            "--container", moved, "-e", "print(items[1].name, defaults:get('k'), #fs.list(app.container.tmp))")
        #expect(result.stdout == "kept\t1\t0\n")
    }
}
