import Application
import Lua
import Scripting
import TestSupport
import Testing

/// A thousand handlers on the way to the background, and three among them that misbehave.
@Suite("Many handlers")
struct ManyHandlersTests {
    @Test("one fails, one spins, one removes others: the rest run, and the save happens in time")
    func thousand() throws {
        let scratch = try TemporaryDirectory()
        // A thousand calls take seconds under a sanitizer.
        let limit = 5 * Project.patience
        let embedding = try Embedding(scratch.file("container")) { $0.callbackLimit = .seconds(limit) }
        embedding.host.launch()
        _ = embedding.run(
            """
            calls, saved = 0, nil
            for i = 1, 997 do app:on("didEnterBackground", { id = "h" .. i }, function() calls = calls + 1 end) end
            app:on("didEnterBackground", { priority = 10, id = "fails" }, function() error("on purpose") end)
            app:on("didEnterBackground", { priority = 20, id = "spins" }, function() while true do end end)
            app:on("didEnterBackground", { priority = 30, id = "removes" }, function()
              for i = 1, 10 do app:off("h" .. i) end
            end)
            app:on("didSave", function(event) saved = event.ok end)
            items:createItem()
            """)
        let start = MonotonicTime.now()
        embedding.host.handle(.pressHome, cause: .sigtstp)
        #expect(MonotonicTime.now().seconds(since: start) < limit)
        #expect(embedding.run("return calls, saved, items.hasChanges") == "987 true false")
        #expect(
            embedding.run("local e = app:errors() return #e, e[1].hook, e[2].hook")
                == "2 didEnterBackground (spins) didEnterBackground (fails)")
        embedding.end()
    }

    @Test("what is left of the time is told, and used up it is not given: the save still happens")
    func timeUsedUp() throws {
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("container")) { $0.callbackLimit = .seconds(0.4) }
        embedding.host.launch()
        _ = embedding.run(
            """
            app.delegate = { applicationDidEnterBackground = function() while true do end end }
            app:on("didEnterBackground", { id = "late" }, function() called = true end)
            app:on("willSave", function(event) left = event:remaining() end)
            items:createItem()
            """)
        embedding.host.handle(.pressHome, cause: .sigtstp)
        #expect(
            embedding.run("return rawget(_G, 'called'), left > 0 and left <= 0.3, items.hasChanges") == "nil true false"
        )
        #expect(embedding.recorder.errors.contains("was used up"))
        embedding.end()
    }
}
