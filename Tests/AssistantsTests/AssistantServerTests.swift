import Foundation
import PropertyList
import TestSupport
import Testing

@testable import Assistants

/// Messages of the protocol: what is a request, who may send it, and what each mistake is answered.
@Suite("Messages of assistants")
struct AssistantServerTests {
    let calls = PendingCalls()
    let client: TestClient

    init() throws { client = try TestClient(calls.start) }

    private static let envelope: JSONValue = .object([
        "io.modelcontextprotocol/protocolVersion": .string("2026-07-28"),
        "io.modelcontextprotocol/clientCapabilities": .object([:]),
    ])

    @Test("the handshake: the version that is served, whatever is asked", arguments: ["2025-11-25", "1999-01-01", ""])
    func handshake(version: String) throws {
        let early = try client.request("tools/list")
        #expect(early.code == -32600)
        #expect(try client.request("ping")["result"] == .object([:]))
        let begun = try client.request("initialize", .object(["protocolVersion": .string(version)]))
        #expect(begun["result"]?["protocolVersion"]?.text == "2025-11-25")
        #expect(begun["result"]?["serverInfo"]?["name"]?.text == "cubby")
        #expect(try client.send(#"{"jsonrpc":"2.0","method":"notifications/initialized"}"# + "\n").isEmpty)
        #expect(try client.request("initialize", .object(["protocolVersion": .string(version)])).code == -32600)
        #expect(try client.request("tools/list", .object(["_meta": Self.envelope])).code == -32600)
        #expect(try client.request("server/discover").code == -32601)
        let result = try client.request("tools/list")["result"]
        #expect(result?["tools"]?.elements?.count == 6 && result?["resultType"] == nil)
    }

    @Test("requests that carry their version, without a handshake")
    func stateless() throws {
        let parameters: JSONValue = .object(["_meta": Self.envelope])
        let found = try client.request("server/discover", parameters)["result"]
        #expect(found?["supportedVersions"] == .array([.string("2026-07-28")]))
        #expect(found?["resultType"]?.text == "complete" && found?["cacheScope"]?.text == "private")
        #expect(found?["_meta"]?["io.modelcontextprotocol/serverInfo"]?["name"]?.text == "cubby")
        #expect(try client.request("ping", parameters).code == -32601)
        #expect(try client.request("tools/list").code == -32602)
        let handshake = try client.request("initialize", .object(["protocolVersion": .string("2025-11-25")]))
        #expect(handshake.code == -32022)
        #expect(handshake["error"]?["data"]?["supported"] == .array([.string("2026-07-28")]))
    }

    @Test("an unknown version in a request")
    func unknownVersion() throws {
        var meta = Self.envelope
        meta["io.modelcontextprotocol/protocolVersion"] = .string("2030-01-01")
        let answer = try client.request("server/discover", .object(["_meta": meta]))
        #expect(answer.code == -32022 && answer["error"]?["data"]?["requested"]?.text == "2030-01-01")
        meta["io.modelcontextprotocol/protocolVersion"] = .number(7)
        #expect(try client.request("server/discover", .object(["_meta": meta])).code == -32602)
    }

