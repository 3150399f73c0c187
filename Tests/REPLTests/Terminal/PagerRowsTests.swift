import CommandTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// The pager on a terminal, and the programs that may take its place.
@Suite("The pager on a terminal")
struct PagerRowsTests {
    static let items = "for i = 1, 200 do items:createItem{ name = 'N' .. i, room = 'R' .. i, note = 'x' .. i } end"

    static let rows: [PromptRow] = [
        PromptRow(
            "a long table: the end, a row's item, back, and what a short result would have left",
            [
                .enter(items), .see("200 items created"), .prompt, .enter("items:query()"), .see("rows 1–38 of 200"),
                .keys("G"), .see(">200  N200"), .see("rows 163–200 of 200"), .keys("\r"), .see(" room            R200"),
                .see("lines 1–"), .keys("q"), .see("rows 163–200"), .keys("q"), .see(" …"), .see("200 rows · "),
                .prompt,
                .enter("40 + 2"), .see("\n42"),
            ]),
        PromptRow(
            "an entry that is pasted, or typed by a program, leaves the pager and runs",
            [
                .enter(items), .see("200 items created"), .prompt, .enter("items:query()"), .see("rows 1–38 of 200"),
                .keys("40 + 2\r"), .see("200 rows · "), .see("\n42"), .prompt, .enter("items:query()"),
                .see("rows 1–38 of 200"), .keys("\u{1B}[200~40 + 3\u{1B}[201~"), .see("200 rows · "), .see("40 + 3"),
                .keys("\r"), .see("\n43"), .prompt,
            ]),
        PromptRow(
            "a search finds a row that is not on the screen",
            [
                .enter(items), .see("200 items created"), .prompt, .enter("items:query()"), .see("of 200"),
                .keys("/r150"), .see("/r150"), .keys("\r"), .see(">150  N150"), .keys("/nowhere\r"),
                .see("no nowhere below"), .keys("\u{1B}"), .see("200 rows · "), .prompt,
            ]),
        PromptRow(
            "a column is sorted and counted, a value chosen; what did it stays below",
            [
                .enter(items), .see("200 items created"), .prompt, .enter("items:query()"), .see("of 200"),
                .keys(PromptRowsTests.right), .see(">note"), .keys("s"), .see("items:query():sorted(\"note\")"),
                .keys("F"), .see("0.5 %"), .see("items:query():counts(\"note\")"), .keys("j"), .keys(","),
                .see("rows 1–1 of 1"), .see("items:query(\"note == 'x2'\"):sorted(\"note\")"), .keys("q"), .keys("q"),
                .keys("q"),
                .see("rows 1–38"), .keys("q"), .see("200 rows · "),
                .see("items:query(\"note == 'x2'\"):sorted(\"note\")"), .prompt,
            ]),
        PromptRow(
            "records, in another size, left by Ctrl-C",
            [
                .enter("t = {} for i = 1, 100 do t[i] = { n = i, s = 'text ' .. i } end"), .prompt, .enter("t"),
                .see("rows 1–38 of 100"), .resize(60, 20), .see("rows 1–18 of 100"), .keys("\u{3}"),
                .see("100 rows · "),
                .prompt, .enter("40 + 2"), .see("\n42"),
            ]),
        PromptRow(
            "full(x) of a table whose columns do not fit",
            [
                .enter("w = {} for i = 1, 2 do w[i] = {} for k = 1, 40 do w[i]['field' .. k] = i * k end end"), .prompt,
                .enter("w"), .see("more columns; :columns chooses"), .prompt, .enter("full(w)"), .see("rows 1–2 of 2"),
                .keys(PromptRowsTests.right + PromptRowsTests.right), .see("field12"), .see("rows 1–2 of 2"),
                .keys("q"),
                .see("2 rows · "), .prompt,
            ]),
        PromptRow(
            "what a timer prints and removes meanwhile",
            [
                .enter(items), .see("200 items created"), .prompt,
                .enter(
                    "timer.after(0.3, function() print('tick' .. 'ed') items:removeItem(items[2]) end) return items:query()"
                ),
                .see("of 200"), .see("ticked"), .see("of 200"), .keys("j"), .see("(removed)"), .keys("q"), .prompt,
            ]),
        PromptRow(
            "a __tostring that fails, and one that loops until Ctrl-C",
            [
                .enter("{ setmetatable({}, { __tostring = function() error('no') end }) }"), .prompt,
                .enter(
                    "{ setmetatable({}, { __tostring = function() print('bu' .. 'sy') while true do end end }) }"),
                .see("busy"), .keys("\u{3}"), .prompt, .enter("40 + 2"), .see("\n42"),
            ]),
        PromptRow(
            ":columns chooses, is completed, and helps with a misspelt name",
            [
                .enter(items), .see("200 items created"), .prompt, .enter(":columns rom"), .see("did you mean 'room'?"),
                .keys(":columns no\tna\t\r"), .prompt, .enter("items:query():limit(2)"), .see(" #  note  name\n"),
                .see("more columns; :columns chooses"), .enter(":columns"), .see("tables show note name"),
                .enter(":columns *"), .see(" #  name  note  room"),
            ]),
        PromptRow(
            "$PAGER gets the whole text",
            [
                .enter(items), .see("200 items created"), .prompt, .enter("items:query()"), .see("<   #  name"),
                .see("< 200  N200  x200  R200"), .see("200 rows · "), .prompt, .enter("40 + 2"), .see("\n42"),
            ], environment: ["PAGER": "sed 's/^/</'"]),
        PromptRow(
            "a $PAGER that reads nothing",
            [.enter("help(items)"), .see("more lines"), .prompt, .enter("40 + 2"), .see("\n42")],
            environment: ["PAGER": "true"]),
        PromptRow(
            "a $PAGER that is not there",
            [
                .enter("help(items)"), .see("no-such-pager could not be started"), .see("space: more"), .keys("q"),
                .prompt,
            ], environment: ["PAGER": "no-such-pager"]),
        PromptRow(
            "a $PAGER that a shell does not find",
            [
                .enter("help(items)"), .see("could not be started"), .see("space: more"), .keys("q"), .prompt,
            ], environment: ["PAGER": "no-such-pager | cat >&2; exit 127"]),
        PromptRow(
            "a terminal without capabilities has no pager",
            [
                .enter(items), .see("> "), .enter("items:query()"), .see(" …"), .see("200 rows · "),
                .see("> "), .enter("40 + 2"), .see("\n42"),
            ], environment: ["TERM": "dumb"]),
    ]

    @Test("does what it should", arguments: rows)
    func row(_ row: PromptRow) throws { try PromptRowsTests().row(row) }
}
