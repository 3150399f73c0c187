import Application
import Files
import Glibc
import Items
import Lua
import Scripting
import TestSupport
import Testing

/// The launch: while `init.lua` runs, the process is served and ends as at any other time.
@Suite("The launch") struct LaunchTests {
    /// A host with an `init.lua`, not launched yet. `stop()` of its scripts is a signal.
    private final class Launch {
        let scratch: TemporaryDirectory
        let embedding: Embedding
        var signal = UnixSignal.terminate

        init(_ source: String, _ change: (inout ScriptHostOptions) -> Void = { _ in }) throws {
            scratch = try TemporaryDirectory()
            _ = try scratch.write(source, to: "c/Library/Scripts/init.lua")
            embedding = try Embedding(scratch.file("c"), change)
            let (poster, interrupter) = (host.loop.poster, host.state.interrupter)
            host.state.setGlobal(LuaFunctionDeclaration("stop")) { [unowned self] call in
                poster.post(signal)
                interrupter.interrupt([.events, .urgent])
                return call.returnsNothing()
            }
        }

        var host: ScriptHost { embedding.host }
        var recorder: Recorder { embedding.recorder }
    }

    @Test(
        "a request to end ends it while init.lua runs",
        arguments: [
            "stop() while true do end", "stop() while true do pcall(error) end",
            "timer.after(0, stop) timer.sleep(1000)",
            "timer.after(0, stop) app:run()", "timer.after(0, stop) coroutine.wrap(function() timer.sleep(1000) end)()",
        ])
    func termination(body: String) throws {
        for signal in [UnixSignal.terminate, .hangUp] {
            let launch = try Launch(
                "items:createItem() app:on('willTerminate', function() print('handler') end) \(body)")
            launch.signal = signal
            let host = launch.host
            let watchdog = Watchdog("\(signal) \(body)")
            defer { watchdog.done() }
            host.launch()
            #expect(host.exitCode == 0 && host.wasEndedBySystem, "\(body)")
            #expect(!host.items.hasChanges && host.items.count == 1)
            #expect(launch.recorder.output.isEmpty && !launch.recorder.errors.contains("skipped"))
            #expect(host.applicationState == .notRunning)
        }
    }

    @Test("os.exit and app:terminate in init.lua end it, with their status")
    func exits() throws {
        for (source, status) in [("os.exit(3)", 3), ("app:terminate(4)", 4), ("pcall(os.exit, 5)", 5)] {
            let launch = try Launch(source)
            launch.host.launch()
            #expect(launch.host.exitCode == Int32(status))
            #expect(launch.recorder.errors.isEmpty && !launch.host.hasSkippedInitScript)
        }
    }

    /// As a failed reload does.
    @Test("what a broken init.lua has registered is taken back")
    func brokenInitScript() throws {
        let launch = try Launch(
            """
            app:on("user.test", function() print("handler") end)
            items:on("didUpdate", function() print("item handler") end)
            app:group("g", function(on) on("user.test", function() print("group") end) end)
            notifications:addObserver("test", function() print("observer") end)
            timer.every(0.001, function() print("timer") end)
            app.delegate = { applicationWillTerminate = function() print("delegate") end }
            require "part"
            error("later")
            """)
        _ = try launch.scratch.write(
            "app:on('user.test', function() print('of a module') end)", to: "c/Library/Scripts/part.lua")
        let embedding = launch.embedding
        launch.host.launch()
        #expect(launch.host.hasSkippedInitScript)
        #expect(
            embedding.run(
                "app:emit('user.test') notifications:post('test') items:createItem() timer.sleep(0.01) return #app:hooks()"
            )
                == "1", "the host's own hook remains")
        embedding.end()
        #expect(embedding.recorder.output.isEmpty, "\(embedding.recorder.output)")
        #expect(
            embedding.recorder.errors.contains("later") && embedding.recorder.errors.contains("init.lua was skipped"),
            "\(embedding.recorder.errors)")
    }

    @Test("a job's log says as an error that init.lua is broken")
    func unattended() throws {
        for (form, mark) in [(StandardErrorLogHandler.Form.json, "\"error\""), (.journal, "<3>"), (.nsLog, "cubby[")] {
            let launch = try Launch("x = = 1") { $0.logForm = form }
            launch.host.launch()
            let errors = launch.recorder.errors
            #expect(errors.contains(mark) && errors.contains("init.lua was skipped"), "\(errors)")
            #expect(launch.host.exitCode == nil)
            launch.embedding.end()
        }
    }

    @Test("os.exit in a handler at the end is the status")
    func exitInAHandler() throws {
        for event in ["didEnterBackground", "willTerminate"] {
            let launch = try Launch("")
            launch.host.launch()
            _ = launch.embedding.run("items:createItem() app:on('\(event)', function() os.exit(5) end)")
            launch.embedding.end()
            #expect(launch.host.exitCode == 5, "\(event)")
            #expect(!launch.recorder.errors.contains("error") && !launch.host.items.hasChanges)
        }
        let launch = try Launch("")
        launch.host.launch()
        let script = "app:on('willTerminate', function() app:terminate() end) os.exit(3)"
        #expect(launch.embedding.run(script).hasPrefix("error"))
        #expect(launch.host.exitCode == 3, "the end is not asked for twice")
    }

    @Test("a stop is served before the next due timer, however many are due")
    func dueTimers() throws {
        for signal in [UnixSignal.interrupt, .terminate, .hangUp] {
            let launch = try Launch("")
            launch.signal = signal
            launch.host.launch()
            let watchdog = Watchdog("\(signal)")
            defer { watchdog.done() }
            let script =
                "for i = 1, 3 do timer.after(0, function() print(i) stop() while true do pcall(error) end end) end app:run()"
            #expect(launch.embedding.run(script).hasPrefix("error: "))
            #expect(launch.recorder.output == "1\n", "\(signal)")
            #expect((launch.host.exitCode != nil) == (signal != .interrupt))
        }
    }

    @Test("changes before a transaction are in the journal while it runs")
    func transaction() throws {
        for function in ["transaction", "dryRun"] {
            let launch = try Launch("")
            let (host, embedding) = (launch.host, launch.embedding)
            host.launch()
            let journal = launch.scratch.file("c/Documents/items.journal")
            host.state.setGlobal(LuaFunctionDeclaration("journal")) { call in
                let bytes = (try? PosixFileLayer().contents(of: journal, limit: 1 << 20)) ?? []
                let text = String(decoding: bytes, as: UTF8.self)
                return call.returns("\(text.contains("before")) \(text.contains("inside"))")
            }
            let script =
                "local seen items:createItem{ name = 'before' } items:\(function)(function() items:createItem{ name = 'inside' } seen = journal() end) return seen"
            #expect(embedding.run(script) == "true false", "\(function)")
            embedding.end()
        }
    }
}
