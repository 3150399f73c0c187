import Lua
import Synchronization
import TestSupport
import Testing

@Suite("The output of runs as a sequence")
struct OutputStreamTests {
    private func text(of stream: LuaOutputStream) async -> String {
        var bytes: [UInt8] = []
        for await chunk in stream { bytes += chunk }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("has all bytes in order, and ends with the run, or with its failure", arguments: [1, 10, 1 << 16])
    func order(capacity: Int) async throws {
        let watchdog = Watchdog("order", needsTasks: true)
        defer { watchdog.done() }
        let engine = try await LuaEngine()
        let expected = (1...500).map { "\($0)\n\($0);" }.joined()
        for ending in ["", "error('x')"] {
            let stream = LuaOutputStream(capacity: capacity)
            async let run: Void = engine.run(
                "for i = 1, 500 do print(i) io.write(i, ';') end \(ending)", output: stream.output)
            #expect(await text(of: stream) == expected)
            if ending.isEmpty {
                try await run
            } else {
                do {
                    try await run
                    Issue.record("the run did not fail")
                } catch { #expect((error as? LuaError)?.message.contains("x") == true) }
            }
        }
    }

    @Test(
        "a script waits while nobody reads, and other runs continue",
        arguments: [
            "for i = 1, 100 do print('0123456789') end",
            "coroutine.wrap(function() for i = 1, 100 do pcall(io.write, '0123456789', '\\n') end end)()",
            "table.sort({2, 1}, function() for i = 1, 100 do print('0123456789') end end)",
        ])
    func waits(script: String) async throws {
        let watchdog = Watchdog(script, needsTasks: true)
        defer { watchdog.done() }
        let engine = try await LuaEngine()
        let stream = LuaOutputStream(capacity: 25)
        let canYield = !script.hasPrefix("table.sort")
        let output = stream.output
        let run = Task { try await engine.run(script, output: output) }
        var iterator = stream.makeAsyncIterator()
        var count = try #require(await iterator.next()).count
        if canYield {
            // It has written until the stream was full: this run has its turn although the other has not ended.
            #expect(try await engine.run("return 1", as: Int.self) == 1)
        }
        for _ in 0..<20 {
            let chunk = try #require(await iterator.next())
            #expect(chunk.count <= 25 + 11)
            count += chunk.count
        }
        while count < 1100, let chunk = await iterator.next() { count += chunk.count }
        try await run.value
        #expect(count == 1100)
    }

    @Test("deadlines and cancellation end the wait", arguments: ["print('x')", "pcall(print, 'x')"])
    func stops(line: String) async throws {
        let watchdog = Watchdog(line, needsTasks: true)
        defer { watchdog.done() }
        let engine = try await LuaEngine()
        let script = "while true do \(line) end"
        let stream = LuaOutputStream(capacity: 4)
        let output = stream.output
        let first = await #expect(throws: LuaError.self) {
            try await engine.run(script, timeLimit: .milliseconds(20), output: output)
        }
        #expect(first?.kind == .deadline)
        let second = await #expect(throws: LuaError.self) {
            try await engine.run(script, deadline: .now + .milliseconds(20), output: output)
        }
        #expect(second?.kind == .deadline)
        let run = Task { try await engine.run(script, output: output) }
        run.cancel()
        let third = await #expect(throws: LuaError.self) { try await run.value }
        #expect(third?.kind == .cancelled)
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next()?.isEmpty == false)
    }

    @Test("once nobody can read any more, output is dropped, and no script waits")
    func unread() async throws {
        let watchdog = Watchdog("unread", needsTasks: true)
        defer { watchdog.done() }
        let engine = try await LuaEngine()
        let script = "for i = 1, 1000 do print(i) end return 1"
        var stream: LuaOutputStream? = LuaOutputStream(capacity: 10)
        let output = try #require(stream?.output)
        let run = Task { try await engine.run(script, as: Int.self, output: output) }
        stream = nil
        #expect(try await run.value == 1)
        let left = LuaOutputStream(capacity: 10)
        let leaving = left.output
        let second = Task { try await engine.run(script, as: Int.self, output: leaving) }
        for await _ in left { break }
        #expect(try await second.value == 1)
    }

    @Test("the reader's task ends its wait when it is cancelled; the limit of output counts")
    func reader() async throws {
        let watchdog = Watchdog("reader", needsTasks: true)
        defer { watchdog.done() }
        let stream = LuaOutputStream()
        let output = stream.output
        let reader = Task { await text(of: stream) }
        reader.cancel()
        #expect(await reader.value == "")
        let engine = try await LuaEngine(limits: LuaLimits(output: 4))
        let limited = LuaOutputStream(capacity: 1)
        async let written = text(of: limited)
        let error = await #expect(throws: LuaError.self) {
            try await engine.run("for i = 1, 9 do print(i) end", output: limited.output)
        }
        #expect(error?.kind == .output)
        #expect(await written == "1\n2\n")
        withExtendedLifetime(output) {}
    }
}
