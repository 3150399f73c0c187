import Lua
import Synchronization
import Testing

/// What a run of an engine writes, where it has an output of its own.
@Suite("Output of a run")
struct RunOutputTests {
    /// What one run or engine writes.
    private final class Written: Sendable {
        private let bytes = Mutex<[UInt8]>([])

        var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

        func append(_ written: borrowing Span<UInt8>) {
            bytes.withLock { for index in written.indices { $0.append(written[index]) } }
        }
    }

    @Test("goes to the run's closure, also when others of the engine write between")
    func ofRuns() async throws {
        let shared = Written()
        let engine = try await LuaEngine(output: { shared.append($0) })
        try await engine.register("pause") { () async in await Task.yield() }
        try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for number in 0..<20 {
                group.addTask {
                    let own = Written()
                    try await engine.run(
                        "for i = 1, 5 do print(\(number), i) pause() io.write(i, ';') end", output: { own.append($0) })
                    return (number, own.text)
                }
            }
            for try await (number, text) in group {
                #expect(text == (1...5).map { "\(number)\t\($0)\n\($0);" }.joined())
            }
        }
        #expect(shared.text == "")
        try await engine.run("print('of the engine')")
        #expect(shared.text == "of the engine\n")
    }

    @Test("is counted for the run alone, in coroutines and environments too")
    func limit() async throws {
        let engine = try await LuaEngine(limits: LuaLimits(output: 10))
        let environment = try await engine.makeEnvironment()
        let own = Written()
        let error = await #expect(throws: LuaError.self) {
            try await engine.run(
                "coroutine.wrap(function() for i = 1, 100 do print(i) end end)()", in: environment,
                output: { own.append($0) })
        }
        // The second place is that of `coroutine.wrap`.
        let message = "script:1: output limit reached (10 bytes): what follows is dropped"
        #expect(error?.message == "script:1: " + message)
        for script in ["print(12345678901)", "io.write(12345678901)"] {
            let error = await #expect(throws: LuaError.self) { try await engine.run(script, output: { _ in }) }
            #expect(error?.message == message)
        }
        #expect(own.text == "1\n2\n3\n4\n5\n")
        try await engine.run("print(1234)", in: environment, output: { own.append($0) })
        #expect(own.text.hasSuffix("5\n1234\n"))
    }
}
