import Application
import Lua
import Scripting
import TestSupport
import Testing

/// The end of an application that a script asks for, wherever it does.
@Suite("Ending from scripts") struct EndingTests {
    /// What is known of a host that a script has ended.
    private struct End {
        let result: String
        let log: String
        let code: Int32?
    }

    private func end(_ path: String, _ script: String) throws -> End {
        let embedding = try Embedding(path)
        embedding.host.launch()
        let result = embedding.run(script)
        return End(result: result, log: embedding.recorder.errors, code: embedding.host.exitCode)
    }

    /// The names of the items at the next launch, and whether the last exit has saved them.
    private func items(_ path: String) throws -> String {
        let embedding = try Embedding(path)
        embedding.host.launch()
        defer { embedding.end() }
        return embedding.run(
            "local n = {} for i, item in items:each() do n[i] = item.name end return table.concat(n, ' '), items.hasChanges"
        )
    }

    @Test(
        "a handler ends the application: nothing of the code around it runs",
        arguments: [
            ("willResignActive", "app:interrupt()"), ("didEnterBackground", "app:pressHome()"),
            ("didReceiveMemoryWarning", "app:simulateMemoryWarning()"), ("willSave", "app:pressHome()"),
            ("willSave", "items:saveChanges()"), ("didSave", "items:saveChanges()"), ("didSave", "app:pressHome()"),
        ])
    func handlers(event: String, cause: String) throws {
        let scratch = try TemporaryDirectory()
        let end = try end(
            scratch.file("c"),
            """
            app:on("\(event)", { once = true }, function() app:terminate(7) end)
            items:createItem{ name = "before" }
            \(cause)
            items:createItem{ name = "after" }
            while true do end
            """)
        #expect(end.code == 7 && end.result.contains("the application has ended"), "\(end)")
        #expect(try items(scratch.file("c")) == "before false")
    }

    @Test(
        "in a transaction or a dry run: it is rolled back, and the end is in order",
        arguments: ["transaction", "dryRun"], ["os.exit(3)", "app:terminate(3)", "pcall(os.exit, 3) while true do end"])
    func transactions(function: String, exit: String) throws {
        let scratch = try TemporaryDirectory()
        let end = try end(
            scratch.file("c"),
            """
            for _, name in ipairs{ "didEnterBackground", "willSave", "didSave", "willTerminate" } do
              app:on(name, function()
                log.info(name .. " " .. #items)
                if name == "didEnterBackground" then items:createItem{ name = "farewell" } end
              end)
            end
            items:createItem{ name = "before" }
            items:\(function)(function() items:createItem{ name = "in" } \(exit) end)
            """)
        #expect(end.code == 3)
        var log = end.log[...]
        for line in ["didEnterBackground 1", "willSave 2", "didSave 2", "willTerminate 2"] {
            let place = try #require(log.firstRange(of: line), "\(line) in \(end.log)")
            log = log[place.upperBound...]
        }
        #expect(try items(scratch.file("c")) == "before farewell false")
    }

    @Test("a status that the system would cut is refused", arguments: ["os.exit(256)", "app:terminate(1 << 32)"])
    func statuses(exit: String) throws {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("c"))
        embedding.host.launch()
        #expect(embedding.run(exit).contains("an exit status from 0 to 255 expected, got"))
        #expect(embedding.host.exitCode == nil)
        embedding.end()
    }
}
