import Application
import Glibc
import Items
import Lua
import TestSupport
import Testing

@testable import Scripting

@Suite("Breaks in a host", .serialized)
struct ScriptDebuggerTests {
    let scratch: TemporaryDirectory
    let embedding: Embedding
    let user = BreakRecorder()
    var host: ScriptHost { embedding.host }

    init() throws {
        scratch = try TemporaryDirectory()
        embedding = try Embedding(scratch.file("c")) { options in
            options.timeLimit = .seconds(0.2)
            options.callbackLimit = .seconds(2)
            options.backgroundLimit = .seconds(0.1)
        }
        host.launch()
        host.debugger.frontEnd = user
    }

    @Test("nobody looks: the script goes on, with a warning for each place")
    func nobody() {
        host.debugger.frontEnd = nil
        #expect(embedding.run("for i = 1, 3 do breakpoint() end breakpoint() return 1", name: "@main.lua") == "1")
        #expect(embedding.recorder.errors.contains("breakpoint() in main.lua:1 is passed over"))
        #expect(embedding.recorder.errors.split(separator: "\n").count == 1)
        user.canLook = false
        host.debugger.frontEnd = user
        #expect(embedding.run("\nbreakpoint() return 2", name: "@main.lua") == "2")
        #expect(user.breaks == [] && embedding.recorder.errors.contains("main.lua:2"))
    }

