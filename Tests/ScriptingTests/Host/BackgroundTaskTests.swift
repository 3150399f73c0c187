import Application
import Glibc
import Items
import Lua
import Scripting
import TestSupport
import Testing

/// Background tasks on the way out: what a save or the end has begun goes on for a time.
@Suite("Background tasks at the end") struct BackgroundTaskTests {
    private let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    /// A launched host; `send(name)` of its scripts is a signal.
    private func launched(grace: Duration = .seconds(600), _ source: String) throws -> Embedding {
        let embedding = try Embedding(scratch.file("c")) { $0.graceLimit = grace }
        let host = embedding.host
        let (poster, interrupter) = (host.loop.poster, host.state.interrupter)
        host.state.setGlobal(LuaFunctionDeclaration("send", [LuaParameter("signal", .string)])) { call in
            poster.post(try call.text(0) == "INT" ? .interrupt : .terminate)
            interrupter.interrupt([.events, .urgent])
            return call.returnsNothing()
        }
        host.launch()
        #expect(embedding.run(source) == "")
        return embedding
    }

    @Test(
        "a task that a handler of the end has begun is waited for, and what it changes is saved",
        arguments: ["didEnterBackground", "willSave", "didSave", "willTerminate"])
    func waited(event: String) throws {
        let watchdog = Watchdog(event)
        defer { watchdog.done() }
        let embedding = try launched(
            """
            items:createItem()
            app:once("\(event)", function()
              local task = app:beginBackgroundTask("push", function() print("expired") end)
              timer.after(0.01, function()
                print(app.state, app.backgroundTimeRemaining <= 600, app.backgroundTimeRemaining > 0)
                items:createItem{ name = "pushed" }
                app:endBackgroundTask(task)
              end)
            end)
            """)
        embedding.end()
        #expect(embedding.recorder.output == "background\ttrue\ttrue\n", "\(embedding.recorder.errors)")
        #expect(embedding.recorder.errors.contains("Waiting for the background task push, at most 600 s"))
        #expect(embedding.host.exitCode == 0 && embedding.host.handlerFailureCount == 0)
        #expect(embedding.host.items.count == 2 && !embedding.host.items.hasChanges)
    }

    @Test("a coroutine's waits are work, too") func waiting() throws {
        let watchdog = Watchdog("a coroutine")
        defer { watchdog.done() }
        let embedding = try launched(
            """
            items:createItem()
            app:on("didSave", function()
              local task = app:beginBackgroundTask("push")
              timer.after(0, function() for i = 1, 3 do timer.sleep(0.001) end print("done") app:endBackgroundTask(task) end)
            end)
            """)
        embedding.end()
        #expect(embedding.recorder.output == "done\n")
        #expect(embedding.host.handlerFailureCount == 0)
    }

    @Test("when the time is up a task expires: its handler is called, and it is named", arguments: [0, 0.02])
    func expired(grace: Double) throws {
        let embedding = try launched(
            grace: .seconds(grace),
            """
            items:createItem()
            app:on("didSave", function(event)
              app:beginBackgroundTask("push", function() print("expired", app.state) end)
            end)
            """)
        embedding.end()
        let errors = embedding.recorder.errors
        #expect(embedding.recorder.output == "expired\tbackground\n", "\(errors)")
        #expect(
            errors.contains("the background task push has expired: \(grace == 0 ? "0" : "0.02") s at the end are over"))
        #expect(embedding.host.exitCode == 0 && embedding.host.handlerFailureCount == 0)
    }

    @Test("one without a handler to hear of it has failed") func unheard() throws {
        let embedding = try launched(grace: .zero, "app:beginBackgroundTask('pu\\nsh')")
        embedding.end()
        #expect(embedding.recorder.errors.contains("error in the background task pu\\nsh: it did not end"))
        #expect(embedding.host.handlerFailureCount == 1)
    }

    @Test(
        "code that does not end is stopped when the time is up",
        arguments: [
            "while true do end", "while true do pcall(function() while true do end end) end",
            "coroutine.wrap(function() timer.sleep(1000) end)()", "timer.sleep(1000)",
        ])
    func endless(code: String) throws {
        let watchdog = Watchdog(code)
        defer { watchdog.done() }
        let embedding = try launched(
            grace: .seconds(0.05),
            """
            app:on("willTerminate", function()
              app:beginBackgroundTask("push", function() print("expired") end)
              timer.after(0, function() \(code) end)
            end)
            """)
        embedding.end()
        #expect(embedding.recorder.output == "expired\n")
        #expect(embedding.host.exitCode == 0)
    }

    @Test(
        "Ctrl-C, or a further SIGTERM, ends the wait",
        arguments: ["INT", "TERM"], ["timer.sleep(1000)", "while true do end"])
    func ended(signal: String, rest: String) throws {
        let watchdog = Watchdog(signal)
        defer { watchdog.done() }
        let embedding = try launched(
            """
            app:on("willTerminate", function()
              app:beginBackgroundTask("push", function() print("expired") end)
              timer.after(0, function() send("\(signal)") \(rest) end)
            end)
            """)
        embedding.end()
        #expect(embedding.recorder.output == "expired\n", "\(embedding.recorder.errors)")
        #expect(embedding.recorder.errors.contains("the background task push has expired: the wait was ended"))
        #expect(embedding.host.exitCode == 0)
    }

    @Test("a task that the last save begins has what is left of the time") func further() throws {
        let watchdog = Watchdog("a further save")
        defer { watchdog.done() }
        let embedding = try launched(
            """
            items:createItem()
            saves = 0
            app:on("didSave", function()
              saves = saves + 1
              local task = app:beginBackgroundTask("push " .. saves, function() print("expired", saves) end)
              timer.after(0, function()
                if saves < 3 then items:createItem() end
                print("pushed", saves)
                app:endBackgroundTask(task)
              end)
            end)
            """)
        embedding.end()
        #expect(embedding.recorder.output == "pushed\t1\npushed\t2\npushed\t3\n")
        #expect(embedding.host.items.count == 3 && !embedding.host.items.hasChanges)
    }

    @Test("saves that each begin a task end with the time") func endlessSaves() throws {
        let watchdog = Watchdog("saves without end")
        defer { watchdog.done() }
        let embedding = try launched(
            grace: .seconds(0.05),
            """
            items:createItem()
            app:on("didSave", function()
              local task = app:beginBackgroundTask("push", function() end)
              timer.after(0, function() items:createItem() app:endBackgroundTask(task) end)
            end)
            """)
        embedding.end()
        #expect(embedding.host.exitCode == 0 && embedding.host.lifeCycle.backgroundTasks.isEmpty)
    }
}
