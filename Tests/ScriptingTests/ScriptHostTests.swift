import Application
import Files
import Foundation
import Items
import Lua
import TestSupport
import Testing

@testable import Scripting

/// A host inside of another program: no command, no terminal, signals left to the program.
@Suite("Embedded host")
struct ScriptHostTests {
    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    @Test("two hosts one after another in one process: the second finds what the first kept")
    func oneAfterAnother() throws {
        do {
            let first = try Embedding(scratch.file("c"))
            first.host.launch()
            #expect(first.host.applicationState == .active)
            #expect(first.run("items:createItem{ name = 'kept', tags = { 1 } } mine = 1 return #items") == "1")
            first.end()
            #expect(first.host.exitCode == 0)
            #expect(first.host.applicationState == .notRunning)
        }
        let second = try Embedding(scratch.file("c"))
        second.host.launch()
        #expect(second.run("return #items, items[1].name, items[1].tags[1], rawget(_G, 'mine')") == "1 kept 1 nil")
        second.end()
    }

    @Test("two hosts at once, each in its container, know nothing of each other")
    func sideBySide() throws {
        let hosts = try ["a", "b"].map { try Embedding(scratch.file($0)) }
        for (number, each) in hosts.enumerated() {
            each.host.launch()
            _ = each.run("who = \(number) items:createItem{ name = '\(number)' }")
        }
        #expect(hosts.map { $0.run("return who, #items, items[1].name") } == ["0 1 0", "1 1 1"])
        hosts.forEach { $0.end() }
    }

    @Test("a container that is in use is refused, with the holder's process; reading is allowed")
    func inUse() throws {
        let first = try Embedding(scratch.file("c"))
        let error = #expect(throws: FolderLockError.self) { try Embedding(scratch.file("c")) }
        #expect(error?.message.contains("\(ProcessInfo.processInfo.processIdentifier)") == true)
        first.host.launch()
        _ = first.run("items:createItem()")
        let reader = try Embedding(scratch.file("c")) { $0.isReadOnly = true }
        reader.host.launch()
        #expect(reader.run("return #items") == "1")
        #expect(reader.run("items:createItem()").contains("read-only"))
        reader.end()
        first.end()
    }

    @Test("a handler that fails ends the background tasks that it began, and no others")
    func failedBackgroundTasks() throws {
        let embedding = try Embedding(scratch.file("c"))
        embedding.host.launch()
        _ = embedding.run(
            """
            expired = {}
            function expire(name) return function() expired[#expired + 1] = name end end
            app:beginBackgroundTask("chunk", expire("chunk"))
            app:on("didEnterBackground", function() app:beginBackgroundTask("good", expire("good")) end)
            app:on("didEnterBackground", function() app:beginBackgroundTask("failed", expire("failed")) error("no") end)
            notifications:addObserver("n", function() app:beginBackgroundTask("observer", expire("observer")) error("no") end)
            notifications:post("n")
            app:pressHome()
            """)
        embedding.host.lifeCycle.backgroundTasks.expire()
        #expect(embedding.run("table.sort(expired) return table.concat(expired, ' ')") == "chunk good")
        embedding.end()
    }

    @Test("a host and a store by itself over the same container exclude each other")
    func storeByItself() throws {
        let first = try Embedding(scratch.file("c"))
        let documents = first.host.container.documents
        let error = #expect(throws: StoreError.self) { try ItemStore.open(ArchivePersistence(folder: documents)) }
        #expect(error?.code == .inUse)
        #expect(try ItemStore.open(ArchivePersistence(folder: documents, isReadOnly: true)).count == 0)
        first.end()
    }

    @Test("a script's error is a value with its message, place and traceback; the host goes on")
    func errors() throws {
        let embedding = try Embedding(scratch.file("c"))
        embedding.host.launch()
        let result = embedding.host.run(Array("local t\nreturn t.x".utf8), name: "@mine.lua")
        guard case .failure(let error) = result else {
            Issue.record("no error")
            return
        }
        #expect(error.message == "mine.lua:2: attempt to index a nil value (local 't')")
        #expect(error.traceback?.contains("mine.lua:2") == true)
        #expect(embedding.run("x = =").hasPrefix("error: chunk:1:"))
        #expect(embedding.run("return 1 + 1") == "2")
        embedding.end()
    }

