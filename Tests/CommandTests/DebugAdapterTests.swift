import Foundation
import Glibc
import TestSupport
import Testing

/// The Debug Adapter Protocol, spoken by a client that starts the program as an editor does.
@Suite("Debug adapter", .serialized, .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct DebugAdapterTests {
    private typealias Object = DebugClient.Object
    let program: Program

    init() throws { program = try Program() }

    private var main: String { program.scratch.file("main.lua") }

    private func client(_ arguments: String...) throws -> DebugClient {
        try DebugClient(
            program.path, ["debug"] + arguments + ["--dap"], environment: program.environment,
            directory: program.scratch.path)
    }

    private func write(_ text: String) throws { try program.scratch.write(text, to: "main.lua") }

    private func text(_ client: DebugClient, _ category: String) -> String {
        client.events.filter { $0["event"] as? String == "output" }.compactMap { $0["body"] as? Object }
            .filter { $0["category"] as? String == category }.compactMap { $0["output"] as? String }.joined()
    }

    @Test("a breakpoint moves to a line with code; scopes, variables, assignments, steps, and the end")
    func session() throws {
        try write(
            """
            local outer = { 1, 2, room = "Hall", ["shelf 3"] = { deep = true } }
            local function price(item, ...)

              local sum = item.valueInDollars + #outer
              return sum
            end
            local lamp = items:createItem{ name = "Lamp", valueInDollars = 40 }
            print("price", price(lamp, "extra"))
            """)
        let client = try client()
        #expect(try client.begin("launch", ["program": main], breakpoints: [["line": 3]], in: main) == [4])
        let (reason, frame) = try client.stopped()
        #expect(reason == "breakpoint" && frame["line"] as? Int == 4 && frame["name"] as? String == "price")
        #expect((frame["source"] as? Object)?["path"] as? String == main)

        let locals = try client.scope("Locals", of: frame)
        #expect(Set(locals.variables.keys) == ["item", "...[1]"])
        #expect(locals.variables["...[1]"]?["value"] as? String == "\"extra\"")
        let fields = try client.variables(locals.variables["item"]?["variablesReference"])
        #expect(
            fields["name"]?["value"] as? String == "\"Lamp\"" && fields["valueInDollars"]?["value"] as? String == "40")
        let upvalues = try client.scope("Upvalues", of: frame)
        let outer = upvalues.variables["outer"] ?? [:]
        #expect(outer["indexedVariables"] as? Int == 2)
        #expect(Set(try client.variables(outer["variablesReference"]).keys) == ["[1]", "[2]", "room", "[\"shelf 3\"]"])
        let page = try client.variables(outer["variablesReference"], ["filter": "indexed", "start": 1, "count": 1])
        #expect(Array(page.keys) == ["[2]"] && page["[2]"]?["evaluateName"] as? String == "outer[2]")

        _ = try client.ask(
            "setVariable", ["variablesReference": outer["variablesReference"] ?? 0, "name": "room", "value": "'Attic'"])
        #expect(try client.evaluate("outer.room", frame) == "\"Attic\"")
        _ = try client.ask(
            "setExpression", ["expression": "item.valueInDollars", "value": "100", "frameId": frame["id"] ?? 0])
        #expect(try client.ask("next", ["threadId": 1])["allThreadsContinued"] as? Bool == true)
        let second = try client.stopped()
        #expect(second.reason == "step" && second.frame["line"] as? Int == 5)
        let sum = try client.scope("Locals", of: second.frame)
        #expect(sum.variables["sum"]?["value"] as? String == "102")
        _ = try client.ask(
            "setVariable", ["variablesReference": sum.reference ?? 0, "name": "sum", "value": "sum + 1"])
        // Numbers of the break before are no longer known.
        #expect(try client.refusal("scopes", ["frameId": frame["id"] ?? 0]).contains("no such call"))
        #expect(try client.refusal("variables", ["variablesReference": locals.reference ?? 0]).contains("no such"))
        try client.ask("continue", ["threadId": 1])
        #expect(try client.wait(for: "exited")["exitCode"] as? Int == 0)
        #expect(text(client, "stdout") == "price\t103\n")
        let output =
            client.events.first { ($0["body"] as? Object)?["category"] as? String == "stdout" }?["body"] as? Object
        #expect(output?["line"] as? Int == 8)
        try client.wait(for: "terminated")
        try client.waitForEnd()
        #expect(try program.itemCount() == "1")
    }

    @Test("conditions, hit counts and log points")
    func conditions() throws {
        try write("for i = 1, 10 do\n  local x = i * i\n  local y = x\nend\n")
        let client = try client(main)
        try client.begin(
            breakpoints: [
                ["line": 2, "condition": "i > 3", "hitCondition": ">= 2"], ["line": 3, "logMessage": "square {x}"],
            ], in: main)
        #expect(try client.evaluate("i", client.stopped().frame) == "5")
        try client.ask("setBreakpoints", ["source": ["path": main], "breakpoints": [["line": 99]]])
        try client.ask("continue", ["threadId": 1])
        try client.wait(for: "terminated")
        #expect(text(client, "console") == "square 1\nsquare 4\nsquare 9\nsquare 16\n")
    }

    @Test("errors: uncaught ones, and all")
    func errors() throws {
        try write("pcall(error, 'caught')\nlocal function fail() error('lost') end\nfail()\n")
        for (filters, messages) in [(["uncaught"], ["lost"]), (["all"], ["caught", "lost"]), ([], [])] {
            let client = try client(main)
            try client.begin(filters: filters)
            for message in messages {
                #expect(try client.wait(for: "stopped")["reason"] as? String == "exception")
                let info = try client.ask("exceptionInfo", ["threadId": 1])
                #expect((info["description"] as? String)?.contains(message) == true)
                try client.ask("continue", ["threadId": 1])
            }
            #expect(try client.wait(for: "exited")["exitCode"] as? Int == 1)
            #expect(text(client, "stderr").contains("main.lua:2: lost"))
        }
    }

    @Test("a script that never waits is paused, evaluated in and terminated; an endless evaluation is cancelled")
    func pause() throws {
        try write("local n = 0\nwhile true do\n  n = n + 1\nend\n")
        let client = try client(main)
        try client.begin("launch", ["stopOnEntry": true])
        #expect(try client.stopped().reason == "entry")
        try client.ask("continue", ["threadId": 1])
        #expect(try client.refusal("stackTrace", ["threadId": 1]).contains("runs"))
        try client.ask("pause", ["threadId": 1])
        let (reason, frame) = try client.stopped()
        #expect(reason == "pause")
        #expect(
            try client.refusal("evaluate", ["expression": "(function() while true do end end)()", "context": "watch"])
                .contains("time is up"))
        // Before it runs, while it runs: a cancellation stops that evaluation, and not the next, nor the script.
        for _ in 0..<30 {
            let endless = try client.send(
                "evaluate", ["expression": "(function() while true do end end)()", "context": "repl"])
            try client.ask("cancel", ["requestId": endless])
            #expect(try client.response(to: endless)["message"] as? String == "interrupted")
            #expect(try client.evaluate("math.type(n)", frame) == "\"integer\"")
        }
        try client.ask("terminate")
        try client.wait(for: "terminated")
    }

    @Test("a restart runs the file as it is now, with the breakpoints of before")
    func restart() throws {
        try write("local a = 1\nprint('first', a)\n")
        let client = try client(main)
        try client.begin(breakpoints: [["line": 2]], in: main)
        _ = try client.stopped()
        try write("local a = 2\nprint('second', a)\n")
        try client.ask("restart")
        let (reason, frame) = try client.stopped()
        #expect(reason == "breakpoint")
        #expect(try client.evaluate("a", frame) == "2")
        try client.ask("continue", ["threadId": 1])
        try client.wait(for: "terminated")
        #expect(text(client, "stdout") == "second\t2\n")
    }

    @Test("sources without a file, loaded sources, completions, threads")
    func sources() throws {
        try write("local chunk = load('local secret = 7\\nbreakpoint()', '=made') chunk()\n")
        let client = try client(main)
        try client.begin()
        let (_, frame) = try client.stopped()
        #expect(frame["name"] as? String == "chunk" || frame["name"] as? String == "made" || frame["line"] as? Int == 2)
        let targets = try client.ask("completions", ["text": "sec", "column": 4, "frameId": frame["id"] ?? 0])[
            "targets"]
        #expect((targets as? [Object])?.first?["text"] as? String == "secret")
        #expect((try client.ask("threads")["threads"] as? [Object])?.count == 1)
        let loaded = try client.ask("loadedSources")["sources"] as? [Object]
        #expect(loaded?.contains { $0["path"] as? String == main } == true)
        #expect(try client.refusal("source", ["sourceReference": 99]).contains("no source"))
        #expect(try client.refusal("gotoTargets").contains("not done here"))
        try client.ask("disconnect", ["terminateDebuggee": true])
        try client.waitForEnd()
    }

    /// The requests that `docs/debug-adapter.md` lists.
    private func announced() throws -> Set<String> {
        let page = try String(contentsOfFile: "\(Project.root)/docs/debug-adapter.md", encoding: .utf8)
        let list = page.components(separatedBy: "\n\n").first { $0.contains("`configurationDone`") } ?? ""
        return Set(list.matches(of: /`([a-zA-Z]+)`/).map { String($0.1) })
    }

    @Test("every request that the documentation lists succeeds")
    func everyRequest() throws {
        let pictures = "\(Project.root)/examples/data/pictures"
        try write(
            """
            local picture = assert(image.open("\(pictures)/lamp.png"))
            local lamp = items:createItem{ name = "Lamp", room = "Hall" }
            local query = items:query("room == 'Hall'")
            local function inner(a)
              local b = a + 1
              return b
            end
            local sum = inner(1)
            pcall(error, "caught")
            timer.sleep(60)
            """)
        let client = try client()
        let options = ["--container", program.scratch.file("debugged"), "--allow-read", pictures]
        try client.begin(
            "launch", ["program": main, "stopOnEntry": true, "options": options], breakpoints: [["line": 8]], in: main,
            filters: ["all"])
        func go(_ request: String, to line: Int, _ reason: String) throws -> DebugClient.Object {
            try client.ask(request, ["threadId": 1])
            let stop = try client.stopped()
            #expect(stop.reason == reason && stop.frame["line"] as? Int == line, "\(request): \(stop)")
            return stop.frame
        }
        #expect(try client.stopped().reason == "entry")
        #expect((try client.ask("threads")["threads"] as? [Object])?.count == 1)
        try client.ask("pause", ["threadId": 1])
        try client.ask("cancel", ["requestId": 9999])

        let frame = try go("continue", to: 8, "breakpoint")
        let locals = try client.scope("Locals", of: frame)
        let item = try client.variables(locals.variables["lamp"]?["variablesReference"])
        #expect(item["room"]?["value"] as? String == "\"Hall\"")
        let picture = try client.variables(locals.variables["picture"]?["variablesReference"])
        #expect(picture["width"]?["value"] as? String == "320", "\(picture)")
        let query = try client.variables(locals.variables["query"]?["variablesReference"])
        #expect(Array(query.keys) == ["[1]"])
        _ = try client.ask(
            "setExpression", ["expression": "lamp.room", "value": "'Attic'", "frameId": frame["id"] ?? 0])
        #expect(try client.evaluate("lamp.room", frame, context: "hover") == "\"Attic\"")
        _ = try client.ask(
            "setVariable", ["variablesReference": locals.reference ?? 0, "name": "query", "value": "nil"])
        #expect(try client.evaluate("query", frame, context: "watch") == "nil")
        let completions = try client.ask("completions", ["text": "pict", "column": 5, "frameId": frame["id"] ?? 0])
        #expect((completions["targets"] as? [Object])?.first?["text"] as? String == "picture")
        let sources = try client.ask("loadedSources")["sources"] as? [Object]
        #expect(sources?.contains { $0["path"] as? String == main } == true)

        _ = try go("stepIn", to: 5, "step")
        _ = try go("next", to: 6, "step")
        _ = try go("stepOut", to: 9, "step")
        try client.ask("continue", ["threadId": 1])
        #expect(try client.stopped().reason == "exception")
        #expect(try client.ask("exceptionInfo", ["threadId": 1])["description"] as? String == "caught")
        try client.ask("restart")
        #expect(try client.stopped().reason == "entry")
        try client.ask("terminate")
        try client.wait(for: "terminated")

        // A chunk without a file.
        let chunk = "timer.every(0.05, function() breakpoint() end) print('rea' .. 'dy') app:run()"
        let host = try program.terminal("-e", chunk)
        try host.expect("ready")
        let attached = try self.client()
        try attached.begin("attach", [:])
        let source = try attached.stopped().frame["source"] as? Object
        let text = try attached.ask("source", ["sourceReference": source?["sourceReference"] ?? 0])
        #expect(text["content"] as? String == chunk)
        try attached.ask("disconnect")
        host.terminate()
        #expect(try host.waitForExit() == .exited(0))
        #expect(client.succeeded.union(attached.succeeded) == (try announced()))
    }

    @Test("a client that vanishes in a break: the script goes on to its end")
    func vanishing() throws {
        try write("breakpoint()\nitems:createItem{ name = 'after' }\n")
        let client = try client(main)
        try client.begin()
        _ = try client.stopped()
        client.leave()
        var status: Int32 = 0
        if let process = client.process { waitpid(process, &status, 0) }
        #expect(status == 0)
        #expect(try program.itemCount() == "1")
    }

    @Test("bytes that are not a message end the connection with a reason")
    func nonsense() throws {
        try write("return 1")
        let client = try client(main)
        try client.send(bytes: Array("GET / HTTP/1.1\r\n\r\n".utf8))
        try client.waitForEnd()
        #expect(
            text(client, "important")
                == "the connection ends: the bytes are not a message of the Debug Adapter Protocol\n"
        )
    }

    @Test("attach to a host that runs, which goes on when the client vanishes in a break")
    func attach() throws {
        try write("n = 0\ntimer.every(0.01, function() n = n + 1 end)\nprint('rea' .. 'dy')\napp:run()\n")
        let host = try program.terminal(main)
        try host.expect("ready")
        let client = try client()
        try client.begin("attach", [:])
        try client.ask("pause", ["threadId": 1])
        let (reason, frame) = try client.stopped()
        #expect(reason == "pause")
        #expect(try client.evaluate("type(n)", frame) == "\"number\"")
        #expect(try client.refusal("terminate").contains("goes on"))
        client.leave()
        #expect(try AttachPeer(program).ask("return 6 * 7").text == "42\n")
        host.terminate()
        #expect(try host.waitForExit() == .exited(0))
    }

    /// A program that waits on a port, and that port.
    private func listening() throws -> (terminal: PseudoTerminal, port: UInt16) {
        let terminal = try program.terminal("debug", "--dap", "--listen", "0", main)
        let line = try terminal.expect(matching: #"127\.0\.0\.1:\d+\n"#)
        let port = try #require(line.split(whereSeparator: { !$0.isNumber }).last.flatMap { UInt16($0) })
        return (terminal, port)
    }

    @Test("on a port: one client, as on the standard streams")
    func port() throws {
        try write("local n = 40\nn = n + 2\n")
        let (terminal, port) = try listening()
        let client = try DebugClient(port: port)
        try client.begin(breakpoints: [["line": 2]], in: main)
        #expect(try client.evaluate("n", client.stopped().frame) == "40")
        #expect(throws: TestFailure.self) { try DebugClient(port: port) }
        try client.ask("continue", ["threadId": 1])
        #expect(try client.wait(for: "exited")["exitCode"] as? Int == 0)
        client.leave()
        #expect(try terminal.waitForExit() == .exited(0))
    }

    @Test("on a port: another user is turned away", .enabled(if: geteuid() == 0, "needs root, to be another user"))
    func otherUser() throws {
        try write("return 1\n")
        let (terminal, port) = try listening()
        let stranger = try run(
            "python3",
            [
                "-c",
                """
                import os, socket
                os.setuid(65534)
                connection = socket.socket()
                connection.settimeout(20)
                connection.connect(("127.0.0.1", \(port)))
                print(connection.recv(1))
                """,
            ])
        #expect(stranger.stdout == "b''\n", "\(stranger.stderr)")
        try terminal.expect("a connection that is not this user's was refused")
        let client = try DebugClient(port: port)
        try client.begin()
        #expect(try client.wait(for: "exited")["exitCode"] as? Int == 0)
        client.leave()
        #expect(try terminal.waitForExit() == .exited(0))
    }

    @Test("without a host, attach says so")
    func nobody() throws {
        let client = try client()
        try client.ask("initialize")
        #expect(try client.refusal("attach").contains("no process"))
    }

    /// A Python that has dap-python: `pip install dap-python` in an environment of its own.
    static let python = Project.environment("CUBBY_DAP_PYTHON") ?? "python3"
    static let hasClient = (try? run(python, ["-c", "import dap"]))?.status == .exited(0)

    @Test("a client that is not ours", .enabled(if: hasClient, "needs dap-python (CUBBY_DAP_PYTHON names its Python)"))
    func foreignClient() throws {
        try write(
            "local total = 0\nfor i = 1, 3 do total = total + i end\nbreakpoint() total = total + 2\nprint('total', total)\n"
        )
        let judge = try run(
            Self.python, ["\(Project.root)/Tests/Judges/debug_client.py", program.path, main],
            environment: program.environment, directory: program.scratch.path)
        #expect(
            judge.stdout == "Locals Globals\ntotal: number = 6\n40\n41\nexit 0\ntotal\t42\n",
            "\(judge.stdout)\(judge.stderr)")
    }
}
