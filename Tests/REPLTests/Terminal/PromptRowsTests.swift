import CommandTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// The prompt as a person uses it: the checklist of what a prompt should have, row by row.
@Suite("The prompt on a terminal")
struct PromptRowsTests {
    static let up = "\u{1B}[A"
    static let down = "\u{1B}[B"
    static let right = "\u{1B}[C"

    static let rows: [PromptRow] = [
        PromptRow("1 an expression shows its value", [.enter("6 * 7"), .see("\n42"), .prompt]),
        PromptRow("2 =expression", [.enter("=6 * 7"), .see("\n42"), .prompt]),
        PromptRow("several values", [.enter("1, 'a', nil"), .see("\n1\n\"a\"\nnil")]),
        PromptRow(
            "3 a block goes on until it is complete",
            [
                .enter("for i = 1, 2 do"), .see("… "), .enter("print('line ' .. i)"), .enter("end"),
                .see("\nline 1\nline 2"),
            ]),
        PromptRow(
            "4 Up recalls the whole block, which is edited line by line",
            [
                .enter("for i = 1, 2 do"), .see("… "), .enter("print('a' .. i)"), .enter("end"), .see("\na1\na2"),
                .prompt,
                .keys(up + down + "\u{5}" + "\u{8}" + ", 'more')"), .see("more"), .keys(up + down + down + "\u{5}\r"),
                .see("\na1\tmore"), .see("\na2\tmore"),
            ]),
        PromptRow(
            "5 a local of the top is kept for the session",
            [
                .enter("local kept <const> = 20 local function twice(n) return n * 2 end"), .prompt,
                .enter("twice(kept) + 2"), .see("\n42"),
            ]),
        PromptRow(
            "5 a local without a value",
            [.enter("local x"), .prompt, .enter("x = 5"), .prompt, .enter("rawget(_G, 'x'), x"), .see("\nnil\n5")]),
        PromptRow(
            "5 a habit of another prompt is answered, and all items are a table",
            [
                .enter("\\d"), .see(":fields lists the items' fields"), .prompt, .enter("x != 1"),
                .see("unequal is ~="),
                .prompt,
                .enter("items:createItem{ name = 'Va' .. 'se' }"), .see("Vase"), .prompt, .enter("items"),
                .see(" 1  Vase"), .see("1 row · "), .prompt,
            ]),
        PromptRow(
            "8 ghost suggestion taken by Right",
            [
                .enter("print('sug' .. 'gested')"), .see("\nsuggested"), .prompt, .keys("pri" + right + "\r"),
                .see("\nsuggested"),
            ]),
        PromptRow(
            "8 Up finds entries that begin alike",
            [
                .enter("aa = 'fir' .. 'st'"), .prompt, .enter("bb = 2"), .prompt, .keys("aa" + up + "\r"), .prompt,
                .enter("aa"), .see("\"first\""),
            ]),
        PromptRow(
            "8 incremental search",
            [
                .enter("needle = 'fo' .. 'und'"), .prompt, .enter("other = 1"), .prompt, .keys("\u{12}need"),
                .see("search: need"), .keys("\r"), .prompt, .enter("needle"), .see("\"found\""),
            ]),
        PromptRow("9 completion of globals and fields", [.keys("ite\t.hasC\t\r"), .see("\nfalse")]),
        PromptRow("10 completion of methods", [.keys("items:rand\t\r"), .see("valueInDollars")]),
        PromptRow(
            "11 completion after calls",
            [
                .enter("items:createItem{ name = 'Lamp' } ready = 1"), .prompt, .keys("items:query():fir\t).na\t\r"),
                .see("\n\"Lamp\""),
            ]),
        PromptRow(
            "12 completion in strings",
            [.keys("app:on(\"didEnterB\t, function() end)\r"), .see("Hook(didEnterBackground")]),
        PromptRow(
            "12 the menu has documentation",
            [.keys("items:re\t\t"), .see("Redoes the last undone commit; false if there is none.")]),
        PromptRow(
            "13 completion runs no code of scripts",
            [
                .enter("ran = 'no' t = setmetatable({}, { __index = function() ran = 'yes' error('x') end })"), .prompt,
                .keys("t.abc\t\t"), .keys("\u{15}"), .enter("ran .. '!'"), .see("\"no!\""),
            ]),
        PromptRow("14 ?x", [.enter("?items.createItem"), .see("A new item at the end")]),
        PromptRow("14 x?", [.enter("didSave?"), .see("The items were saved, or the save failed.")]),
        PromptRow("14 ?x of a library function", [.enter("?string.format"), .see("as C's printf does")]),
        PromptRow(
            "14 help(x) is paged",
            [.enter("help(items)"), .see("space: more"), .keys("q"), .prompt, .enter("40 + 2"), .see("\n42")]),
        PromptRow(
            "14 help is searched",
            [
                .enter("?thumbnail"), .see("images:thumbnail(key"), .enter("?cached in Library/Caches"),
                .see("images:thumbnail("), .enter("??memory warning"),
                .see("didReceiveMemoryWarning"),
                .enter("help('zqxj')"), .see("Nothing is known of zqxj"),
            ]),
        PromptRow("14 ?x of an error's code", [.enter("?itemRemoved"), .see("its object has no fields any more")]),
        PromptRow(
            "14 help for a script's own function: comment and place",
            [
                .keys("-- doubles a num" + "ber\rfunction double(n)\rreturn n * 2\rend\r"), .prompt,
                .enter("help(double)"), .see("defined at ["),
            ]),
        PromptRow(
            "14 ??x shows the source",
            [
                .enter("function f(a)\u{1B}\rreturn a + 1\u{1B}\rend"), .prompt, .enter("??f"), .see("-- ["),
                .see("function f(a)"),
            ]),
        PromptRow(
            "15 long tables are cut",
            [.enter("t = {} for i = 1, 1000 do t[i] = i end"), .prompt, .enter("t"), .see("… (1,000 elements)")]),
        PromptRow("15 cycles", [.enter("c = {} c.c = c"), .prompt, .enter("c"), .see("(contains itself)")]),
        PromptRow("15 strings are escaped", [.enter("'a\\n\\27[31m'"), .see("\"a\\n\\27[31m\"")]),
        PromptRow(
            "15 full(x)",
            [.enter("t = {} for i = 1, 60 do t[i] = 'e' .. i end"), .prompt, .enter("full(t)"), .see("\"e60\"")]),
        PromptRow(
            "16 items as a table",
            [
                .enter("for i = 1, 3 do items:createItem{ name = 'L' .. i } end"), .see("3 items created"),
                .enter("items:query()"), .see("3 rows · "),
            ]),
        PromptRow(
            "16 records as a table",
            [.enter("{ { a = 1, b = 'x' }, { a = 22, b = 'y' } }"), .see("#   a  b"), .see("2 rows")]),
        PromptRow("17 _ and _1", [.enter("6 * 7"), .see("\n42"), .prompt, .enter("_ + _1"), .see("\n84")]),
        PromptRow("17 the last error", [.enter("error({ code = 7 })"), .prompt, .enter("_err.code"), .see("\n7")]),
        PromptRow(
            "18 Ctrl-C stops code and keeps the session",
            [
                .enter("kept = 1 print('bu' .. 'sy') while true do end"), .see("busy"), .keys("\u{3}"),
                .see("interrupted"), .prompt, .enter("kept + 41"), .see("\n42"),
            ]),
        PromptRow(
            "18 Ctrl-C inside of pcall and a coroutine",
            [
                .enter(
                    "kept = 1 print('bu' .. 'sy') coroutine.wrap(function() while true do pcall(function() while true do end end) end end)()"
                ), .see("busy"), .keys("\u{3}"), .see("interrupted"), .prompt, .enter("kept + 41"), .see("\n42"),
            ]),
        PromptRow(
            "19 Ctrl-C at a continuation only clears",
            [.enter("for i = 1, 2 do"), .see("… "), .keys("\u{3}"), .prompt, .enter("40 + 2"), .see("\n42")]),
        PromptRow(
            "20 traceback without the host's frames",
            [
                .enter("function inner() error('deep') end function outer() inner() end"), .prompt, .enter("outer()"),
                .see("stack traceback:"), .see("in function 'outer'"),
            ]),
        PromptRow(
            "21 excerpt and caret", [.enter("local t = {} t.x.y = 1"), .see("1 | local t = {} t.x.y = 1"), .see("^")]),
        PromptRow("21 a syntax error's place", [.enter("x = = 1"), .see("1 | x = = 1"), .see("|     ^")]),
        PromptRow("21 did you mean", [.enter("string.fromat('x')"), .see("did you mean 'format'?")]),
        PromptRow("22 :time", [.enter(":time 6 * 7"), .see("\n42"), .see("s\n")]),
        PromptRow(
            "23 a paste of many lines is one entry",
            [
                .keys(
                    "\u{1B}[200~total = 0\nfor i = 1, 100 do\n  total = total + i\nend\nprint('sum ' .. total)\n\u{1B}[201~"
                ), .see("print('sum ' .. total)"), .keys("\r"), .see("\nsum 5050"),
            ]),
        PromptRow(
            "23 prompts pasted along are stripped",
            [.keys("\u{1B}[200~> a = 40\n> b = 2\n\u{1B}[201~\r"), .prompt, .enter("a + b"), .see("\n42")]),
        PromptRow(
            "36 a file outside of the container is asked for, once, and no is no",
            [
                .enter("(io.open('/etc/hostname'))"),
                .see("Allow reading /etc/hostname? [y]es, its whole [f]older, [n]o: "),
                .enter("n"), .see("\nnil"), .prompt, .enter("(io.open('/etc/hostname'))"), .see("[n]o: "), .enter("y"),
                .see("\nfile ("),
                .prompt, .enter("#io.lines('/etc/hostname')() > 0"), .see("\ntrue"),
            ]),
        PromptRow(
            "36 only the words that were asked for are an answer",
            [
                .enter("(io.open('/etc/hostname'))"), .see("[n]o: "), .enter("yikes, no!"), .see("[n]o: "), .enter(""),
                .see("[n]o: "), .enter("yes please"), .see("[n]o: "), .enter("fn"), .see("[n]o: "), .enter(" NO "),
                .see("\nnil"), .prompt, .enter("(io.open('/etc/hostname'))"), .see("[n]o: "), .keys("\u{4}"),
                .see("\nnil"), .prompt, .enter("(io.open('/etc/hostname'))"), .see("[n]o: "), .enter("Yes"),
                .see("\nfile ("),
            ]),
        PromptRow(
            "36 --read-only",
            [.enter("items:createItem()"), .see("read-only"), .prompt, .enter("#items"), .see("\n0")],
            arguments: ["--container", ":memory:", "--read-only"]),
        PromptRow(
            "12 files are completed as far as scripts may read them, and everywhere in commands",
            [
                .enter("fs.write('granted.txt', 'x')"), .prompt, .enter("#fs.read('gra\t)"), .see("\n1"), .prompt,
                .keys("fs.read('/etc/hostn\t"), .see("fs.read('/etc/hostn"), .keys("\u{3}"), .prompt,
                .keys(":load /etc/hostn\t"), .see("/etc/hostname"),
            ], arguments: ["--allow-write", "."]),
        PromptRow(
            "an undefined name warns in what is typed, and raises in a file",
            [
                .enter("fs.write('strict.lua', 'return undefinedName')"), .prompt, .enter("undefindName"),
                .see("warning: undefined global 'undefindName'"), .see("\nnil"), .prompt, .enter(":load strict.lua"),
                .see("strict.lua:1: undefined global 'undefinedName'"),
            ], arguments: ["--allow-write", "."]),
        PromptRow(
            "-i: names are as lenient as at any prompt, and files are asked for",
            [
                .enter("undefindName"), .see("warning: undefined global"), .see("\nnil"), .prompt,
                .enter("(io.open('/etc/hostname'))"), .see("[n]o: "), .enter("y"), .see("\nfile ("),
            ], arguments: ["-i", "-e", "x = 1"]),
        PromptRow(
            "io.lines and io.read on the terminal",
            [
                .enter(
                    "print('rea' .. 'dy') for line in io.lines() do print('<' .. line .. '>') if line == 'end' then break end end"
                ),
                .see("ready"), .keys("one\r"), .see("<one>"), .keys("end\r"), .see("<end>"), .prompt, .enter("40 + 2"),
                .see("\n42"),
            ]),
        PromptRow(
            "memory warnings and notifications are served while a line is typed",
            [
                .enter("app:on('didReceiveMemoryWarning', function() print('low mem' .. 'ory') end)"), .prompt,
                .enter("notifications:addObserver('news', function() print('new' .. 's came') end)"), .prompt,
                .enter("timer.after(0.05, function() app:simulateMemoryWarning() notifications:post('news') end)"),
                .keys("40 + "), .see("low memory"), .see("news came"), .see("40 + "), .keys("2\r"), .see("\n42"),
            ]),
        PromptRow(
            "a block whose lines are wide, in a window that changes",
            [
                .keys("s = '漢字👨‍👩‍👧e\u{301}'\u{1B}\r"), .see("… "), .keys("n = utf8.len(s)"), .resize(20, 10),
                .resize(100, 30),
                .keys("\r"), .prompt, .enter("#s, n"), .see("\n27\n9"),
            ]),
        PromptRow(
            "undo and redo, words, the kill ring",
            [
                .keys("print('one two')\u{17}\u{1F}"), .see("two')"), .keys("\u{15}\u{19}\r"), .see("\none two"),
                .prompt,
                .keys("x = 'abc' .. 'def'\u{1B}b\u{1B}d\u{1F}\r"), .prompt, .enter("x"), .see("\"abcdef\""),
            ]),
        PromptRow(
            "29 an unknown command",
            [
                .enter(":hooksx"), .see("unknown command ':hooksx'"), .see("did you mean 'hooks'?"),
                .enter(":import x.csv"), .see("and items:import is a function of Lua"),
                .enter(":valueInDollars"), .see("unknown command ':valueInDollars'; :help lists them\n"),
            ]),
        PromptRow("29 :help lists the commands", [.enter(":help"), .see(":tutorial"), .see(":quit")]),
        PromptRow(
            "29 commands are completed",
            [.keys(":out j\t\r"), .prompt, .enter("{ a = 1, b = { 2 } }"), .see("\"a\": 1")]),
        PromptRow("29 :out lua", [.enter(":out lua"), .prompt, .enter("{ 'x', y = 2.5 }"), .see("y = 2.5")]),
        PromptRow(
            "29 :out csv", [.enter(":out csv"), .prompt, .enter("{ { a = 1, b = 'x,y' } }"), .see("a,b\n1,\"x,y\"")]),
        PromptRow(
            "29 :hooks",
            [
                .enter("app:on('didSave', { id = 'mine' }, function() end)"), .prompt, .enter(":hooks"), .see("mine"),
                .see("host.save"),
            ]),
        PromptRow(
            "29 :undo and :redo",
            [
                .enter("items:createItem{ name = 'One' } n = #items"), .prompt, .enter(":undo"),
                .see("undone: 1 item created"), .enter(":redo"), .see("done again: 1 item created"),
            ]),
        PromptRow(
            "29 an entry says what it changed, one that fails, too",
            [
                .enter("for i = 1, 3 do items:createItem{} end"), .see("3 items created · "), .see("· :undo"),
                .enter("items:query():update{ room = 'Attic' }"), .see("3 items changed"), .enter(":undo"),
                .see("undone: 3 items changed"),
                .enter("for i = 1, 2 do items:createItem{} end items:removeItem(items[1]) error('late')"),
                .see("2 items created, 1 removed"),
            ]),
        PromptRow(
            "29 :undo of a picture",
            [
                .enter("p = image.fromData(data.fromBase64('R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs='))"),
                .prompt,
                .enter("i = items:createItem{}"), .prompt, .enter("i.image = p"), .prompt, .enter(":undo"),
                .see("undone: what an item has beside its fields"), .enter("i.image"), .see("nil"),
            ]),
        PromptRow("29 print of a table", [.enter("print({ 1, a = 'x' }, 'y')"), .see("{ 1, a = \"x\" }")]),
        PromptRow("29 help is understood", [.enter("help"), .see(":tutorial")]),
        PromptRow("29 a variable named quit is one", [.enter("quit = 4 + 5"), .prompt, .enter("quit"), .see("\n9")]),
        PromptRow("29 :history", [.enter("first = 1"), .prompt, .enter(":history"), .see("1  first = 1")]),
        PromptRow("29 :doctor", [.enter(":doctor"), .see("line editor"), .see("memory of Lua")]),
        PromptRow(
            "30 :edit",
            [
                .enter("x = 1"), .prompt, .enter(":edit"), .see("x = 42"), .keys("\r"), .prompt, .enter("x"),
                .see("\n42"),
            ], environment: ["EDITOR": "sed -i s/1/42/"]),
        PromptRow(
            "31 a picture is drawn",
            [
                .enter(
                    "image.fromData(data.fromBase64('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='))"
                ), .see("1×1"),
            ]),
        PromptRow(
            "32 :save and :load",
            [
                .enter("saved = 'wo' .. 'rked'"), .prompt, .enter("1 + 41"), .see("\n42"), .enter("nope()"), .prompt,
                .enter(":save session.lua"), .see("2 entries saved"), .enter("saved = nil"), .prompt,
                .enter(":load session.lua"), .see("\n42"), .enter("saved"), .see("\"worked\""),
            ]),
        PromptRow(
            "a prompt of one's own",
            [
                .enter("_PROMPT = 'cu' .. 'bby# '"), .see("cubby# "),
                .enter("function _PROMPT() return #items .. ' things> ' end"), .see("0 things> "),
            ]),
        PromptRow(
            "trouble in the background is shown, and does not spoil the line",
            [
                .enter("timer.after(0.05, function() error('tim' .. 'er trouble') end)"), .keys("40 + "),
                .see("timer trouble"), .keys("2\r"), .see("\n42"), .see("!1 > "), .enter(":errors"),
                .see("timer trouble"),
            ]),
        PromptRow(
            "keys typed while an entry runs are for the next line",
            [.enter("print('go') timer.sleep(0.3)"), .see("\ngo"), .keys("40 +\t 2\u{8}\u{8} 2\r"), .see("\n42")]),
        PromptRow(
            "Ctrl-D typed while an entry runs is for the next line, and leaves",
            [
                .enter("items:createItem() print('go') timer.sleep(0.2)"), .see("\ngo"), .keys("\u{4}"),
                .see("Saved all of the Items"),
            ]),
        PromptRow(
            "io.read reads a line from the terminal",
            [
                .enter("io.write('na' .. 'me? ') line = io.read() print('got ' .. line:upper())"), .see("name? "),
                .keys("some text\r"), .see("got SOME TEXT"), .prompt, .enter("line"), .see("\"some text\""),
            ]),
        PromptRow(
            "the pager",
            [
                .enter("t = {} for i = 1, 200 do t[i] = ('row %d of a table that is long'):format(i) end"), .prompt,
                .enter("full(t)"), .see("space: more"), .keys(" "), .see("space: more"), .keys("q"), .prompt,
                .enter("40 + 2"), .see("\n42"),
            ]),
        PromptRow(
            "the tutorial checks what is typed",
            [
                .enter(":tutorial"), .see("1 of 12: Values"), .enter("6 * 7"), .see("✓ Values"), .see("2 of 12"),
                .enter(":tutorial 12"), .see("12 of 12"), .enter(":tutorial off"), .see("over"),
            ]),
        PromptRow(
            "a dumb terminal",
            [
                .enter("6 * 7"), .see("\n42\n> "), .enter("for i = 1, 1 do"), .see("… "), .enter("print('a' .. i) end"),
                .see("\na1"),
            ], environment: ["TERM": "dumb"]),
        PromptRow("a resize while typing", [.keys("40 + "), .resize(60, 20), .keys("2\r"), .see("\n42")]),
        PromptRow(
            "-i: a prompt after a chunk", [.enter("fromChunk + 1"), .see("\n42")],
            arguments: ["-i", "-e", "fromChunk = 41"]),
    ]

