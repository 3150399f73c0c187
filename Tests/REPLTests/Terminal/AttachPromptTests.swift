import CommandTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// The prompt of `cubby attach` as a person uses it: what the host's own prompt does, on another terminal.
@Suite("The attached prompt in a terminal", .serialized)
struct AttachPromptTests {
    let program: Program
    let host: PseudoTerminal

    init() throws {
        program = try Program()
        host = try program.host()
    }

    private func attached() throws -> PseudoTerminal {
        let prompt = try program.terminal("attach")
        try prompt.expect("attached> ")
        return prompt
    }

    /// The host goes on, and ends by a signal with its own status.
    private func expectAlive(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try program("attach", "-e", "return 6 * 7").stdout == "42\n", sourceLocation: sourceLocation)
        host.terminate()
        #expect(try host.waitForExit() == .exited(0), sourceLocation: sourceLocation)
    }

    /// What the host's own prompt has alone: its arguments and its standard input, questions to a waiting script, what a
    /// dumb terminal shows first.
    static let ownRows = [
        "36 ", "io.", "-i", "memory warnings", "a prompt of one's own", "trouble in the background", "a dumb terminal",
        "what a timer prints", "$PAGER gets", "a terminal without", "Ctrl-D typed while", "an undefined name warns",
        "12 files are completed",
    ]
    static let shared = (PromptRowsTests.rows + PagerRowsTests.rows).filter { row in
        !ownRows.contains { row.name.hasPrefix($0) }
    }

    @Test("the rows of the host's own prompt", arguments: shared)
    func rows(row: PromptRow) throws {
        let prompt = try row.terminal(of: program, ["attach"] + row.arguments)
        try prompt.expect("attached> ")
        try row.perform(at: prompt)
    }

    static let commands: [(String, String)] = [
        (":help", "what scripts can use"), ("help", "Commands, completed by Tab"),
        ("?items.createItem", "A new item"), ("items.createItem?", "A new item"), ("??thumbnail", "images:thumbnail"),
        (":hooks", "willSave"), (":errors", "no errors of handlers or timers"), (":doctor", "line editor"),
        (":states", "didEnterBackground"), (":hex 'ab'", "61 62"),
        (":chapter", "cubby chapter opens"),
        (":time 6 * 7", "42"), (":time", "every entry's time is shown"), (":out json", ""), (":out xml", "is none of"),
        (":undo", "nothing to undo"), (":redo", "nothing to redo"), (":img 1", ":img takes an item or an image"),
        (":histroy", "did you mean 'history'"), (":tutorial", "1 of 12"), ("full({ 1 })", "{ 1 }"),
        ("help(string.format)", "C's printf"), ("print({ 1, 2 })", "{ 1, 2 }"), ("local x = 5", ""), ("_err", ""),
        ("x = = 1", "^"), (":load nowhere.lua", "nowhere.lua"), (":edit 99", "there is no entry 99"),
        (":break main.lua:1", "':break' is for the prompt of the host itself"),
        (":next", "':next' is for the prompt of the host itself"),
    ]

    @Test("commands have the prompt's words")
    func commands() throws {
        let prompt = try attached()
        for (entry, expected) in Self.commands {
            try prompt.sendLine(entry)
            if !expected.isEmpty { try prompt.expect(expected) }
            try prompt.expect("attached> ")
        }
        try prompt.sendLine(":quit")
        #expect(try prompt.waitForExit() == .exited(0))
        try expectAlive()
    }

    @Test("what an entry changed is told, taken back after a question, and done again")
    func history() throws {
        let prompt = try attached()
        try prompt.sendLine("for i = 1, 1200 do items:createItem{ name = 'lamp ' .. i } end")
        try prompt.expect("1,200 items created")
        try prompt.expect(":undo")
        try prompt.expect("attached> ")
        try prompt.sendLine(":undo")
        try prompt.expect("Take back: 1,200 items created? [y]es, [n]o: ")
        try prompt.sendLine("n")
        try prompt.expect("nothing was taken back")
        try prompt.expect("attached> ")
        try prompt.sendLine(":undo")
        try prompt.expect("[y]es, [n]o: ")
        try prompt.sendLine("y")
        try prompt.expect("undone: 1,200 items created")
        try prompt.sendLine(":redo")
        try prompt.expect("done again: 1,200 items created")
        try prompt.sendLine("#items, _")
        try prompt.expect("1200")
        try expectAlive()
    }

    @Test("tables fit the screen, also after it has another size; names with escape sequences are shown as text")
    func tables() throws {
        let prompt = try attached()
        try prompt.sendLine(
            "for i = 1, 3 do items:createItem{ name = 'Bear\\27[2J' .. i, a = ('x'):rep(15) .. i, b = ('y'):rep(20) .. i, c = 'z' .. i } end"
        )
        try prompt.expect("3 items created")
        try prompt.expect("attached> ")
        prompt.resize(columns: 44, rows: 20)
        try prompt.sendLine("items:query()")
        let shown = try prompt.expect("3 rows")
        #expect(shown.contains("\\27[2J") && !shown.contains("\u{1B}[2J") && !shown.contains("  z1"))
        try prompt.expect("attached> ")
        prompt.resize(columns: 160, rows: 40)
        try prompt.sendLine("items:query()")
        #expect(try prompt.expect("3 rows").contains("  z1"))
        try expectAlive()
    }

    @Test("what others change is told above the prompt, in one line")
    func others() throws {
        let prompt = try attached()
        try prompt.send("half an entry")
        let change = "for i = 1, 3 do items:createItem{ name = 'new' } end"
        #expect(try program("attach", "-e", change).status == .exited(0))
        try prompt.expect("3 items created by another prompt")
        try prompt.expect("half an entry")
        try prompt.send(control: "c")
        try prompt.expect("attached> ")
        try prompt.sendLine("timer.after(0.2, function() for i = 1, 3 do items:removeItem(items[1]) end end)")
        try prompt.expect("3 items removed by the host")
        try expectAlive()
    }

    @Test("the owner's prompt is told what an attached one changes")
    func owner() throws {
        let other = try Program()
        let owner = try other.terminal()
        try owner.waitForPrompt()
        try owner.send("6 * 7")
        #expect(try other("attach", "-e", "items:createItem{ name = 'far' }").status == .exited(0))
        try owner.expect("1 item created by an attached prompt")
        try owner.send("\r")
        try owner.expect("42")
    }

    @Test("a script of entries may hold commands; one that fails tells")
    func script() throws {
        let saved = program.scratch.file("saved.lua")
        let output = try program("attach", input: "6 * 7\n:save \(saved)\n:quit\nreturn 'not reached'\n")
        #expect(output.stdout == "42\n1 entry saved to \(saved)\n")
        #expect(output.status == .exited(0))
        #expect(try String(contentsOfFile: saved, encoding: .utf8).contains("print(6 * 7)\n--> 42\n"))
        #expect(try program("attach", input: ":save \(saved)\n").status == .exited(1))
        #expect(try program("attach", "-e", ":nonsense").status == .exited(1))
        try expectAlive()
    }

    @Test("a prompt of another version is refused with words")
    func version() throws {
        for (hello, version) in [("80 24", 1), (AttachPeer.hello(version: 4, key: ""), 4)] {
            let peer = try AttachPeer(program, greets: false)
            try peer.send("H", hello)
            let answer = try #require(try peer.next())
            #expect(answer.kind == "R")
            #expect(answer.text.hasPrefix("the prompt speaks version \(version) and the host version 3: "))
            #expect(try peer.next() == nil)
        }
        try expectAlive()
    }
}
