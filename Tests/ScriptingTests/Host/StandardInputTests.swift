import Application
import CPlatform
import Glibc
import Items
import Lua
import Scripting
import TestSupport
import Testing

/// Reads of standard input wait in the loop, wherever they are made: nothing else is held by them.
@Suite("Reads of standard input") struct StandardInputTests {
    /// A host whose standard input is a pipe.
    private final class Typing {
        let scratch: TemporaryDirectory
        let embedding: Embedding
        private(set) var lent = 0
        private(set) var lendings = 0
        private let ends: [Int32]
        private var isOpen = true

        init(_ change: (inout ScriptHostOptions) -> Void = { _ in }) throws {
            scratch = try TemporaryDirectory()
            embedding = try Embedding(scratch.file("c"), change)
            var ends: [Int32] = [0, 0]
            #expect(pipe(&ends) == 0)
            self.ends = ends
            host.input.descriptor = ends[0]
            let feed = LuaFunctionDeclaration("feed", [LuaParameter("text", .text)])
            host.state.setGlobal(feed) { [unowned self] call in
                put(try call.text(0))
                return call.returnsNothing()
            }
            host.state.setGlobal(LuaFunctionDeclaration("finish")) { [unowned self] call in
                finish()
                return call.returnsNothing()
            }
            host.launch()
        }

        deinit {
            close(ends[0])
            finish()
        }

        var host: ScriptHost { embedding.host }

        func put(_ text: String) {
            let bytes = Array(text.utf8)
            #expect(cubby_write(ends[1], bytes, bytes.count) == bytes.count)
        }

        func finish() {
            if isOpen { close(ends[1]) }
            isOpen = false
        }

        /// Counts as a prompt does, which lends its terminal.
        func lend() {
            host.input.lend = { [unowned self] in
                lent += 1
                lendings += 1
            }
            host.input.takeBack = { [unowned self] in lent -= 1 }
        }
    }

    static let chunks: [(String, String)] = [
        ("timer.after(0, function() feed('one\\n') end) return io.read()", "one"),
        // What is long: everything, several lines, a numeral.
        (
            "local n, t = 0 t = timer.every(0.001, function() n = n + 1 feed('line ' .. n .. '\\n') if n == 3 then t:cancel() finish() end end) local all = io.read('a') return (all:gsub('\\n', '|'))",
            "line 1|line 2|line 3|"
        ),
        (
            "local n = 0 local t = timer.every(0.001, function() n = n + 1 feed(n .. '\\n') end) local a, b, c = io.read('n', 'L', 'l') t:cancel() return a, #b, c",
            "1 1 2"
        ),
        (
            "timer.after(0.001, function() feed('a\\nb\\n') timer.after(0.001, function() feed('c') finish() end) end) local t = {} for line in io.lines() do t[#t + 1] = line end return table.concat(t, '|')",
            "a|b|c"
        ),
        (
            "timer.after(0.001, function() feed('12ab') finish() end) local t = {} for c in io.stdin:lines(1) do t[#t + 1] = c end return #t, io.stdin:read(), io.read(0)",
            "4 nil nil"
        ),
        // Where a coroutine of the script's own cannot yield to the host.
        (
            "timer.after(0.001, function() feed('x\\n') end) return coroutine.wrap(function() return (io.read()) end)()",
            "x"
        ),
        (
            "timer.after(0.001, function() feed('2\\n1\\n') end) local t = { 'a', 'b' } table.sort(t, function() return io.read('n') == 1 end) return #t",
            "2"
        ),
        // Reads take the lines in the order in which they began.
        (
            "local got timer.after(0, function() got = io.read() end) timer.after(0.002, function() feed('first\\nsecond\\n') end) local own = io.read() timer.sleep(0.001) return own, got",
            "first second"
        ),
        ("finish() return io.read(), io.read('a'), io.read('a')", "nil  "),
        ("return pcall(io.read, 'x')", "false bad argument #1 to 'read' (invalid format)"),
        ("return pcall(io.read, -1)", "false bad argument #1 to 'read' (a number of bytes from 0 expected, got -1)"),
        (
            "return select('#', io.stdin:seek()), io.stdin:setvbuf('no'), io.stdin:close()",
            "3 true nil cannot close standard file"
        ),
    ]

    @Test("wait, and timers run meanwhile", arguments: chunks)
    func waiting(script: String, expected: String) throws {
        let typing = try Typing()
        let watchdog = Watchdog(script)
        defer { watchdog.done() }
        let result = typing.embedding.run(script)
        #expect(result == expected, "\(script): \(result)")
    }

