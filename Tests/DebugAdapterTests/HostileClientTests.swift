import Foundation
import TestSupport
import Testing

/// Clients that send arbitrary requests, at a break and while the script runs: the script still runs to its end.
@Suite("Hostile clients of the debugger", .serialized)
struct HostileClientTests {
    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    static let commands = [
        "initialize", "launch", "attach", "configurationDone", "setBreakpoints", "setExceptionBreakpoints", "threads",
        "stackTrace", "scopes", "variables", "setVariable", "setExpression", "evaluate", "completions", "exceptionInfo",
        "source", "loadedSources", "continue", "next", "stepIn", "stepOut", "pause", "cancel", "", "gotoTargets",
    ]
    static let names = [
        "frameId", "variablesReference", "start", "count", "filter", "name", "value", "expression", "context", "text",
        "column", "line", "source", "breakpoints", "lines", "filters", "levels", "startFrame", "sourceReference",
    ]

    private func value(_ random: inout TestGenerator, depth: Int = 0) -> Any {
        switch random.number(depth < 2 ? 8 : 6) {
        case 0: return random.number(300) - 2
        case 1: return Int.max - random.number(2)
        case 2: return Int.min + random.number(2)
        case 3:
            return ["x", "_G", "indexed", "named", "repl", "1)", "", "[1]", "main.lua", "\u{0}", "é"][random.number(11)]
        case 4: return random.number(2) == 0 ? true : NSNull() as Any
        case 5: return 1.5e300
        case 6: return (0..<random.number(4)).map { _ in value(&random, depth: depth + 1) }
        default: return object(&random, depth: depth + 1)
        }
    }

    private func object(_ random: inout TestGenerator, depth: Int = 0) -> [String: Any] {
        var object: [String: Any] = [:]
        for _ in 0..<random.number(5) {
            object[Self.names[random.number(Self.names.count)]] = value(&random, depth: depth)
        }
        return object
    }

    @Test("any requests are answered, each once")
    func requests() throws {
        var random = TestGenerator(seed: 4711)
        let (host, client) = try DebuggedHost.start(
            "local x = { 1, 2, y = {} } for i = 1, 400 do breakpoint() end return 'done'",
            in: scratch.file("c"))
        try client.begin()
        for _ in 0..<600 {
            let command = Self.commands[random.number(Self.commands.count)]
            let response = try client.response(to: client.send(command, object(&random)))
            #expect(response["command"] as? String == command)
        }
        client.leave()
        // At a break the loss of the client ends the program.
        #expect(try ["success(\"done\")", Self.ended].contains(host.result()))
    }

    private static let ended = "success(\"error: the application has ended\")"

    @Test("a client that vanishes at a break, in the middle of a message, or without a word: what it launched ends")
    func vanishing() throws {
        for bytes in ["", "Content-Length: 100\r\n\r\n{", "Content-Length: 4\r\n\r\nnull", "nonsense\r\n\r\n"] {
            let (host, client) = try DebuggedHost.start("breakpoint() return 'done'", in: scratch.file("c"))
            try client.begin()
            try client.wait(for: "stopped")
            if !bytes.isEmpty { try client.send(bytes: Array(bytes.utf8)) }
            client.leave()
            #expect(try host.result() == Self.ended)
        }
    }

    @Test(
        "before its configuration is done, a client that is lost, or says anything else than the protocol, starts nothing",
        arguments: [
            "", "GET / HTTP/1.1\r\n", "Content-Length: 2\r\nHost: x\r\n\r\n{}", "Content-Length: 1000\r\n\r\n{",
        ])
    func unconfigured(_ bytes: String) throws {
        let (host, client) = try DebuggedHost.start("return 'done'", in: scratch.file("c"))
        try client.ask("initialize")
        _ = try client.send("launch")
        try client.wait(for: "initialized")
        try client.ask("setBreakpoints", ["source": ["path": "main.lua"], "breakpoints": [["line": 1]]])
        if !bytes.isEmpty { try client.send(bytes: Array(bytes.utf8)) }
        client.leave()
        #expect(try host.result() == "success(\"not started\")")
    }

    @Test("initialize comes first, and once", arguments: ["launch", "attach", "setBreakpoints", "evaluate"])
    func order(_ command: String) throws {
        let (host, client) = try DebuggedHost.start("return 'done'", in: scratch.file("c"))
        #expect(try client.refusal(command) == "initialize comes first")
        try client.waitForEnd()
        #expect(try host.result() == "success(\"nothing\")")
    }

    @Test("a client that reads nothing: the script ends all the same")
    func deaf() throws {
        let (host, client) = try DebuggedHost.start(
            "local text = ('x'):rep(99999) for i = 1, 200 do print(text) end return 'done'", in: scratch.file("c"))
        try client.begin()
        #expect(try host.result() == "success(\"done\")")
        client.leave()
    }
}
