import LineEditor
import Lua
import Scripting
import Testing

@testable import REPL

@Suite("The pager") struct PagerTests {
    private static let up = EditorKey.press(.up), down = EditorKey.press(.down)

    private func pager(lines: Int = 100, rows: Int = 11) -> Pager {
        Pager(PagerText((1...lines).map { "line \($0)\n" }.joined(), columns: 80), rows: rows, columns: 80)
    }

    /// What the keys leave on the screen, without the state.
    private func screen(_ pager: Pager, _ keys: [EditorKey]) -> [String] {
        var pager = pager
        for key in keys {
            #expect(pager.press(key) == .none)
            while pager.isSearching { _ = pager.searchOn() }
        }
        return pager.lines().dropLast().map(\.text)
    }

    private func typed(_ text: String) -> [EditorKey] {
        text.map { EditorKey.press(.character($0)) } + [.press(.enter)]
    }

    @Test(
        "moves by lines and screens, and stays inside",
        arguments: [
            ([], 1), ([.press(.character(" "))], 11), ([.press(.pageDown), .press(.pageDown), .press(.pageUp)], 11),
            ([down, down, up], 2), ([up, .press(.character("b"))], 1), ([.press(.end)], 91),
            ([.press(.character("G")), down, .press(.character(" "))], 91), ([.press(.end), .press(.home)], 1),
            ([.press(.character("G")), .press(.character("g"))], 1), ([.press(.enter)], 2),
        ] as [([EditorKey], Int)])
    func moves(keys: [EditorKey], first: Int) {
        let lines = screen(pager(), keys)
        #expect(lines == (first..<first + 10).map { "line \($0)" })
    }

    @Test(
        "searches both ways, small letters either case, again and back",
        arguments: [
            ("/line 5", [], 5), ("/LINE", [], 1), ("/Line 5", [.press(.character("n"))], 50),
            ("/line 5", [.press(.character("n")), .press(.character("n"))], 51),
            ("/line 5", [.press(.character("n")), .press(.character("N"))], 5),
        ] as [(String, [EditorKey], Int)])
    func searches(text: String, keys: [EditorKey], first: Int) {
        // A capital finds itself alone: the screen stays.
        let found = text.contains("L") ? 1 : first
        #expect(screen(pager(), typed(text) + keys).first == "line \(found)")
    }

    @Test(
        "the last row has the keys that fit",
        arguments: [
            (80, " lines 1–10 of 100 · q: leave, space: more, /: search "),
            (46, " lines 1–10 of 100 · q: leave, space: more "), (32, " lines 1–10 of 100 · q: leave "),
            (20, " lines 1–10 of 100 "),
        ])
    func hints(columns: Int, text: String) {
        var pager = pager()
        pager.resize(columns: columns, rows: 11)
        #expect(pager.lines().last?.text == text)
    }

    @Test("searches upwards from the end, and says what is not there")
    func upwards() {
        #expect(screen(pager(), [.press(.end)] + typed("?line 42")).first == "line 42")
        var other = pager()
        for key in typed("/nowhere") { _ = other.press(key) }
        #expect(other.isSearching)
        while other.isSearching { _ = other.searchOn() }
        #expect(other.lines().last?.text == " no nowhere below ")
        #expect(other.lines().first?.text == "line 1")
    }

    @Test("marks what is found, and shows what is typed")
    func marks() {
        var pager = pager()
        for key in typed("/ine 3").dropLast() { _ = pager.press(key) }
        #expect(pager.lines().last?.text == "/ine 3")
        #expect(pager.press(.press(.backspace)) == .none && pager.lines().last?.text == "/ine ")
        _ = pager.press(.press(.character("3")))
        _ = pager.press(.press(.enter))
        while pager.isSearching { _ = pager.searchOn() }
        let line = pager.lines()[0]
        #expect(line == StyledText([.init("l", .plain), .init("ine 3", .searchMatch)]))
    }

    @Test("a search is stopped, then the pager is left; both by Ctrl-C")
    func stops() {
        var pager = pager()
        for key in typed("/nowhere") { _ = pager.press(key) }
        #expect(pager.press(.control("c")) == .none && !pager.isSearching)
        #expect(pager.press(.control("c")) == .leave)
        #expect(pager.press(.press(.character("q"))) == .leave && pager.press(.press(.escape)) == .leave)
        #expect(pager.press(.control("z")) == .suspend)
    }