    @Test("end with the script's time, and leave the host usable")
    func timeLimit() throws {
        let typing = try Typing { $0.timeLimit = .seconds(0.05) }
        typing.lend()
        for script in ["io.read()", "pcall(io.read)", "for _ in io.lines() do end", "coroutine.wrap(io.read)('a')"] {
            let result = typing.embedding.run(script)
            #expect(result.hasPrefix("error: "), "\(script): \(result)")
            #expect(typing.lent == 0)
        }
        typing.put("still here\n")
        #expect(typing.embedding.run("return io.read()") == "still here")
    }

    @Test("in a handler of the life cycle give way at its time: the save runs, and the end comes")
    func lifeCycle() throws {
        let typing = try Typing { $0.callbackLimit = .seconds(0.2) }
        let script = "items:createItem() app:on('didEnterBackground', function() io.read() end)"
        #expect(typing.embedding.run(script) == "")
        typing.host.terminate(cause: .sigterm, explicitly: false)
        #expect(typing.host.exitCode == 0 && typing.host.saveFailure == nil && !typing.host.items.hasChanges)
        #expect(typing.embedding.recorder.errors.contains("didEnterBackground"))
    }

    @Test("a second SIGTERM passes over a handler that reads")
    func secondTermination() throws {
        let typing = try Typing { $0.callbackLimit = .seconds(3000) }
        let poster = typing.host.loop.poster
        typing.host.state.setGlobal(LuaFunctionDeclaration("again")) { call in
            poster.post(.terminate)
            return call.returnsNothing()
        }
        let script =
            "items:createItem() app:on('didEnterBackground', { budget = 0 }, function() timer.after(0, again) io.read() end)"
        #expect(typing.embedding.run(script) == "")
        poster.post(.terminate)
        typing.host.runUntilTerminated()
        #expect(typing.host.exitCode == 0 && !typing.host.items.hasChanges)
    }

    @Test("a request to end ends a chunk that reads")
    func termination() throws {
        let typing = try Typing()
        typing.lend()
        let poster = typing.host.loop.poster
        typing.host.loop.after(0) { poster.post(.terminate) }
        #expect(typing.embedding.run("items:createItem() pcall(io.read)").hasPrefix("error: "))
        #expect(typing.host.exitCode == 0 && !typing.host.items.hasChanges && typing.lent == 0)
    }

    @Test("Ctrl-C ends the read of a chunk, and of a timer while nothing else runs")
    func interruption() throws {
        let typing = try Typing()
        typing.lend()
        let poster = typing.host.loop.poster
        typing.host.loop.after(0) { poster.post(.interrupt) }
        #expect(typing.embedding.run("pcall(io.read)") == "error: interrupted")
        #expect(typing.embedding.run("timer.after(0, function() io.read() end)") == "")
        typing.host.loop.run { typing.lent == 1 }
        poster.post(.interrupt)
        typing.host.loop.run { typing.lent == 0 }
        #expect(typing.host.handlerFailures.first?.message == "interrupted")
    }

    @Test("take the terminal only while they wait, and give it back after a failure")
    func lending() throws {
        let typing = try Typing { $0.memoryLimit = 4 << 20 }
        typing.lend()
        typing.put("one\ntwo\n")
        #expect(typing.embedding.run("return io.read(), io.read()") == "one two")
        #expect(typing.lendings == 1 && typing.lent == 0)
        #expect(typing.embedding.run("io.read('x')").contains("invalid format"))
        #expect(typing.lendings == 1)
        let feed = typing.host.loop.every(0.001) { typing.put(String(repeating: "x", count: 1 << 15)) }
        #expect(typing.embedding.run("io.read('a')").contains("not enough memory"))
        feed.cancel()
        #expect(typing.lent == 0)
    }

    @Test("a question comes first, and the read goes on after it")
    func pauses() throws {
        let typing = try Typing()
        typing.lend()
        typing.put("line\n")
        typing.host.input.pauses += 1
        var isPausedLongEnough = false
        typing.host.loop.after(0.01) {
            isPausedLongEnough = typing.lendings == 0
            typing.host.input.pauses -= 1
        }
        #expect(typing.embedding.run("return io.read()") == "line")
        #expect(isPausedLongEnough && typing.lendings == 1 && typing.lent == 0)
    }

    @Test("what was typed ahead and not read is the prompt's")
    func rest() throws {
        let typing = try Typing()
        typing.put("one\nitems:count()\n")
        #expect(typing.embedding.run("return io.read()") == "one")
        #expect(String(decoding: typing.host.input.takeRest(), as: UTF8.self) == "items:count()\n")
        #expect(typing.host.input.takeRest().isEmpty)
    }
}
