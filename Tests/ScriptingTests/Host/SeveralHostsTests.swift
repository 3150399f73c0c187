import Application
import Lua
import Scripting
import TestSupport
import Testing

/// Hosts and states beside a host, on one thread: each keeps its time limit.
@Suite("Several hosts on a thread", .serialized)
struct SeveralHostsTests {
    private static let timeIsUp = "error: chunk:1: time is up: the limit is 0.05 s"
    static let endless = "while true do pcall(error) end"

    @Test("each is stopped by its own time limit, in any order", arguments: [[0, 1, 0], [1, 0, 1], [0, 0, 1, 1]])
    func turns(order: [Int]) throws {
        let watchdog = Watchdog("\(order)")
        defer { watchdog.done() }
        let scratch = try TemporaryDirectory()
        let hosts = try (0...1).map { number in
            try Embedding(scratch.file("c\(number)")) { options in options.timeLimit = .seconds(0.05) }
        }
        for host in hosts { host.host.launch() }
        for number in order {
            #expect(hosts[number].run(Self.endless) == Self.timeIsUp)
        }
        for host in hosts {
            #expect(host.run("return 1") == "1")
            host.end()
        }
    }

    @Test("a function that evaluates in a small state of its own ends with the host's limit")
    func smallState() throws {
        let watchdog = Watchdog("small")
        defer { watchdog.done() }
        let scratch = try TemporaryDirectory()
        let embedding = try Embedding(scratch.file("c")) { options in options.timeLimit = .seconds(0.05) }
        embedding.host.launch()
        let small = try LuaState()
        let state = embedding.host.state
        let evaluate = state.makeFunction(LuaFunctionDeclaration("evaluate", [LuaParameter("text", .text)])) { call in
            let function = try small.load(Array(try call.text(0).utf8), name: "=formula")
            return try call.returns(values: function.call())
        }
        state.globals["evaluate"] = .function(evaluate)
        #expect(embedding.run("return evaluate('return 1 + 1')") == "2")
        #expect(
            embedding.run("while true do pcall(evaluate, [[\(Self.endless)]]) end")
                == Self.timeIsUp)
        #expect(
            embedding.run("return evaluate([[\(Self.endless)]])") == Self.timeIsUp)
        #expect(embedding.run("return evaluate('return 1 + 1')") == "2")
        embedding.end()
        state.close()
    }
}
