import CommandTestSupport
import Foundation
import TestSupport
import Testing

/// What a client sees is all there is, or says what is missing; what it asks for is done, or refused.
@Suite("Debug adapter: what a client sees", .serialized)
struct DebugViewTests {
    private typealias Object = DebugClient.Object
    let program: Program

    init() throws { program = try Program() }

    private var main: String { program.scratch.file("main.lua") }

    /// A client of a script, which is stopped at a line.
    private func client(_ text: String, at line: Int) throws -> (client: DebugClient, frame: DebugClient.Object) {
        try program.scratch.write(text, to: "main.lua")
        let client = try program.debugClient([main])
        try client.begin(breakpoints: [["line": line]], in: main)
        return (client, try client.stopped().frame)
    }

    @Test(
        "a console's evaluation that waits is cancelled, and ends with the program",
        arguments: ["timer.sleep(100)", "app:run()"], ["cancel", "terminate", "disconnect", "leave"])
    func waiting(expression: String, command: String) throws {
        let (client, frame) = try client("local a = 1\nprint(a)\n", at: 2)
        let waits = try client.send(
            "evaluate", ["expression": expression, "frameId": frame["id"] ?? 0, "context": "repl"])
        usleep(200_000)
        switch command {
        case "cancel":
            try client.ask("cancel", ["requestId": waits])
            #expect(try client.response(to: waits)["message"] as? String == "interrupted")
            #expect(try client.evaluate("a + 1", frame) == "2")
            try client.ask("continue", ["threadId": 1])
            #expect(try client.wait(for: "exited")["exitCode"] as? Int == 0)
        case "leave":
            client.leave()
            #expect(client.process?.wait(seconds: 20 * Project.patience) != nil)
        default:
            try client.ask(command)
            try client.waitForEnd()
        }
    }

    @Test("output in pieces of characters is whole, and other bytes are escapes")
    func pieces() throws {
        try program.scratch.write(
            """
            for byte in ("aé😀"):gmatch(".") do io.write(byte) io.flush() end
            io.write("\\xff\\n") io.flush()
            io.write("end \\xe2") io.flush()
            """, to: "main.lua")
        let client = try program.debugClient([main])
        try client.begin()
        try client.wait(for: "exited")
        let bodies = client.events.filter { $0["event"] as? String == "output" }.compactMap { $0["body"] as? Object }
        let output = bodies.filter { $0["category"] as? String == "stdout" }.compactMap { $0["output"] as? String }
            .joined()
        try client.wait(for: "terminated")
        #expect(output == "aé😀\\xff\nend \\xe2", "\(output)")
    }

    @Test("a table's entries are all there, or a row counts those that are not")
    func manyEntries() throws {
        let (client, frame) = try client(
            """
            local mixed, many, names = { name = "Lamp" }, {}, {}
            for i = 1, 3000 do mixed[i] = i end
            for i = 1, 12000 do many["k" .. i] = i end
            names[1], names.a = 1, 2
            print(mixed, many, names)
            """, at: 5)
        let locals = try client.scope("Locals", of: frame).variables
        let mixed = locals["mixed"] ?? [:]
        #expect(mixed["indexedVariables"] as? Int == 3000 && mixed["namedVariables"] as? Int == 1)
        #expect(locals["names"]?["namedVariables"] as? Int == 1)
        let all = try client.variables(mixed["variablesReference"])
        #expect(all["name"]?["value"] as? String == "\"Lamp\"" && all["[2000]"] != nil)
        #expect(all["…"]?["value"] as? String == "1,000 more are not shown")
        let reference = locals["many"]?["variablesReference"]
        let named = try client.variables(reference)
        #expect(named.count == 2001 && named["…"]?["value"] as? String == "10,000 more are not shown")
        let last = try client.variables(reference, ["filter": "named", "start": 9990, "count": 11])
        #expect(last.count == 11 && last["…"]?["value"] as? String == "2,000 more are not shown")
        let page = try client.variables(reference, ["filter": "named", "start": 9990, "count": 10])
        #expect(page.count == 10 && page["…"] == nil)
    }

