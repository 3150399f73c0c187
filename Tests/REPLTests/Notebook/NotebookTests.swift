import Application
import Items
import Lua
import PropertyList
import Scripting
import TestSupport
import Testing

@testable import Jupyter
@testable import REPL

/// A kernel without sockets: its messages are put into its queue and taken from it.
final class KeptKernel {
    let trial: TestHost
    let queue: JupyterQueue
    let kernel: NotebookKernel
    private var count = 0
    private var requestCount = 0
    private var idleCount = 0
    private var collected: [(type: String, content: PropertyListFields)] = []
    /// The front end's answers to the next questions.
    var answers: [String] = []

    init() throws {
        trial = try TestHost()
        queue = try JupyterQueue()
        kernel = NotebookKernel(trial.host, queue)
        kernel.begin()
        _ = sent()
    }

    /// Delivers a message, as the sockets' thread does.
    func deliver(
        _ type: String, _ content: PropertyListFields = [:], _ channel: JupyterConnection.Channel = .shell
    ) throws {
        count += 1
        if channel != .stdin { requestCount += 1 }
        let parts = [
            try PropertyListValue.fields(["msg_type": .string(type), "msg_id": .integer(Int64(count))]).json(),
            Array("{}".utf8), Array("{}".utf8), try PropertyListValue.fields(content).json(),
        ]
        queue.deliver(try JupyterMessage(channel, [[7], JupyterFrames.delimiter, []] + parts, key: []))
    }

    /// What was sent: the messages with their contents.
    func sent() -> [(type: String, content: PropertyListFields)] {
        collect()
        defer { collected = [] }
        return collected
    }

    /// Takes what is to be sent, and answers the questions in it.
    private func collect() {
        let sent = taken()
        collected += sent
        idleCount += sent.count { $0.content.text("execution_state") == "idle" }
        for message in sent where message.type == "input_request" && !answers.isEmpty {
            try? deliver("input_reply", ["value": .string(answers.removeFirst())], .stdin)
        }
    }

    private func taken() -> [(type: String, content: PropertyListFields)] {
        queue.takeDue(.now().advanced(by: 60)).map { departure in
            switch departure {
            case .answer(let answer): (answer.type, answer.content)
            case .text(let bytes, let isError, _):
                (isError ? "stderr" : "stdout", ["text": .string(String(decoding: bytes, as: UTF8.self))])
            }
        }
    }

    /// Delivers a request, and performs it.
    @discardableResult
    func request(
        _ type: String, _ content: PropertyListFields = [:], _ channel: JupyterConnection.Channel = .shell
    ) throws -> [(type: String, content: PropertyListFields)] {
        try deliver(type, content, channel)
        let looks = trial.host.loop.every(0.001) { [unowned self] in collect() }
        defer { looks.cancel() }
        // Each request ends with a status.
        for _ in 0..<10_000 where idleCount < requestCount { trial.host.loop.runOnce(timeout: 0.01) }
        return sent()
    }

    /// Runs a cell.
    @discardableResult
    func run(_ code: String, _ more: PropertyListFields = [:]) throws -> [(type: String, content: PropertyListFields)] {
        var content = more
        content["code"] = .string(code)
        return try request("execute_request", content)
    }
}

extension [(type: String, content: PropertyListFields)] {
    subscript(_ type: String) -> PropertyListFields? { first { $0.type == type }?.content }

    var types: [String] { map(\.type) }
    var printed: String { filter { $0.type == "stdout" }.compactMap { $0.content.text("text") }.joined() }

    /// A form of the result.
    func form(_ type: String, of message: String = "execute_result") -> String? {
        self[message]?["data"]?.fields?.text(type)
    }
}

extension PropertyListFields {
    func text(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }
    func number(_ name: String) -> Int64? { if case .integer(let number)? = self[name] { number } else { nil } }
}

