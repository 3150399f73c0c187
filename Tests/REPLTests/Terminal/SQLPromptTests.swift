import CommandTestSupport
import TestSupport
import Testing

/// SQL at the prompt of the host, and at one that is attached.
@Suite("SQL at a prompt on a terminal")
struct SQLPromptTests {
    private static let setUp = """
        for i, room in ipairs{ 'Attic', 'Hall', 'Attic' } do items:createItem{ name = 'Thing ' .. i, room = room, valueInDollars = i * 10 } end
        """

    static let rows: [PromptRow] = [
        PromptRow(
            "a statement shows its rows in its order",
            [
                .enter("select room, sum(valueInDollars) total from items group by room order by 2 desc"),
                .see(" #  room   total\n 1  Attic     40\n 2  Hall      20\n2 rows · "), .prompt,
            ]),
        PromptRow(
            "the rows are a value",
            [
                .enter("SELECT name FROM items ORDER BY name"), .see("3 rows · "), .prompt,
                .enter("#_, _[2].name, _.columns[1]"), .see("\n3\n\"Thing 2\"\n\"name\""),
            ]),
        PromptRow(
            "an unfinished statement goes on in the next line",
            [
                .enter("select room, count(*) n"), .see("… "), .enter("from items where"), .see("… "),
                .enter("room = 'Hall' group by room"), .see(" 1  Hall  1\n1 row · "), .prompt,
                .enter("select 'one"), .see("… "), .enter("two' as t;"), .see("1 row · "), .prompt,
            ]),
        PromptRow(
            "a change says what it has changed, and is undone in one step",
            [
                .enter("update items set room = 'Cellar'"), .see("3 items changed · "), .see(" · :undo"), .prompt,
                .enter(":undo"), .see("undone: 3 items changed"), .prompt,
                .enter("delete from items where room = 'Hall'"), .see("1 item removed · "), .prompt,
                .enter("insert into items(name) values ('New')"), .see("1 item created · "), .prompt,
                .enter("update items set room = 'x' where 0"), .see("nothing changed"), .prompt,
                .enter("#items"), .see("\n3"),
            ]),
        PromptRow(
            "a mistake has its place and a hint",
            [
                .enter("select nmae from items"),
                .see("no such column: nmae; did you mean 'name'? (column 8)\n    select nmae from items\n           ^"),
                .prompt, .enter("tostring(_err):match('nmae')"), .see("\n\"nmae\""), .prompt,
                .enter("select name form items where 1"), .see("syntax error"), .prompt, .enter("40 + 2"), .see("\n42"),
            ]),
        PromptRow(
            "Lua comes first",
            [
                .enter("select('#', 1, 2)"), .see("\n2"), .prompt, .enter("values = { 7 }"), .prompt,
                .enter("values[1] * 6"), .see("\n42"),
            ]),
        PromptRow(
            "Tab completes tables, fields and values",
            [
                .keys("select roo\t from ite\t where room = 'Ha\t\r"), .see(" 1  Hall\n1 row · "), .prompt,
                .keys("select medi\t"), .see("median("), .keys("\u{3}"), .prompt,
            ]),
        PromptRow(
            "null and long results: the pager",
            [
                .enter(
                    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 200) select i, null as z from n"
                ),
                .see("rows 1–"), .keys("G"), .see("–200 of 200"), .keys("q"), .prompt, .enter("#_"), .see("\n200"),
            ]),
        PromptRow(
            "formats of results",
            [
                .enter(":out json"), .prompt, .enter("select 2 as b, null as a"), .see("\"b\": 2,"),
                .see("\"a\": null"),
                .prompt,
            ]),
        PromptRow(
            "Ctrl-C ends a statement without an end",
            [
                .enter("sql.define('tell', function() print('bu' .. 'sy') return 1 end)"), .prompt,
                .enter("with recursive n(i) as (select tell() union all select 1 from n) select count(*) from n"),
                .see("busy"),
                .keys("\u{3}"), .see("interrupted"), .prompt, .enter("40 + 2"), .see("\n42"),
            ]),
    ]

    @Test("does what it should", arguments: rows)
    func row(_ row: PromptRow) throws {
        let program = try Program()
        _ = try program("-e", Self.setUp)
        let terminal = try row.terminal(of: program, row.arguments)
        try terminal.waitForPrompt()
        try row.perform(at: terminal)
    }

    @Test("the same through attach", arguments: rows)
    func attached(_ row: PromptRow) throws {
        let program = try Program()
        _ = try program("-e", Self.setUp)
        let host = try program.host()
        defer { host.terminate() }
        let terminal = try row.terminal(of: program, ["attach"])
        try terminal.expect("attached> ")
        try row.perform(at: terminal)
    }

    @Test("a file asks for consent, and a path in a statement is none")
    func consent() throws {
        let program = try Program()
        let path = try program.scratch.write("n\n7\n", to: "a.csv")
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try terminal.sendLine("select n * 6 as answer from csv('\(path)')")
        try terminal.expect("[n]o: ")
        try terminal.sendLine("n")
        try terminal.expect("outside the sandbox")
        try terminal.expect("> ")
        try terminal.sendLine("select n * 6 as answer from csv('\(path)')")
        try terminal.expect("[n]o: ")
        try terminal.sendLine("y")
        try terminal.expect("42")
    }

    @Test("a session with statements is saved as a script that runs")
    func saved() throws {
        let program = try Program()
        _ = try program("-e", Self.setUp)
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try terminal.enter("select name, ']]' as x from items where room = 'Hall'", andExpect: "1 row · ")
        try terminal.enter(":save \(program.scratch.file("saved.lua"))", andExpect: "1 entry saved")
        try terminal.send(control: "d")
        _ = try terminal.waitForExit()
        let output = try program(program.scratch.file("saved.lua"))
        #expect(output.stdout == " #  name     x\n 1  Thing 2  ]]\n1 row\n", "\(output.stderr)")
    }
}