    @Test("the time limit does not count the user's look, but each evaluation has its own")
    func time() {
        var seen = ""
        user.answer = { stop in
            BreakRecorder.wait(0.3, at: stop)
            seen = BreakRecorder.value("(function() while true do end end)()", at: stop, seconds: 0.05)
            return .resume
        }
        #expect(embedding.run("breakpoint() return 'done'", name: "@main.lua") == "done")
        #expect(seen == "error: (break):1: time is up: the limit is 0.05 s")
        // The rest of the time limit remains, and expires.
        #expect(
            embedding.run("breakpoint() while true do end", name: "@main.lua")
                == "error: main.lua:1: time is up: the limit is 0.2 s")
        #expect(user.breaks == ["main.lua:1", "main.lua:1"])
    }

    @Test("a condition and a watch that do not end are ended")
    func endless() {
        host.debugger.core.add(
            LuaBreakpoint(path: "main.lua", line: 1, condition: "(function() while true do pcall(error) end end)()"))
        var failure: LuaError?
        user.answer = { stop in
            if case .breakpoint(_, let error) = stop.stop.reason { failure = error }
            return .resume
        }
        #expect(embedding.run("return 1", name: "@main.lua") == "1")
        #expect(failure?.kind == .deadline)
    }

    @Test("what an evaluation changes is committed")
    func committed() {
        user.answer = { stop in
            _ = BreakRecorder.value("items:createItem{ name = 'Lamp' }", at: stop)
            #expect(host.items.count == 1 && !host.items.hasUncommittedChanges)
            return .resume
        }
        _ = embedding.run("breakpoint()")
        #expect(user.breaks.count == 1)
    }

    @Test("with durability power it is on the disk when the evaluation ends")
    func synced() throws {
        let persistence = SyncedPersistence()
        let embedding = try Embedding(scratch.file("power")) { options in
            options.durability = .power
            options.persistence = { _ in persistence }
        }
        embedding.host.launch()
        embedding.host.debugger.frontEnd = user
        user.answer = { stop in
            persistence.isSynced = false
            _ = BreakRecorder.value("items:createItem{ name = 'Lamp' }", at: stop)
            #expect(persistence.isSynced)
            return .resume
        }
        _ = embedding.run("breakpoint()")
        #expect(user.breaks.count == 1)
    }

    @Test("a handler, a timer and a task break, each with its title")
    func titles() {
        _ = embedding.run(
            "app:on('didBecomeActive', function() breakpoint() end)\ntimer.after(0.001, function() breakpoint() end)",
            name: "@main.lua")
        _ = embedding.run("timer.sleep(0.02) breakpoint()", name: "@chunk.lua")
        host.handle(.focusOut, cause: .focus)
        host.handle(.focusIn, cause: .focus)
        #expect(
            user.breaks == [
                "main.lua:2 the timer after 0.001 s, main.lua:2", "chunk.lua:1",
                "main.lua:1 the handler didBecomeActive (main.lua:1)",
            ], "\(user.breaks)")
    }

    @Test("timers and waits come after the break, a repeated timer once")
    func held() {
        user.answer = { stop in
            BreakRecorder.wait(0.05, at: stop)
            #expect(BreakRecorder.value("ticks, done", at: stop) == "0 false")
            // A wait in the evaluation itself ends.
            #expect(BreakRecorder.value("timer.sleep(0.001) return 5", at: stop) == "5")
            return .resume
        }
        _ = embedding.run(
            "ticks, done = 0, false timer.after(0.001, function() ticks = ticks + 1 timer.sleep(0.001) done = true end)"
        )
        #expect(
            embedding.run("breakpoint() local t = ticks timer.sleep(0.03) return t, ticks, done", name: "@main.lua")
                == "0 1 true")
    }

    @Test("Ctrl-C at a break stops the script, past its pcall; during an evaluation that alone")
    func interrupted() {
        var seen = ""
        user.answer = { stop in
            host.loop.after(0.01) { host.cancelForeground() }
            seen = BreakRecorder.value("timer.sleep(60)", at: stop)
            #expect(stop.ending == nil)
            host.loop.after(0.01) { host.cancelForeground() }
            BreakRecorder.wait(10, at: stop)
            #expect(stop.ending == .interrupted)
            return .resume
        }
        #expect(embedding.run("pcall(function() breakpoint() after = 1 end) after = 2") == "error: interrupted")
        #expect(seen == "error: interrupted")
        #expect(embedding.run("return rawget(_G, 'after')") == "nil")
    }

    @Test("the application goes to the background and ends at a break; what the script has made is saved")
    func lifeCycle() {
        user.answer = { stop in
            #expect(embedding.host.items.count == 1)
            host.handle(.pressHome, cause: .sigtstp)
            host.handle(.resume(inForeground: true), cause: .sigcont)
            #expect(stop.ending == nil)
            host.terminate(cause: .sigterm, explicitly: false)
            #expect(stop.ending == .ended)
            return .resume
        }
        _ = embedding.run("app:on('didEnterBackground', function() away = true end)")
        #expect(
            embedding.run("items:createItem{ name = 'Lamp' } breakpoint() after = 1", name: "@main.lua")
                == "error: the application has ended")
        #expect(host.exitCode == 0 && host.state.globals["away"] == .boolean(true) && host.state.globals["after"].isNil)
        #expect(host.saveFailure == nil)
    }

    @Test("in a handler of the life cycle the time runs on, and its end ends the break")
    func budget() {
        let watchdog = Watchdog("a break in didEnterBackground")
        defer { watchdog.done() }
        _ = embedding.run(
            "app:on('didEnterBackground', function() items:createItem{ name = 'late' } breakpoint() after = 1 while true do end end)"
        )
        var ending: ScriptBreak.Ending?
        user.answer = { stop in
            BreakRecorder.wait(60, at: stop)
            ending = stop.ending
            return .resume
        }
        host.handle(.pressHome, cause: .sigtstp)
        #expect(ending == .timeIsUp && user.breaks.count == 1)
        #expect(host.saveFailure == nil && !host.items.hasUncommittedChanges && host.items.count == 1)
    }

    @Test("the next event of the life cycle ends a break in a handler without a time limit")
    func nextEvent() {
        let watchdog = Watchdog("a break in didBecomeActive")
        defer { watchdog.done() }
        _ = embedding.run("app:on('didBecomeActive', function() breakpoint() after = 1 end)")
        var ending: ScriptBreak.Ending?
        user.answer = { stop in
            host.terminate(cause: .sigterm, explicitly: false)
            BreakRecorder.wait(60, at: stop)
            ending = stop.ending
            return .resume
        }
        host.handle(.focusOut, cause: .focus)
        host.handle(.focusIn, cause: .focus)
        #expect(ending == .eventWaits && host.exitCode == 0)
        #expect(host.state.globals["after"] == .integer(1))
    }

    @Test("a break in the background ends with the time there")
    func background() throws {
        let watchdog = Watchdog("a break in the background")
        defer { watchdog.done() }
        _ = embedding.run("app:beginBackgroundTask('t') timer.after(0.01, function() breakpoint() end)")
        var ending: ScriptBreak.Ending?
        user.answer = { stop in
            BreakRecorder.wait(60, at: stop)
            ending = stop.ending
            return .resume
        }
        host.lifeCycle.isHandling = true
        host.lifeCycle.runBackgroundTasks()
        host.lifeCycle.isHandling = false
        #expect(ending == .timeIsUp && host.lifeCycle.backgroundTasks.isEmpty)
    }

    @Test("no break within a break, and none in the code of an attached prompt")
    func nested() {
        user.answer = { stop in
            #expect(BreakRecorder.value("breakpoint() return a", at: stop) == "7")
            return .resume
        }
        #expect(embedding.run("local a = 7 breakpoint() return a") == "7")
        #expect(user.breaks.count == 1)
        let entry = ScriptEntry(number: 1, frontEnd: embedding.recorder)
        if case .success(let function) = Result(catching: { try host.state.load("breakpoint()".utf8, name: "=[1]") }) {
            host.begin(function, as: entry) { _ in }
        }
        #expect(user.breaks.count == 1)
    }

    @Test("a breakpoint's line is found in the text of a chunk, or in a file")
    func lines() throws {
        try scratch.write("\n\nlocal x = 1\n", to: "file.lua")
        let added = try host.debugger.add(LuaBreakpoint(path: scratch.file("file.lua"), line: 1))
        #expect(added?.line == 3 && added?.isPlaced == true)
        #expect(try host.debugger.add(LuaBreakpoint(path: scratch.file("file.lua"), line: 9)) == nil)
        host.sources.remember("#!/usr/bin/cubby\n\nreturn 1", as: "kept.lua")
        #expect(try host.debugger.add(LuaBreakpoint(path: "kept.lua", line: 1))?.line == 3)
        #expect(throws: LuaError.self) {
            try host.debugger.add(LuaBreakpoint(path: "kept.lua", line: 1, condition: "n = 5"))
        }
    }

    @Test("a file that is not found is waited for: a chunk of it places the breakpoint", arguments: [true, false])
    func awaited(isLoadedByScript: Bool) throws {
        var placed: [Int] = []
        host.debugger.core.onPlaced = { placed.append($0.line) }
        let path = scratch.file("later.lua")
        let added = try host.debugger.add(LuaBreakpoint(path: path, line: 2))
        #expect(added?.line == 2 && added?.isPlaced == false)
        if isLoadedByScript {
            #expect(embedding.run("load('\\nreturn 1', '@\(path)')()", name: "@other.lua") == "")
            #expect(placed == [2] && user.breaks.count == 1)
        } else {
            #expect(embedding.run("\n\nreturn 1", name: "@" + path) == "1")
            #expect(placed == [3] && user.breaks.count == 1)
        }
    }

    @Test("a path and a chunk are one if their file is: links, dots, slashes; another file of the same name is not")
    func files() throws {
        try scratch.write("return 1", to: "real/main.lua")
        try scratch.write("return 1", to: "other/main.lua")
        symlink("real", scratch.file("way"))
        symlink("real/main.lua", scratch.file("alias.lua"))
        let real = scratch.file("real/main.lua")
        let (folder, name) = (scratch.path, "main.lua")
        let same = [
            real, "\(folder)/way/main.lua", "\(folder)/alias.lua", "\(folder)//real/./main.lua",
            "\(folder)/way/../real/main.lua", "\(folder)/other/../real//main.lua", name, "real/main.lua",
            "./real/main.lua",
        ]
        for path in same { #expect(ScriptDebugger.isFile(path, of: real), "\(path)") }
        for path in ["\(folder)/other/main.lua", "\(folder)/real/main.lu", "/main.lua", "eal/main.lua", "real", ""] {
            #expect(!ScriptDebugger.isFile(path, of: real), "\(path)")
        }
        // A relative chunk is a file of the working folder, and not the end of any path.
        #expect(!ScriptDebugger.isFile(real, of: name))
        // What is gone is compared by its path without links.
        #expect(unlink(real) == 0)
        #expect(ScriptDebugger.isFile("\(folder)/way/main.lua", of: real))
        #expect(!ScriptDebugger.isFile("\(folder)/other/main.lua", of: real))
    }
}

/// Keeps nothing, and knows whether its last commit would survive a power cut.
private final class SyncedPersistence: ItemPersistence, @unchecked Sendable {
    // Guard: the test's thread alone uses it.
    var isSynced = true
    let isReadOnly = false

    func load(into loader: ItemLoader) -> ItemLoadReport { ItemLoadReport() }
    func append(_ commit: borrowing ItemCommit, durable: Bool) -> ItemRevision {
        isSynced = durable
        return commit.revision.next
    }
    func synchronize() { isSynced = true }
}