    @Test("does what it should", arguments: rows)
    func row(_ row: PromptRow) throws {
        let program = try Program()
        let terminal = try row.terminal(of: program, row.arguments)
        try terminal.waitForPrompt()
        try row.perform(at: terminal)
    }

    @Test("24 init.lua is run first, and 7 the history is kept from one session to the next, blocks as blocks")
    func sessions() throws {
        let program = try Program()
        _ = try program("-e", "")
        let scripts = "\(program.container)/Library/Scripts"
        try FileManager.default.createDirectory(atPath: scripts, withIntermediateDirectories: true)
        try "fromInit = 'here'".write(toFile: "\(scripts)/init.lua", atomically: true, encoding: .utf8)
        let first = try program.terminal()
        try first.waitForPrompt()
        try first.sendLine("fromInit")
        try first.expect("\"here\"")
        try first.sendLine("for i = 1, 2 do")
        try first.expect("… ")
        try first.sendLine("print('x' .. i)")
        try first.sendLine("end")
        try first.expect("\nx1\nx2")
        try first.expect("> ")
        try first.sendLine(" private = 1")
        try first.expect("> ")
        try first.sendLine(":history off")
        try first.expect("private")
        try first.sendLine("hidden = 2")
        try first.expect("> ")
        try first.send(control: "d")
        #expect(try first.waitForExit() == .exited(0))

        let history = try String(
            contentsOfFile: "\(program.container)/Library/Application Support/repl_history", encoding: .utf8)
        // Lines that come faster than they are read bring their own indentation.
        let entries = history.replacing(try Regex(#"\\n *"#), with: "\\n")
        #expect(entries == "fromInit\nfor i = 1, 2 do\\nprint('x' .. i)\\nend\n:history off\n")

        let second = try program.terminal()
        try second.waitForPrompt()
        try second.send(Self.up + Self.up + "\r")
        try second.expect("\nx1\nx2")
    }

    @Test("25 a pipe has no prompt, no banner and no colour", arguments: [[], ["-"], ["-i", "-e", "x = 1"]])
    func pipe(arguments: [String]) throws {
        let program = try Program()
        let output = try program(arguments, input: "print('plain')\nerror('refused')\n")
        #expect(output.stdout.contains("plain\n"))
        #expect(output.stderr.contains("refused"))
        #expect(!output.stdout.contains("> ") && !output.stdout.contains("Cubby") && !output.stdout.contains("\u{1B}"))
        #expect(!output.stderr.contains("\u{1B}"))
    }

    @Test("lines that come by thousands are entries one after the other, in a pipe and at a terminal")
    func manyLines() throws {
        let program = try Program()
        let lines = "sum = 0\n" + String(repeating: "sum = sum + 1\n", count: 300)
        let blank = String(repeating: "\n", count: 30_000)
        let output = try program(["-i", "-e", ""], input: lines + blank + "print(sum)\n")
        #expect(output.stdout == "300\n" && output.stderr.isEmpty)
        let terminal = try program.terminal()
        try terminal.waitForPrompt()
        try terminal.send(String(repeating: "\r", count: 4000))
        try terminal.enter("print('the ' .. 'end')", andExpect: "the end")
    }

    @Test("6 what is typed is coloured, and NO_COLOR, --no-color and dumb terminals are not", arguments: [0, 1, 2, 3])
    func colours(way: Int) throws {
        let program = try Program()
        let terminal = try program.terminal(
            way == 2 ? ["--no-color"] : [], columns: 80, rows: 24,
            environment: way == 1 ? ["NO_COLOR": "1"] : way == 3 ? ["TERM": "dumb"] : [:])
        try terminal.waitForPrompt()
        try terminal.sendLine("local x = 'text' return nope.y")
        try terminal.expect("attempt to index")
        try terminal.expect("> ")
        let colours = String(decoding: terminal.rawTranscript, as: UTF8.self)
        #expect(colours.contains("\u{1B}[35m") == (way == 0), "a keyword is coloured")
        #expect(colours.contains("\u{1B}[31m") == (way == 0), "an error is coloured")
    }
}
