import Foundation
import TestSupport
import Testing

/// `cubby mcp` as its clients start it: processes for calls, a host for changes that a second client attaches to, and what is
/// left when a client vanishes. `scripts/soak mcp` has a client that is not ours.
@Suite("Assistants of the program", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct AssistantProcessTests {
    let program: Program

    init() throws {
        program = try Program()
        _ = try program(["-e", "items:createItem{ name = 'Lamp', valueInDollars = 40 }"])
    }

    /// A client that has begun a session.
    private final class Client {
        typealias Object = [String: Any]

        private let process = Process()
        private let (input, output) = (Foundation.Pipe(), Foundation.Pipe())
        private var bytes: [UInt8] = []
        private var number = 0

        init(_ program: Program, _ options: [String] = [], _ variables: [String: String] = [:]) throws {
            signal(SIGPIPE, SIG_IGN)
            process.executableURL = URL(fileURLWithPath: program.path)
            process.arguments = ["mcp", "--container", program.container] + options
            process.environment = program.environment.merging(variables) { $1 }
            (process.standardInput, process.standardOutput) = (input, output)
            process.standardError = FileHandle.nullDevice
            try process.run()
            _ = try answer(send("initialize", ["protocolVersion": "2025-11-25"]))
        }

        @discardableResult
        func send(_ method: String, _ parameters: Object) throws -> Int {
            number += 1
            var message: Object = ["jsonrpc": "2.0", "method": method, "params": parameters]
            if !method.hasPrefix("notifications/") { message["id"] = number }
            try input.fileHandleForWriting.write(
                contentsOf: JSONSerialization.data(withJSONObject: message) + Data("\n".utf8))
            return number
        }

        /// The answer to a request; answers to others are dropped.
        func answer(_ number: Int) throws -> Object {
            while true {
                guard let end = bytes.firstIndex(of: 0x0A) else {
                    let piece = output.fileHandleForReading.availableData
                    guard !piece.isEmpty else { throw TestFailure("the server has ended") }
                    bytes += piece
                    continue
                }
                let object = try JSONSerialization.jsonObject(with: Data(bytes[..<end])) as? Object
                bytes.removeFirst(end + 1)
                if let object, object["id"] as? Int == number { return object }
            }
        }

        /// The result of a tool: whether it is an error, and all that it says.
        func call(_ tool: String, _ arguments: Object = [:]) throws -> (isError: Bool, text: String) {
            let result = try answer(send("tools/call", ["name": tool, "arguments": arguments]))["result"] as? Object
            let content = result?["content"] as? [Object] ?? []
            return (
                result?["isError"] as? Bool ?? false,
                content.compactMap { $0["text"] as? String }.joined(separator: "\n")
            )
        }

        /// Begins a change that goes on until it is stopped.
        func beginEndless() throws -> Int {
            let script = "items:createItem{ name = 'Half' } while true do end"
            return try send(
                "tools/call", ["name": "run", "arguments": ["script": script, "dry_run": false, "time_limit": 60]])
        }

        func run(_ script: String, keeps: Bool = false) throws -> (isError: Bool, text: String) {
            try call("run", ["script": script, "dry_run": !keeps])
        }

        /// Leaves as programs do, by closing the server's input, or is killed.
        func leave(_ signal: Int32? = nil) throws {
            if let signal { kill(process.processIdentifier, signal) }
            try input.fileHandleForWriting.close()
            try output.fileHandleForReading.close()
            process.waitUntilExit()
        }
    }

    private func names() throws -> String {
        try program(["--read-only", "-e", "for _, item in items:each() do io.write(item.name, ' ') end"]).stdout
    }

    /// Waits until no process has the container, or one has.
    private func waitForEnd(of host: Bool = true) throws {
        let deadline = Date(timeIntervalSinceNow: 60 * Project.patience)
        while try program(["status", program.container, "--json"]).stdout.contains("\"running\" : true") == host {
            if deadline.timeIntervalSinceNow < 0 { throw TestFailure(host ? "a host goes on" : "there is no host") }
            usleep(20000)
        }
    }

    /// Waits until the host performs a call.
    private func waitForCall() throws {
        try waitForEnd(of: false)
        usleep(500_000)
    }

    static let hasClient = FileManager.default.fileExists(atPath: "\(Project.root)/.build/mcp-client/bin/python3")

    @Test("a client that is not ours", .enabled(if: hasClient, "scripts/soak mcp installs it, and runs the long form"))
    func foreignClient() throws {
        let soak = try run(
            "python3", ["\(Project.root)/Tests/Soak/mcp.py", program.path, "40", "20261128"], timeout: 600)
        #expect(soak.status == .exited(0), "\(soak.stdout)\(soak.stderr)")
    }

    @Test("a dry run: within the fence, without the user's variables, and nothing of it stays")
    func dryRun() throws {
        let outside = try program.scratch.write("secret", to: "outside/x")
        let client = try Client(program, [], ["SECRET_KEY": "sesame"])
        for script in [
            "print(fs.read('\(outside)'))", "print(pcall(io.open, '\(outside)'))", "print(os.getenv('SECRET_KEY'))",
            "print(io.popen('cat \(outside)'))",
            "print(fs.read('\(program.scratch.path)/home/.config/cubby/attach.key'))",
        ] {
            let result = try client.run(script)
            #expect(!result.text.contains("secret\n") && !result.text.contains("sesame"), "\(script): \(result)")
        }
        for script in [
            "assert(fs.write('\(program.container)/Documents/x', 'x'))", "assert(fs.write('\(outside)', 'x'))",
            "assert(os.execute('touch \(program.container)/x'))", "defaults:set('x', 1)",
        ] {
            #expect(try client.run(script).isError, "\(script)")
        }
        #expect(try client.run("items:createItem{ name = 'New' }").text.contains("1 created"))
        #expect(try client.run("items:createItem{ name = 'New' }", keeps: true).text.contains("--allow-changes"))
        let start = Date()
        let endless = try client.send(
            "tools/call", ["name": "run", "arguments": ["script": "while true do end", "time_limit": 60]])
        try client.send("notifications/cancelled", ["requestId": endless])
        #expect(try !client.call("query").isError && Date().timeIntervalSince(start) < 50)
        try client.leave()
        #expect(try names() == "Lamp ")
        #expect(try String(contentsOfFile: outside, encoding: .utf8) == "secret")
    }

    @Test("two clients on one container: the second is served by the first one's host")
    func twoClients() throws {
        let first = try Client(program, ["--allow-changes"])
        let second = try Client(program, ["--allow-changes"])
        for (client, name) in [(first, "First"), (second, "Second"), (second, "Mistake")] {
            let result = try client.run("items:createItem{ name = '\(name)' }", keeps: true)
            #expect(!result.isError, "\(result)")
        }
        #expect(try second.call("undo").text.contains("\"removed\":1"))
        #expect(try second.run("items:createItem{ name = 'Half' } error('no')", keeps: true).isError)
        #expect(try first.call("query", ["predicate": "name == 'Second'"]).text.contains("1 item selected"))
        try first.leave()
        try waitForEnd()
        #expect(try !second.run("items:createItem{ name = 'Third' }", keeps: true).isError)
        try second.leave()
        #expect(try names() == "Lamp First Second Third ")
    }

    @Test("a host with grants of its own takes no calls; reads go on beside it")
    func otherHost() throws {
        let prompt = try program.host()
        let client = try Client(program, ["--allow-changes"])
        let result = try client.run("items:createItem{ name = 'New' }", keeps: true)
        #expect(result.isError && result.text.contains("takes no calls"), "\(result)")
        #expect(try client.call("query").text.contains("1 item selected"))
        try client.leave()
        try prompt.send(control: "c")
        #expect(try names() == "Lamp ")
    }

    @Test(
        "a client that vanishes in the middle of a call: rolled back, saved, ended", arguments: [nil, SIGTERM, SIGKILL])
    func vanishing(signal: Int32?) throws {
        let client = try Client(program, ["--allow-changes"])
        #expect(try !client.run("items:createItem{ name = 'Kept' }", keeps: true).isError)
        // A mark behind a quote is no part of it.
        #expect(try !client.run("return \"\u{301}\\\\\"", keeps: true).isError)
        _ = try client.beginEndless()
        try client.leave(signal)
        try waitForEnd()
        #expect(try names() == "Lamp Kept ")
        #expect(try program(["status", program.container, "--json"]).stdout.contains("\"endedInOrder\" : true"))
    }

    @Test("a client that vanishes in the middle of its first change", arguments: [nil, SIGTERM, SIGKILL])
    func vanishingAtFirst(signal: Int32?) throws {
        let client = try Client(program, ["--allow-changes"])
        _ = try client.beginEndless()
        try waitForCall()
        try client.leave(signal)
        try waitForEnd()
        #expect(try names() == "Lamp ")
        #expect(try program(["status", program.container, "--json"]).stdout.contains("\"endedInOrder\" : true"))
    }

    @Test("a change that is cancelled, the first one and a later one: rolled back, and the host goes on")
    func cancelled() throws {
        let client = try Client(program, ["--allow-changes"])
        for name in ["First", "Second"] {
            let endless = try client.beginEndless()
            try waitForCall()
            try client.send("notifications/cancelled", ["requestId": endless])
            let result = try client.run("items:createItem{ name = '\(name)' }", keeps: true)
            #expect(!result.isError, "\(result)")
        }
        for _ in 1...2 { #expect(try client.call("undo").text.contains("\"removed\":1")) }
        try client.leave()
        #expect(try names() == "Lamp ")
        // The server has waited for its host.
        #expect(try !program(["status", program.container, "--json"]).stdout.contains("\"running\" : true"))
    }

    @Test("a client that vanishes while a timer of a script runs without an end")
    func busyTimer() throws {
        let client = try Client(program, ["--allow-changes"])
        #expect(try !client.run("timer.after(0, function() while true do end end)", keeps: true).isError)
        try client.leave(nil)
        try waitForEnd()
        #expect(try program(["status", program.container, "--json"]).stdout.contains("\"endedInOrder\" : true"))
    }
}