    @Test("breaks long lines, keeps their colours, and keeps the place in another size")
    func widths() {
        let red = "\u{1B}[31m"
        let text = "\(red)abcdefgh\u{1B}[0m\nij\n漢字漢字"
        var content = PagerText(text, columns: 5)
        #expect(
            content.draw(0..<content.count, columns: 5) == [
                "\(red)abcde\u{1B}[0m", "\(red)fgh\u{1B}[0m", "ij", "漢字", "漢字",
            ])
        var tabbed = PagerText("ij\tk", columns: 20)
        #expect(tabbed.draw(0..<1, columns: 20) == ["ij      k"])
        #expect(content.resize(columns: 80, keeping: content.count - 1) == 2)
        #expect(
            PagerText.isPageable(text) && !PagerText.isPageable("\u{1B}]0;x\u{7}") && !PagerText.isPageable("\u{1B}[2J")
        )
        #expect(!PagerText.isNeeded("1\n2\n3\n", rows: 4, columns: 5) && PagerText.isNeeded(text, rows: 4, columns: 5))
        #expect(PagerText.plain(text).hasPrefix("abcdefgh\n"))
    }

    // MARK: Tables

    private func table(_ test: TestHost, rows: Int = 12, columns: Int = 40) throws -> Pager {
        try test.enter(
            """
            for i = 1, 100 do
              items:createItem{ name = 'Item ' .. i, itemKey = 'k' .. i, alpha = 'alpha ' .. i, beta = 'beta ' .. i,
                gamma = 'gamma ' .. i, dateCreated = date('2026-07-01') }
            end
            """)
        let table = try #require(try test.table("items:query()", columns: columns, rows: rows))
        return Pager(PagerTable(table), rows: rows, columns: columns)
    }

    @Test("a table keeps its titles and its first column, and selects a row")
    func tables() throws {
        let test = try TestHost()
        let pager = try table(test)
        let first = screen(pager, [])
        #expect(first[0] == "  #  name     alpha     beta" && first.count == 11)
        #expect(first[1] == "> 1  Item 1   alpha 1   beta 1")
        #expect(screen(pager, [.press(.right)])[0] == "  #  name    >alpha     beta")
        let right = EditorKey.press(.right)
        let moved = screen(pager, [right, right, right, Self.down])
        #expect(moved[0] == "  #  name     beta    >gamma")
        #expect(moved[2] == "> 2  Item 2   beta 2   gamma 2")
        #expect(
            screen(pager, [right, right, right, .press(.left), .press(.left)])[0] == "  #  name    >alpha     beta")
        let last = screen(pager, [.press(.end)])
        #expect(last[10].hasPrefix(">100  Item 100") && last[1].hasPrefix("  91  Item 91"))
        #expect(screen(pager, [right, .press(.left)])[0] == "  # >name     alpha     beta")
        #expect(screen(pager, Array(repeating: .press(.right), count: 30))[0].contains("dateCreated"))
    }

    @Test("Enter opens the row's item, q goes back")
    func opens() throws {
        let test = try TestHost()
        var pager = try table(test, columns: 60)
        let item = screen(pager, [Self.down, .press(.enter)])
        #expect(
            item.prefix(4) == [
                " name            Item 2", " valueInDollars  $0", " dateCreated     2026-07-01 00:00:00 +0000",
                " itemKey         k2",
            ])
        for key in [Self.down, .press(.enter), .press(.character("q"))] { #expect(pager.press(key) == .none) }
        #expect(pager.lines()[2].text.hasPrefix("> 2  Item 2") && pager.press(.press(.escape)) == .leave)
    }

    @Test("finds a row by a field that is not on the screen")
    func finds() throws {
        let test = try TestHost()
        #expect(screen(try table(test), typed("/GAMMA 57").map { $0 })[1].hasPrefix("> 1  Item 1"))
        let found = screen(try table(try TestHost()), typed("/gamma 57"))
        #expect(found.contains { $0.hasPrefix(">57  Item 57") }, "\(found)")
    }

    @Test("shows a removed row as such")
    func removed() throws {
        let test = try TestHost()
        let pager = try table(test)
        try test.enter("items:removeItem(items[2])")
        #expect(screen(pager, [])[2].hasPrefix("  2  (removed)"))
        #expect(screen(pager, [Self.down, .press(.enter)])[0] == "This row was removed.")
        try test.enter("for i = #items, 1, -1 do items:removeItem(items[i]) end")
        #expect(screen(pager, [.press(.end)])[10].contains("(removed)"))
        _ = screen(pager, typed("/Item"))
    }

    @Test("any size of the screen will do", arguments: [(2, 1), (1, 500), (300, 3)])
    func sizes(columns: Int, rows: Int) throws {
        let test = try TestHost()
        for var pager in [try table(test), self.pager()] {
            pager.resize(columns: columns, rows: rows)
            _ = screen(pager, [.press(.end), .press(.right), .press(.pageUp), Self.up, .press(.enter)])
            #expect(pager.lines().count == max(3, rows))
        }
    }
}