    @Test(
        "what is not a message is answered without an id",
        arguments: [
            ("{", -32700), ("\u{feff}{}", -32600), ("[]", -32600), ("[{\"jsonrpc\":\"2.0\",\"id\":1}]", -32600),
            ("7", -32600), ("{}", -32600), (#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600), (#"{"jsonrpc":"2.0","id":1}"#, -32600),
            (String(repeating: "[", count: 100_000), -32700), (String(repeating: "x", count: 5 << 20), -32700),
        ])
    func malformed(line: String, code: Int) throws {
        let answers = try client.send(line + "\n" + #"{"jsonrpc":"2.0","id":9,"method":"ping"}"# + "\n")
        #expect(answers.count == 2)
        #expect(answers.first?.code == code && answers.first?["id"] == nil)
        #expect(answers.last?["id"]?.number == 9 && answers.last?["result"] != nil)
    }

    @Test("an answer that JSON lacks is an error of the server, and not nothing")
    func unwritable() throws {
        try client.begin()
        let call = #"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"query"}}"#
        #expect(try client.send(call + "\n").isEmpty)
        let data: JSONValue = .object(["weight": .real(.infinity)])
        calls.calls[0].completion(.object(["summary": .string("1 item."), "data": data]))
        let answers = try client.send("\n")
        #expect(answers.count == 1 && answers.first?.code == -32603 && answers.first?["id"]?.number == 7)
    }

    @Test("messages that need no answer get none")
    func silent() throws {
        for line in ["", "  ", #"{"jsonrpc":"2.0","id":6,"result":{}}"#, #"{"jsonrpc":"2.0","method":"nothing"}"#] {
            #expect(try client.send(line + "\r\n").isEmpty)
        }
    }

    @Test("a message in pieces")
    func pieces() throws {
        let line = #"{"jsonrpc":"2.0","id":"é","method":"ping"}"# + "\n"
        for byte in line.utf8.dropLast() { client.server.receive([byte]) }
        #expect(try client.send("\n").first?["id"]?.text == "é")
    }

    @Test("arguments by the schema: an error for the assistant, which names the argument")
    func arguments() throws {
        try client.begin()
        let wrong: [(String, KeyValuePairs<String, JSONValue?>, String)] = [
            ("run", [:], "'script' is missing"), ("run", ["script": .number(7)], "'script' does not fit"),
            ("run", ["script": .string("x"), "dry_rum": .boolean(true)], "did you mean 'dry_run'"),
            ("run", ["script": .string("x"), "time_limit": .number(1000)], "0.01 to 60"),
            ("run", ["script": .string(String(repeating: "x", count: 1_000_001))], "at most 1,000,000 bytes"),
            ("query", ["limit": .number(0)], "from 1 to 1000"), ("query", ["limit": .real(1.5)], "from 1 to 1000"),
        ]
        for (tool, arguments, text) in wrong {
            let result = try client.call(tool, arguments)
            #expect(result["isError"]?.flag == true && result.words.first?.contains(text) == true, "\(result)")
        }
        let unknown = try client.request("tools/call", .object(["name": .string("rum")]))
        #expect(unknown.code == -32602 && unknown["error"]?["message"]?.text?.contains("'run'") == true)
        let list = try client.request("tools/call", .object(["name": .string("run"), "arguments": .array([])]))
        #expect(list.code == -32602)
        #expect(calls.calls.isEmpty)
    }

    @Test("changes are refused by the option that allows them, and what is not given is a dry run")
    func changes() throws {
        try client.begin()
        for (tool, arguments) in [
            ("undo", [:]), ("run", ["script": JSONValue.string("x"), "dry_run": .boolean(false)]),
        ] as [(String, KeyValuePairs<String, JSONValue?>)] {
            let result = try client.call(tool, arguments)
            #expect(result["isError"]?.flag == true && result.words.first?.contains("--allow-changes") == true)
        }
        #expect(calls.calls.isEmpty)
        _ = try client.send(
            #"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"run","arguments":{"script":"x"}}}"# + "\n"
        )
        let call = try #require(calls.calls.first)
        #expect(!call.isChanging && call.call["arguments"]?["dry_run"]?.flag == true)
        #expect(call.call["arguments"]?["time_limit"]?.number == 10)
    }

    @Test("hints: every tool reads, unless changes are allowed")
    func hints() throws {
        for allowsChanges in [false, true] {
            let tools = ToolCatalog.tools(allowsChanges: allowsChanges)
            #expect(tools.compactMap { $0["name"]?.text } == ["run", "query", "sql", "describe", "inspect", "undo"])
            for tool in tools {
                let changes = allowsChanges && ["run", "undo"].contains(tool["name"]?.text)
                #expect(tool["annotations"]?["readOnlyHint"]?.flag == !changes)
                #expect(tool["annotations"]?["destructiveHint"]?.flag == changes)
                #expect(tool["inputSchema"]?["type"]?.text == "object" && tool["outputSchema"] != nil)
            }
        }
    }

    private func start(_ id: Int, _ token: String = "null") throws -> [JSONValue] {
        try client.send(
            "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"tools/call\",\"params\":{\"name\":\"query\",\"_meta\":{\"progressToken\":\(token)}}}\n"
        )
    }

    @Test("four calls run, 64 wait, and one more is refused; a cancelled one has no answer")
    func manyCalls() throws {
        try client.begin()
        for id in 100..<168 { #expect(try start(id).isEmpty) }
        #expect(calls.calls.count == 4)
        #expect(try start(200).first?.code == -32000)
        #expect(try start(100).first?.code == -32600)
        for id in [100, 150, 999] {
            let cancel = #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":\#(id)}}"#
            #expect(try client.send(cancel + "\n").isEmpty)
        }
        #expect(calls.cancelled == 1 && calls.calls.count == 5)
        calls.calls[0].completion(.object(["summary": .string("late")]))
        #expect(try client.send("\n").isEmpty)
        calls.calls[1].completion(.object(["summary": .string("done")]))
        let answers = try client.send("\n")
        #expect(answers.count == 1 && answers.first?["id"]?.number == 101 && calls.calls.count == 6)
        client.server.end()
        #expect(client.server.isIdle)
        // Those that waited are not begun for nobody.
        #expect(calls.calls.count == 6)
    }

    @Test("progress goes to a client that asks for it")
    func progress() throws {
        try client.begin()
        #expect(try start(7, "\"t\"").isEmpty)
        let progress = try client.ask(.object(["jsonrpc": .string("2.0"), "method": .string("nothing")]))
        #expect(progress["method"]?.text == "notifications/progress")
        #expect(progress["params"]?["progressToken"]?.text == "t")
    }

    @Test("the record has the beginning and the end of each call, and only its user can read it")
    func record() throws {
        _ = try client.request(
            "initialize",
            .object([
                "protocolVersion": .string("2025-11-25"), "clientInfo": .object(["name": .string("Tester\u{1b}[2J")]),
            ]))
        #expect(try start(7).isEmpty)
        calls.calls[0].completion(.object(["isError": .boolean(true), "summary": .string("no")]))
        let lines = try client.record()
        #expect(lines.map { $0["event"]?.text } == ["call", "end"])
        #expect(lines[0]["client"]?.text == "Tester\u{1b}[2J" && lines[0]["tool"]?.text == "query")
        #expect(lines[1]["outcome"]?.text == "failed" && lines[1]["id"]?.number == 7)
        let bytes = try client.scratch.read("config/assistants.log")
        #expect(!bytes.contains(0x1B))
        let path = client.scratch.file("config/assistants.log")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(try start(8).first?["result"]?["isError"]?.flag == true)
        #expect(calls.calls.count == 1)
    }
}
