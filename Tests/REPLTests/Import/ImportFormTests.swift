import LineEditor
import Testing

@testable import REPL

@Suite("The form of an import") struct ImportFormTests {
    private static let rows = [
        ImportForm.Row(name: "Item", field: "name", kind: "string", cells: ["Desk", "Lamp", "Rug"]),
        ImportForm.Row(name: "Value", field: "valueInDollars", kind: "integer", cells: ["$1,622", "$9"]),
        ImportForm.Row(name: "Gekauft am", field: "Gekauft am", kind: "date(dd.MM.yyyy)", cells: ["02.03.2019"]),
        ImportForm.Row(name: "Notes", field: "Notes", kind: "string", cells: []),
    ]

    private func form(_ columns: Int = 80, _ rows: Int = 10) -> ImportForm {
        ImportForm("things.csv: \";\"", Self.rows, TerminalSize(columns: columns, rows: rows))
    }

    private func screen(_ form: ImportForm) -> [String] {
        form.lines().map { line in
            var text = line.text
            while text.last == " " { text.removeLast() }
            return text
        }
    }

    private func pressed(_ keys: [EditorKey], _ form: ImportForm? = nil) -> ImportForm {
        var form = form ?? self.form()
        for key in keys { #expect(form.press(key) == .none, "\(key)") }
        return form
    }

    private func typed(_ text: String) -> [EditorKey] { text.map { .press(.character($0)) } }

    @Test("has a row for each column, in three sizes") func sizes() {
        #expect(
            screen(form()) == [
                "things.csv: \";\"", "  column      field           kind              cells",
                "> Item        name            string            Desk · Lamp · Rug",
                "  Value       valueInDollars  integer           $1,622 · $9",
                "  Gekauft am  Gekauft am      date(dd.MM.yyyy)  02.03.2019",
                "  Notes       Notes           string", "", "", "",
                " 1 of 4 · Enter: import, q: cancel, f: field, ←→: kind, x: leave out, k: key",
            ])
        #expect(
            screen(form(44, 6)) == [
                "things.csv: \";\"", "  column      field       kind        cells",
                "> Item        name        string      Desk …", "  Value       valueInDo…  integer     $1,62…",
                "  Gekauft am  Gekauft am  date(dd.M…  02.03…", " 1 of 4 · Enter: import, q: cancel",
            ])
        #expect(
            screen(form(20, 5)) == [
                "things.csv: \";\"", "  column  field   k…", "> Item    name    s…", "  Value   value…  i…",
                " 1 of 4 · Enter: im…",
            ])
        for (columns, rows) in [(1, 1), (500, 3), (30, 200)] {
            let size = TerminalSize(columns: columns, rows: rows)
            var form = form()
            form.resize(size)
            #expect(form.lines().count == max(5, rows))
        }
    }

    @Test("scrolls to the selected row") func scrolls() {
        let down = EditorKey.press(.down)
        let moved = pressed([down, down, down], form(80, 5))
        #expect(
            screen(moved)[2...3] == [
                "  Gekauft am  Gekauft am  date(dd.MM.yyyy)  02.03.2019", "> Notes       Notes       string",
            ])
        #expect(screen(pressed([.press(.home)], moved))[2].hasPrefix("> Item"))
        #expect(screen(pressed([.press(.end), .press(.pageUp)], moved))[2].hasPrefix("> Value"))
    }

    @Test("keys change a row's field, kind and key, and leave it out") func changes() {
        var form = pressed(
            [.press(.down), .press(.down), .press(.character("f")), .control("u")] + typed("boughtx")
                + [.press(.backspace), .press(.enter), .press(.right), .press(.up), .press(.character("k"))]
                + [.press(.end), .press(.character("x"))])
        #expect(form.rows[2].field == "bought" && form.rows[2].kind == "string")
        #expect(form.rows[1].isKey && form.rows[3].field == nil)
        #expect(screen(form)[3] == "  Value       valueInDollars (key)  integer  $1,622 · $9")
        #expect(screen(form)[5] == "> Notes       – left out")
        form = pressed([.press(.character("x")), .press(.up), .press(.left)], form)
        #expect(form.rows[3].field == "Notes" && form.rows[2].kind == "date(dd.MM.yyyy)")
        #expect(form.press(.press(.enter)) == .accept)
    }

    @Test("while no column is the name, that is said, with those that could be") func naming() {
        let rows = [
            ImportForm.Row(name: "Marke", field: "Marke", kind: "string", cells: ["Bosch"]),
            ImportForm.Row(name: "x", field: "x", kind: "any", cells: ["[1]"], isTyped: true),
        ]
        let size = TerminalSize(columns: 80, rows: 6)
        let form = ImportForm("a.json", rows, size, naming: ("name", ["Marke"]))
        #expect(
            screen(form) == [
                "a.json", "no column is the name of the items: f gives it to one, such as Marke",
                "  column  field  kind    cells", "> Marke   Marke  string  Bosch", "  x       x      any     [1]",
                " 1 of 2 · Enter: import, q: cancel, f: field, ←→: kind, x: leave out, k: key",
            ])
        let named = pressed(
            [.press(.character("f")), .control("u")] + typed("name") + [.press(.enter)], form)
        #expect(screen(named)[1] == "  column  field  kind    cells" && screen(named).count == 6)
        // On a small screen the rows scroll below it.
        var small = form
        small.resize(TerminalSize(columns: 80, rows: 5))
        #expect(screen(small)[3] == "> Marke   Marke  string  Bosch" && screen(small).count == 5)
        #expect(screen(pressed([.press(.down)], small))[3] == "> x       x      any   [1]")
        // Values with kinds of their own keep them, unless another one is chosen.
        #expect(form.rows.map(\.givenKind) == ["string", nil])
        #expect(pressed([.press(.down), .press(.right)], form).rows[1].givenKind == "string")
    }

    @Test("a name that is typed can be left as it was; two columns of one field are refused") func names() {
        var form = pressed([.press(.character("f"))] + typed("q") + [.press(.escape)])
        #expect(form.rows[0].field == "name")
        form = pressed([.press(.end), .press(.character("f")), .control("u")] + typed("name") + [.press(.enter)], form)
        form = pressed([.press(.enter)], form)
        #expect(screen(form).last == " Item and Notes are both name: f changes one")
        #expect(form.press(.press(.character("q"))) == .cancel)
        #expect(form.press(.control("c")) == .cancel && form.press(.control("z")) == .suspend)
    }
}