    @Test("limits: time and memory end a script, and the host goes on")
    func limits() throws {
        let embedding = try Embedding(scratch.file("c")) { options in
            options.timeLimit = .seconds(1)
            options.memoryLimit = 16 << 20
        }
        embedding.host.launch()
        for _ in 1...3 {
            #expect(embedding.run("while true do end").contains("time is up"))
            #expect(embedding.run("local s = 'x' while true do s = s .. s end").contains("not enough memory"))
        }
        #expect(embedding.run("return 'fine'") == "fine")
        embedding.end()
    }

    @Test("a container with a field of many combining marks opens again", .timeLimit(.minutes(5)))
    func marks() throws {
        let scratch = try TemporaryDirectory()
        for _ in 1...2 {
            let embedding = try Embedding(scratch.file("container"))
            let script = """
                local name = 'e' .. ('\\u{301}\\u{316}'):rep(100000)
                if #items == 0 then items:createItem{ name = 'Lamp', [name] = 1 } end
                return items[1][name]
                """
            #expect(embedding.run(script) == "1")
            embedding.end()
        }
    }

    @Test("what the host's functions give counts as memory of the script before it is there")
    func givenMemory() throws {
        let path = scratch.file("c")
        let folder = "local folder = app.container.path .. '/Documents/' "
        do {
            let large = try Embedding(path)
            large.host.launch()
            #expect(
                large.run("local x = items:randomItem() x.name = ('n'):rep(24 << 20) return items:saveChanges()")
                    == "true")
            let file = "return fs.write(folder .. 'large.csv', 'a,b\\n1,' .. ('x'):rep(16 << 20) .. '\\n')"
            #expect(large.run(folder + file) == "true")
            let rows = "local t = {} for i = 1, 200000 do t[i] = i .. ',a' end "
            #expect(
                large.run(folder + rows + "return fs.write(folder .. 'rows.csv', 'a,b\\n' .. table.concat(t, '\\n'))")
                    == "true")
            large.end()
        }
        let embedding = try Embedding(path) { $0.memoryLimit = 16 << 20 }
        embedding.host.launch()
        for script in [
            "return items[1].name", "return fs.read(folder .. 'large.csv')",
            "for row in csv.rows(folder .. 'large.csv') do end",
            "local all = {} for row in csv.rows(folder .. 'rows.csv') do all[#all + 1] = row end",
            "return data(fs.read(folder .. 'large.csv')):string()",
            "return json.encode(items[1].name)",
        ] {
            #expect(embedding.run(folder + script).contains("memory"), "\(script)")
            #expect(embedding.run(folder + "return tostring(pcall(function() \(script) end))") == "false")
            #expect(embedding.host.state.memory.peak < 64 << 20)
            #expect(embedding.run("collectgarbage() return ('x'):rep(3)") == "xxx")
        }
        embedding.end()
    }

    @Test("the program plays the life cycle itself: signals are its own")
    func lifeCycle() throws {
        let embedding = try Embedding(scratch.file("c"))
        let host = embedding.host
        _ = embedding.run(
            "heard = {} for _, n in ipairs{ 'didFinishLaunching', 'didBecomeActive', 'willResignActive', 'didEnterBackground', 'willEnterForeground', 'willTerminate' } do app:on(n, function(e) print(e.name .. ' ' .. e.cause) end) end"
        )
        host.launch()
        _ = embedding.run("items:createItem()")
        host.handle(.pressHome, cause: .sigtstp)
        #expect(host.applicationState == .background)
        #expect(!host.items.hasChanges)
        host.handle(.resume(inForeground: true), cause: .sigcont)
        host.terminate(3, cause: .sigterm, explicitly: false)
        #expect(host.exitCode == 3)
        let names = embedding.recorder.output.split(separator: "\n").map { String($0.prefix { $0 != " " }) }
        #expect(
            names == [
                "didFinishLaunching", "didBecomeActive", "willResignActive", "didEnterBackground",
                "willEnterForeground",
                "didBecomeActive", "willResignActive", "didEnterBackground", "willTerminate",
            ])
    }

    @Test("what happened too late or twice changes nothing")
    func lateEvents() throws {
        let embedding = try Embedding(scratch.file("c"))
        embedding.host.launch()
        embedding.end()
        embedding.host.handle(.pressHome, cause: .script)
        embedding.host.terminate(9, cause: .sigterm, explicitly: false)
        #expect(embedding.host.exitCode == 0)
        #expect(embedding.host.applicationState == .notRunning)
    }

    @Test("the program and its scripts share one store")
    func sharedStore() throws {
        let embedding = try Embedding(scratch.file("c"))
        embedding.host.launch()
        let item = try embedding.host.items.createItem(ItemFields(name: "from Swift"))
        #expect(embedding.run("local item = items[1] item.room = 'Lua' return item.name") == "from Swift")
        #expect(try item.customFieldNames == ["room"])
        #expect(embedding.run("items:removeItem(items[1])") == "")
        #expect(item.isRemoved)
        embedding.end()
    }

    @Test("pictures are shown, and a person is asked, by the program's front end")
    func frontEnd() throws {
        let outside = try scratch.write("outside", to: "elsewhere/file.txt")
        let embedding = try Embedding(scratch.file("c")) { options in
            options.isInteractive = true
            options.readable = ["\(Project.root)/examples/data"]
        }
        embedding.host.launch()
        let folder = "\(Project.root)/examples/data/pictures"
        #expect(embedding.run("image.open('\(folder)/' .. fs.list('\(folder)')[1]):show()") == "")
        #expect(embedding.recorder.shown == 1)
        #expect(embedding.run("return (fs.read('\(outside)'))") == "nil")
        #expect(embedding.recorder.questions == ["reading \(outside)"])
        embedding.recorder.consent = .folder
        #expect(embedding.run("return (fs.read('\(outside)'))") == "outside")
        #expect(embedding.run("return (fs.read('\(outside)'))") == "outside")
        #expect(embedding.recorder.questions.count == 2)
        embedding.end()
    }

    @Test("an undefined name raises in files and handlers; in what was typed at a prompt it warns once, and is nil")
    func strictNames() throws {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("c")) { $0.isInteractive = true }
        embedding.host.launch()
        #expect(embedding.run("return nowhere", name: "@file.lua").hasPrefix("error: file.lua:1: undefined global"))
        _ = embedding.run("function ofFile() return nowhere end", name: "@file.lua")
        _ = embedding.run("function typed() return nowhere end", name: "=[1]")
        // What was typed runs later, in a timer or a handler: nobody waits for a warning.
        #expect(embedding.run("return typed()", name: "@file.lua").hasPrefix("error: [1]:1: undefined global"))
        let outer = embedding.host.runtime.entryWarnings.begin()
        #expect(embedding.run("for i = 1, 3 do typed() end return nowhere, typed()", name: "=[2]") == "nil nil")
        #expect(embedding.recorder.errors.components(separatedBy: "warning: undefined global 'nowhere'").count == 2)
        #expect(embedding.run("return ofFile()", name: "=[3]").hasPrefix("error: file.lua:1: undefined global"))
        // A handler and a timer are no part of the entry, also while it runs.
        _ = embedding.run("app:on('user.event', function() return never end) app:emit('user.event')", name: "=[4]")
        _ = embedding.run("timer.after(0, function() return never end) timer.sleep(0.05)", name: "=[5]")
        #expect(embedding.host.handlerFailureCount == 2)
        #expect(!embedding.recorder.errors.contains("warning: undefined global 'never'"))
        embedding.host.runtime.entryWarnings.end(outer)
        embedding.end()
    }
}
