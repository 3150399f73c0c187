import CommandTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// The services around an application, as processes meet them.
@Suite("Services", .serialized)
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

    @Test("the service manager hears of the launch, of the loop's life, and of the end")
    func serviceManager() throws {
        let path = program.scratch.file("notify")
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        try #require(bytes.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        // A guard against a host that says nothing.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var lines: [String] = []
        func read(upTo line: String) throws {
            while !lines.contains(line) {
                var buffer = [UInt8](repeating: 0, count: 4096)
                let count = recv(descriptor, &buffer, buffer.count, 0)
                try #require(count > 0, "no \(line) after \(lines)")
                lines += String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
            }
        }
        let host = try program.terminal(
            "-e",
            "app:on('willTerminate', function() local t = app:beginBackgroundTask('push') timer.after(0, function() app:endBackgroundTask(t) end) end) app:run()",
            environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"])
        try read(upTo: "READY=1")
        #expect(lines.contains("STATUS=active"))
        try read(upTo: "WATCHDOG=1")
        lines = []
        try read(upTo: "WATCHDOG=1")
        #expect(!lines.contains("STOPPING=1"))
        host.terminate()
        try read(upTo: "STOPPING=1")
        try read(upTo: "STATUS=waiting for background tasks")
        #expect(lines.contains { $0.hasPrefix("EXTEND_TIMEOUT_USEC=") })
        #expect(try host.waitForExit() == .exited(0))
    }

    @Test("lines that are kept with those of other runs name their run")
    func runIdentifier() throws {
        let code = "log.warning('one') log.warning('two')"
        func runs(_ text: String) throws -> [String] {
            try text.split(separator: "\n").map { line in
                let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                return try #require(object["run"] as? String)
            }
        }
        let first = try runs(try program("--log-format", "json", "-e", code).stderr)
        let second = try runs(try program("--log-format", "json", "-e", code).stderr)
        #expect(first.count == 2 && first[0] == first[1] && first[0].utf8.count == 6)
        #expect(second.count == 2 && second[0] != first[0])
        let journal = try program("--log-format", "journal", "-e", code).stderr.split(separator: "\n")
        #expect(journal.count == 2 && journal.allSatisfy { $0.wholeMatch(of: /<4>\[[0-9a-z]{6}\] (one|two)/) != nil })
    }

    // MARK: Memory

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