    @Test("only an expression is assigned", arguments: ["", "x = 7", "1, 2", "local y = 1 return y"])
    func assignments(text: String) throws {
        let (client, frame) = try client("local x, t = 1, { 5 }\nprint(x, t)\n", at: 2)
        let locals = try client.scope("Locals", of: frame)
        let fields = locals.variables["t"]?["variablesReference"] ?? 0
        for (reference, name) in [(locals.reference as Any, "t"), (fields, "[1]")] {
            let arguments: Object = ["variablesReference": reference, "name": name, "value": text]
            #expect(try client.refusal("setVariable", arguments).contains("is not an expression"))
        }
        let arguments: Object = ["expression": "t[1]", "value": text, "frameId": frame["id"] ?? 0]
        #expect(try client.refusal("setExpression", arguments).contains("is not an expression"))
        #expect(try client.evaluate("x + t[1]", frame) == "6")
    }

    @Test("deep recursion gives the innermost and the outermost calls, and says how many are between")
    func deep() throws {
        let (client, _) = try client(
            "local function f(n)\n  if n == 0 then\n    return 0\n  end\n  return 1 + f(n - 1)\nend\nf(1000)\n", at: 3)
        let trace = try client.ask("stackTrace", ["threadId": 1])
        let frames = trace["stackFrames"] as? [Object] ?? []
        #expect(frames.count == 201 && trace["totalFrames"] as? Int == 201)
        #expect(frames.last?["name"] as? String == "chunk" && frames.last?["line"] as? Int == 7)
        let gap = frames[180]
        #expect(gap["name"] as? String == "… 802 more calls" && gap["presentationHint"] as? String == "label")
        #expect(try client.refusal("scopes", ["frameId": gap["id"] ?? 0]).contains("no such call"))
        let page = try client.ask("stackTrace", ["threadId": 1, "startFrame": 200, "levels": 5])
        #expect((page["stackFrames"] as? [Object])?.count == 1)
    }

    @Test("breakpoints that move to one line are all there")
    func sameLine() throws {
        try program.scratch.write("for i = 1, 4 do\n\n\n  print(i)\nend\n", to: "main.lua")
        let client = try program.debugClient([main])
        try client.begin(
            breakpoints: [["line": 2, "condition": "i == 2"], ["line": 4, "condition": "i == 3"]], in: main)
        for expected in ["2", "3"] {
            #expect(try client.evaluate("i", client.stopped().frame) == expected)
            try client.ask("continue", ["threadId": 1])
        }
        try client.wait(for: "terminated")
    }

    @Test("a hit count that is none is refused", arguments: ["== 3", "%2", "< 3", "= 3", "three"])
    func hitCounts(text: String) throws {
        let (client, _) = try client("local x = 1\nprint(x)\n", at: 2)
        let answer = try client.ask(
            "setBreakpoints", ["source": ["path": main], "breakpoints": [["line": 2, "hitCondition": text]]])
        let breakpoint = (answer["breakpoints"] as? [Object])?.first
        #expect(breakpoint?["verified"] as? Bool == false)
        #expect((breakpoint?["message"] as? String)?.contains("not \(text)") == true, "\(answer)")
    }

    @Test("a launch that fails says why", arguments: ["/nosuch.lua", "option"])
    func failedLaunch(kind: String) throws {
        let client = try program.debugClient([])
        try client.ask("initialize")
        let arguments: Object = kind == "option" ? ["program": main, "options": ["--nosuch"]] : ["program": kind]
        #expect(try client.refusal("launch", arguments).contains("nosuch"))
    }

    @Test("a table that is raised is shown with its fields")
    func raisedTable() throws {
        try program.scratch.write("error({ code = 42 })\n", to: "main.lua")
        let client = try program.debugClient([main])
        try client.begin(filters: ["uncaught"])
        #expect((try client.wait(for: "stopped")["text"] as? String)?.contains("code = 42") == true)
        let info = try client.ask("exceptionInfo", ["threadId": 1])
        #expect((info["description"] as? String)?.contains("code = 42") == true, "\(info)")
    }
}