@Suite("Cells of notebooks")
struct NotebookTests {
    @Test("a notebook whose container is another's refuses each cell, and says why")
    func refused() throws {
        let kernel = try KeptKernel()
        kernel.kernel.denial = "it is in use: cubby attach"
        let sent = try kernel.run("items:createItem{}")
        #expect(sent["error"]?.text("evalue") == "it is in use: cubby attach")
        #expect(sent["execute_reply"]?.text("status") == "error")
        #expect(kernel.trial.host.items.count == 0)
        let info = try kernel.request("kernel_info_request")["kernel_info_reply"]
        #expect(info?.text("banner") == "it is in use: cubby attach")
    }

    @Test("a cell is told, shown and answered, between busy and idle")
    func order() throws {
        let kernel = try KeptKernel()
        let sent = try kernel.run("print('a') return 1 + 1")
        #expect(sent.types == ["status", "execute_input", "stdout", "execute_result", "execute_reply", "status"])
        #expect(
            sent["status"]?.text("execution_state") == "busy" && sent.last?.content.text("execution_state") == "idle")
        #expect(sent.form("text/plain") == "2" && sent["execute_reply"]?.text("status") == "ok")
        #expect(sent["execute_reply"]?.number("execution_count") == 1)
        #expect(try kernel.run("_1 + _").form("text/plain") == "4")
    }

    @Test("an error has its name, its message, and the caret at its place")
    func errors() throws {
        let kernel = try KeptKernel()
        let sent = try kernel.run("local x = nil\nreturn x.y")
        let error = try #require(sent["error"])
        #expect(error.text("ename") == "Error" && error.text("evalue")?.contains("attempt to index") == true)
        guard case .array(let lines)? = error["traceback"] else { throw TestFailure("no traceback") }
        #expect(lines.contains { if case .string(let line) = $0 { line.contains("^") } else { false } }, "\(lines)")
        #expect(sent["execute_reply"]?.text("ename") == "Error" && sent["execute_result"] == nil)
        #expect(try kernel.run("for")["error"]?.text("ename") == "SyntaxError")
        #expect(try kernel.run(":nothing")["error"]?.text("ename") == "CommandError")
    }

    @Test("a request without code is answered with an error, and does not run", arguments: [nil, 5] as [Int64?])
    func requestWithoutCode(code: Int64?) throws {
        let kernel = try KeptKernel()
        let reply = try kernel.request("execute_request", code.map { ["code": .integer($0)] } ?? [:])["execute_reply"]
        #expect(reply?.text("status") == "error" && reply?.text("evalue")?.contains("code") == true)
    }

    @Test("after a failure the cells that wait are not run, and later ones are")
    func aborted() throws {
        let kernel = try KeptKernel()
        try kernel.deliver("execute_request", ["code": .string("error('no')")])
        try kernel.deliver("execute_request", ["code": .string("x = 1")])
        let sent = try kernel.request("kernel_info_request")
        #expect(sent.compactMap { $0.content.text("status") } == ["error", "aborted", "ok"])
        #expect(try kernel.run("x").form("text/plain") == "nil")
        try kernel.deliver("execute_request", ["code": .string("error('no')"), "stop_on_error": .boolean(false)])
        #expect(try kernel.run("2").form("text/plain") == "2")
    }

    @Test("a silent cell shows nothing, has no number, and is not kept")
    func silent() throws {
        let kernel = try KeptKernel()
        try kernel.run("a = 1")
        let sent = try kernel.run("return 7", ["silent": .boolean(true)])
        #expect(sent.types == ["status", "execute_reply", "status"])
        #expect(
            try kernel.run("8", ["store_history": .boolean(false)])["execute_result"]?.number("execution_count") == 1)
        #expect(try kernel.run("9")["execute_reply"]?.number("execution_count") == 2)
        #expect(kernel.kernel.session.record.entries.map(\.text) == ["a = 1", "9"])
    }

    @Test("expressions beside a cell are evaluated after it, each by itself")
    func expressions() throws {
        let kernel = try KeptKernel()
        let asked: PropertyListFields = ["a": .string("x + 1"), "b": .string("nothing.x")]
        let values = try kernel.run("x = 1", ["user_expressions": .fields(asked)])["execute_reply"]?["user_expressions"]
        #expect(values?.fields?["a"]?.fields?["data"] == .fields(["text/plain": .string("2")]))
        #expect(values?.fields?["b"]?.fields?.text("status") == "error")
    }

    @Test("changes are committed at a cell's end and told, and :undo takes them back")
    func undo() throws {
        let kernel = try KeptKernel()
        let sent = try kernel.run("for i = 1, 3 do items:createItem{ name = 'Lamp ' .. i } end")
        #expect(sent.printed == "3 items created · :undo\n")
        let undone = try kernel.run(":undo").printed
        #expect(undone.hasPrefix("undone: 3 items created") && kernel.trial.host.items.count == 0, "\(undone)")
        #expect(try kernel.run(":redo").printed.hasPrefix("done again"))
        #expect(try kernel.run(":states").printed.contains("active"))
        #expect(kernel.trial.host.items.count == 3)
    }

    @Test("%%sql makes a cell SQL; its rows are a table")
    func sql() throws {
        let kernel = try KeptKernel()
        try kernel.run("for i = 1, 3 do items:createItem{ name = 'Lamp <' .. i .. '>' } end")
        let html = try kernel.run("%%sql\nselect name, 1 as n from items order by name").form("text/html")
        #expect(html?.contains(">name</th>") == true && html?.contains("Lamp &lt;1&gt;") == true)
        #expect(try kernel.run("select count(*) from items").form("text/plain")?.contains("3") == true)
        #expect(try kernel.run("%%sql\nselec 1")["error"]?.text("evalue")?.contains("selec") == true)
    }

    @Test("long tables are pages, of which the first is open, and say what they leave out")
    func pages() throws {
        let kernel = try KeptKernel()
        try kernel.run("for i = 1, 1000 do items:createItem{ name = 'Lamp ' .. i } end", ["silent": .boolean(true)])
        let html = try #require(try kernel.run("items").form("text/html"))
        #expect(html.components("<details>").count == 5 && html.contains("rows 161–200"))
        #expect(html.contains("1,000 rows · 800 not shown: full(_)"))
        let whole = try #require(try kernel.run("full(items)").form("text/html", of: "display_data"))
        #expect(whole.contains("rows 961–1,000") && !whole.contains("not shown"))
    }

    @Test("an item is a card, escaped; a plot is SVG; an archive is a tree that folds")
    func forms() throws {
        let kernel = try KeptKernel()
        let card = try kernel.run("items:createItem{ name = '<script>', note = 'a\\nb' }").form("text/html")
        #expect(
            card?.contains("&lt;script&gt;") == true && card?.contains("<script") == false
                && card?.contains("a<br/>b") == true)
        let plot = try kernel.run("return items:query():plot{ x = 'name' }").form("image/svg+xml")
        #expect(plot?.hasPrefix("<svg") == true)
        let tree = try kernel.run(
            "return archiver.open(archiver.archivedData({ list = { 1, 2, { name = '<b>' } } }))"
        ).form("text/html")
        #expect(
            tree?.contains("<details open><summary>") == true && tree?.contains("&lt;b&gt;") == true, "\(tree ?? "")")
        #expect(tree?.components("<details").count == tree?.components("</details>").count)
    }

    @Test("output beyond the limit is left out, counted and said")
    func bounded() throws {
        let kernel = try KeptKernel()
        let sent = try kernel.run("for i = 1, 100010 do print(i) end")
        #expect(sent.printed.utf8.count { $0 == 0x0A } == NotebookOutput.lineLimit)
        #expect(sent["stderr"]?.text("text")?.hasPrefix("… and 10 lines more: a cell shows 100,000") == true)
        #expect(try kernel.run("print(1)").printed == "1\n")
    }

    @Test("an interrupt stops the running cell and nothing else")
    func interrupted() throws {
        let kernel = try KeptKernel()
        try kernel.deliver("execute_request", ["code": .string("stop() while true do end")])
        // Delivered while the cell runs, as by another thread.
        kernel.trial.host.state.setGlobal(.init("stop", [])) { [unowned kernel] call in
            try kernel.deliver("interrupt_request", [:], .control)
            return call.returnsNothing()
        }
        while kernel.trial.host.loop.runOnce(timeout: 0) {}
        let sent = kernel.sent()
        #expect(sent["interrupt_reply"]?.text("status") == "ok" && sent["error"]?.text("ename") == "Interrupted")
        #expect(try kernel.run("1").form("text/plain") == "1")
    }

    @Test("the end comes in order while a cell runs, and what it changed is kept")
    func shutdown() throws {
        let kernel = try KeptKernel()
        let host = kernel.trial.host
        host.state.setGlobal(.init("stop", [])) { [unowned kernel] call in
            try kernel.deliver("shutdown_request", ["restart": .boolean(true)], .control)
            return call.returnsNothing()
        }
        let code = "items:createItem{ name = 'kept' } stop() while true do end"
        let sent = try kernel.run(code)
        #expect(sent["shutdown_reply"]?["restart"] == .boolean(true) && host.exitCode != nil)
        #expect(host.items.count == 1)
    }

    @Test("questions go to the front end, and its answers come back while the cell waits")
    func questions() throws {
        let kernel = try KeptKernel()
        kernel.answers = ["Ada"]
        let sent = try kernel.run("return io.read() .. '!'")
        #expect(sent["input_request"]?.text("prompt") == "" && sent.form("text/plain") == "\"Ada!\"", "\(sent)")
        let file = kernel.trial.folder.file("data.txt")
        try kernel.trial.folder.write("text", to: "data.txt")
        kernel.answers = ["perhaps", "y"]
        let asked = try kernel.run("return io.open('\(file)'):read('a')")
        #expect(asked.types.count { $0 == "input_request" } == 2, "\(asked)")
        #expect(asked.form("text/plain") == "\"text\"", "\(asked)")
        let refused = try kernel.run("return io.read() == nil", ["allow_stdin": .boolean(false)])
        #expect(refused["input_request"] == nil)
    }

    @Test("a timer that reads between two cells gets the end, and the next cell is asked")
    func timerReads() throws {
        let kernel = try KeptKernel()
        try kernel.run("timer.after(0.01, function() got = { io.read() } end)")
        for _ in 0..<100 { kernel.trial.host.loop.runOnce(timeout: 0.001) }
        kernel.answers = ["Ada"]
        let sent = try kernel.run("return got ~= nil and #got == 0, io.read()")
        #expect(sent.form("text/plain") == "true\n\"Ada\"", "\(sent)")
        // One that was asked in a cell ends with it.
        try kernel.run("timer.after(0.01, function() late = { io.read(), 'end' } end) timer.sleep(0.05)")
        kernel.answers = ["Bob"]
        let next = try kernel.run("return io.read(), late[1], late[2]")
        #expect(next.form("text/plain")?.contains("\"Bob\"") == true, "\(next)")
        #expect(next.form("text/plain")?.contains("\"end\"") == true, "\(next)")
    }

    @Test("U+0004 at the end of an answer is the end of the input")
    func endOfInput() throws {
        let kernel = try KeptKernel()
        kernel.answers = ["one", "two\u{4}"]
        #expect(try kernel.run("return io.read('a')").form("text/plain") == "\"one\\ntwo\"")
        kernel.answers = ["\u{4}", "three"]
        #expect(try kernel.run("return io.read(), io.read()").form("text/plain")?.contains("\"three\"") == true)
    }

    @Test("an error's message is whole, and not wrapped")
    func wholeMessage() throws {
        let kernel = try KeptKernel()
        let message = Array(repeating: "word", count: 60).joined(separator: " ")
        #expect(try kernel.run("error('\(message)', 0)")["error"]?.text("evalue") == message)
        #expect(
            try kernel.run("error('\(message)\\n\(message)', 0)")["error"]?.text("evalue") == "\(message)\n\(message)")
        #expect(try kernel.run(":set nosuch \(message)")["error"]?.text("evalue")?.contains("\n") == false)
    }

    @Test("completion and inspection count characters, also beyond the first plane")
    func places() throws {
        let kernel = try KeptKernel()
        let reply = try kernel.request(
            "complete_request", ["code": .string("x = '😀' items:createIt"), "cursor_pos": .integer(22)])[
                "complete_reply"]
        #expect(reply?["matches"] == .array([.string("createItem")]))
        #expect(reply?.number("cursor_start") == 14 && reply?.number("cursor_end") == 22)
        let help = try kernel.request(
            "inspect_request", ["code": .string("items:createItem{"), "cursor_pos": .integer(17)])["inspect_reply"]
        #expect(help?["found"] == .boolean(true))
        #expect(help?["data"]?.fields?.text("text/plain")?.contains("createItem") == true)
        try kernel.run("-- Adds.\nfunction add(a, b)\n  return a + b\nend")
        let source = try kernel.request(
            "inspect_request", ["code": .string("add"), "cursor_pos": .integer(1), "detail_level": .integer(1)])
        #expect(source["inspect_reply"]?["data"]?.fields?.text("text/plain")?.contains("return a + b") == true)
        let none = try kernel.request("inspect_request", ["code": .string("1 + 1"), "cursor_pos": .integer(1)])
        #expect(none["inspect_reply"]?["found"] == .boolean(false))
    }

    @Test(
        "whether a cell is complete",
        arguments: [
            ("for i = 1, 3 do", "incomplete"), ("x = 1", "complete"), ("x =)", "invalid"),
            ("%%sql\nselect", "incomplete"),
        ])
    func completeness(code: String, status: String) throws {
        let reply = try KeptKernel().request("is_complete_request", ["code": .string(code)])
        #expect(reply["is_complete_reply"]?.text("status") == status)
    }

    @Test("the history: its end, a range, what fits a pattern")
    func history() throws {
        let kernel = try KeptKernel()
        for code in ["1", "2", "1"] { try kernel.run(code) }
        func found(_ request: PropertyListFields) throws -> [[PropertyListValue]] {
            guard
                case .array(let entries)? = try kernel.request("history_request", request)["history_reply"]?["history"]
            else { throw TestFailure("no history") }
            return entries.map { if case .array(let parts) = $0 { parts } else { [] } }
        }
        #expect(
            try found(["hist_access_type": .string("tail"), "n": .integer(2)]).map { $0[2] } == [
                .string("2"), .string("1"),
            ])
        let range: PropertyListFields = [
            "hist_access_type": .string("range"), "session": .integer(0), "start": .integer(2), "stop": .integer(3),
            "output": .boolean(true),
        ]
        #expect(try found(range).map { $0[2] } == [.array([.string("2"), .string("2\n")])])
        let search: PropertyListFields = ["hist_access_type": .string("search"), "pattern": .string("1*")]
        #expect(try found(search).count == 2)
        var unique = search
        unique["unique"] = .boolean(true)
        #expect(try found(unique).count == 1)
    }

    @Test("a channel for widgets is closed, and an unknown request is left alone")
    func others() throws {
        let kernel = try KeptKernel()
        #expect(try kernel.request("comm_open", ["comm_id": .string("c")])["comm_close"]?.text("comm_id") == "c")
        #expect(try kernel.request("debug_request", [:], .control).types == ["status", "status"])
        #expect(try kernel.request("comm_info_request")["comm_info_reply"]?["comms"] == .fields([:]))
        #expect(try kernel.request("kernel_info_request")["kernel_info_reply"]?.text("protocol_version") == "5.4")
    }
}

extension String {
    fileprivate func components(_ separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }
}
