import CommandTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// The Debug Adapter Protocol, spoken by a client that starts the command as an editor does.
@Suite("Debug adapter", .serialized)
struct DebugSessionTests {
    private typealias Object = DebugClient.Object
    let program: Program

    init() throws { program = try Program() }

    private var main: String { program.scratch.file("main.lua") }

    private func client(_ arguments: String...) throws -> DebugClient { try program.debugClient(arguments) }

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

    @Test("a client that vanishes in a break: what it launched ends, with what was committed before")
    func vanishing() throws {
        try write("items:createItem{ name = 'before' }\nbreakpoint()\nitems:createItem{ name = 'after' }\n")
        let client = try client(main)
        try client.begin()
        _ = try client.stopped()
        client.leave()
        #expect(client.process?.wait(seconds: 30) == .exited(74))
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

    /// A program that waits on a port, and that port with its token.
    private func listening() throws -> (terminal: PseudoTerminal, port: UInt16, token: String) {
        let terminal = try program.terminal("debug", "--dap", "--listen", "0", main)
        let line = try terminal.expect(matching: #"127\.0\.0\.1:\d+, "token": "[0-9a-f]{64}""#)
        let found = try #require(line.firstMatch(of: /127\.0\.0\.1:(\d+), "token": "([0-9a-f]{64})"/))
        return (terminal, try #require(UInt16(found.1)), String(found.2))
    }

    @Test("a condition is checked when it is set, and a breakpoint is verified when its file is found")
    func checks() throws {
        try write("load('local n = 1\\nreturn n', '@' .. arg[0]:gsub('main', 'made'))()\nlocal n = 1\n")
        let client = try client(main)
        try client.ask("initialize", ["adapterID": "cubby", "linesStartAt1": true, "pathFormat": "path"])
        try client.send("launch")
        try client.wait(for: "initialized")
        func set(_ path: String, _ breakpoint: Object) throws -> Object {
            let answer = try client.ask("setBreakpoints", ["source": ["path": path], "breakpoints": [breakpoint]])
            return (answer["breakpoints"] as? [Object])?.first ?? [:]
        }
        for wrong in [["line": 2, "condition": "n = 5"], ["line": 2, "logMessage": "n is {n = 5}"]] as [Object] {
            let answer = try set(main, wrong)
            #expect(answer["verified"] as? Bool == false)
            #expect((answer["message"] as? String)?.contains("'n = 5' is not an expression") == true, "\(answer)")
        }
        symlink(program.scratch.path, program.scratch.file("way"))
        let right = try set(
            "\(program.scratch.file("way"))/..//\(program.scratch.path.split(separator: "/").last ?? "")/main.lua",
            ["line": 2])
        #expect(right["verified"] as? Bool == true)
        let later = try set(program.scratch.file("made.lua"), ["line": 2])
        #expect(later["verified"] as? Bool == false)
        try client.ask("configurationDone")
        let event = try client.wait(for: "breakpoint")["breakpoint"] as? Object
        #expect(event?["id"] as? Int == later["id"] as? Int && event?["verified"] as? Bool == true)
        #expect(try client.stopped().frame["line"] as? Int == 2)
        #expect(try client.refusal("evaluate", ["expression": "n = 9", "context": "watch"]).contains("expression"))
        #expect(try client.evaluate("n", context: "hover") == "1")
        try client.ask("continue", ["threadId": 1])
        #expect((try client.stopped().frame["source"] as? Object)?["path"] as? String == main)
        try client.ask("continue", ["threadId": 1])
        #expect(try client.wait(for: "exited")["exitCode"] as? Int == 0)
    }

    @Test("a client that is gone before its configuration is done has started nothing, init.lua included")
    func unconfigured() throws {
        #expect(
            try program("-e", "fs.write(app.container.path .. '/Library/Scripts/init.lua', 'items:createItem()')")
                .stderr == "")
        try write("items:createItem()\n")
        let client = try client(main)
        try client.ask("initialize")
        try client.send("launch")
        try client.wait(for: "initialized")
        client.leave()
        #expect(client.process?.wait(seconds: 30) == .exited(74))
        #expect(try program.itemCount() == "0")
    }

    @Test("on a Unix socket: of the user alone, and gone when the client is in")
    func unixSocket() throws {
        try write("return 1\n")
        let path = program.scratch.file("door")
        let terminal = try program.terminal("debug", "--dap", "--listen", path, main)
        try terminal.expect("waiting for a debugger on")
        var raw = stat()
        #expect(lstat(path, &raw) == 0 && raw.st_mode & 0o777 == 0o600)
        let client = try DebugClient(socket: path)
        try client.begin()
        #expect(try client.wait(for: "exited")["exitCode"] as? Int == 0)
        #expect(lstat(path, &raw) != 0)
        client.leave()
        #expect(try terminal.waitForExit() == .exited(0))
    }

    /// What a web page, another program, and a scanner of ports may send.
    private static let knocks = [
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Type: text/plain\r\nContent-Length: 76\r\n\r\nContent-Length: 51\r\n\r\n{}",
        "OPTIONS * HTTP/1.0\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}", "\r\n",
        "SSH-2.0-x\r\n",
        "Content-Length: 2\r\nOrigin: http://evil\r\n\r\n{}", "Content-Length: 99999999999\r\n\r\n",
        "Content-Length: 4\r\n\r\nnull", "Content-Length: 17\r\n\r\n{\"type\":\"request\"}",
    ]

    @Test("on a port: any bytes, silent clients and a wrong token are turned away, and the right client gets in")
    func knocking() throws {
        try write("local n = 40\nn = n + 2\n")
        let (terminal, port, token) = try listening()
        // They stay, and say nothing more, while the others come and go.
        let silent = try (0..<20).map { number in
            let client = try DebugClient(port: port)
            if number % 2 == 1 { try client.send(bytes: Array("Content-Length: 10".utf8)) }
            return client
        }
        for knock in Self.knocks {
            let client = try DebugClient(port: port)
            try client.send(bytes: Array(knock.utf8))
            try client.waitForEnd()
        }
        for (command, wrong) in [("launch", ""), ("launch", "0" + token.dropFirst()), ("attach", token + "0")]
        where wrong != token {
            let client = try DebugClient(port: port)
            try client.ask("initialize")
            #expect(try client.refusal(command, ["token": wrong]).contains("\"token\""))
            try client.waitForEnd()
        }
        let early = try DebugClient(port: port)
        #expect(try early.refusal("launch", ["token": token]) == "initialize comes first")
        try early.waitForEnd()
        let client = try DebugClient(port: port)
        try client.begin("launch", ["token": token], breakpoints: [["line": 2]], in: main)
        #expect(try client.evaluate("n", client.stopped().frame) == "40")
        try client.ask("continue", ["threadId": 1])
        #expect(try client.wait(for: "exited")["exitCode"] as? Int == 0)
        client.leave()
        for client in silent { client.leave() }
        #expect(try terminal.waitForExit() == .exited(0))
    }

    @Test("on a port: one client, as on the standard streams")
    func port() throws {
        try write("local n = 40\nn = n + 2\n")
        let (terminal, port, token) = try listening()
        let client = try DebugClient(port: port)
        try client.begin("launch", ["token": token], breakpoints: [["line": 2]], in: main)
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
        let (terminal, port, token) = try listening()
        let stranger = try run(
            "python3",
            [
                "-c",
                """
                import os, socket
                os.setgid(65534)
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
        try client.begin("launch", ["token": token])
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
}
