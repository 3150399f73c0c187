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
