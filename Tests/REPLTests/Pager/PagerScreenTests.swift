import LineEditor
import Testing

@testable import REPL

@Suite("The pager's screen") struct PagerScreenTests {
    private func screen() -> PagerScreen {
        let text = (1...50).map { "line \($0)\n" }.joined()
        return PagerScreen(Pager(PagerText(text, columns: 20), rows: 5, columns: 20), palette: .none)
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test("is drawn on the alternate screen alone, and given back once")
    func alternate() {
        let screen = screen()
        #expect(screen.draw().isEmpty && screen.hide().isEmpty && screen.resize(columns: 30, rows: 5).isEmpty)
        let shown = text(screen.show())
        #expect(
            shown.hasPrefix(
                "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[1;1H\u{1B}[Kline 1\u{1B}[0m\u{1B}[2;1H\u{1B}[Kline 2"))
        #expect(!text(screen.show()).contains("?1049h"))
        #expect(text(screen.hide()) == "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l" && screen.hide().isEmpty)
    }

    @Test("takes keys in any pieces, and an Escape when nothing follows it")
    func keys() {
        let screen = screen()
        _ = screen.show()
        #expect(screen.feed([0x1B]) == .none && screen.isWaiting)
        #expect(screen.feed(Array("[B".utf8)) == .none && text(screen.draw()).contains("[1;1H\u{1B}[Kline 2"))
        #expect(screen.feed([0x1B]) == .none && screen.flush() == .leave)
        #expect(screen.feed(Array("\u{1A}".utf8)) == .suspend)
        #expect(screen.feed(Array("/line 40\r".utf8)) == .none && screen.isSearching)
        while screen.isSearching { _ = screen.searchOn() }
        #expect(text(screen.draw()).contains("[1;1H\u{1B}[Kline 40"))
    }

    @Test(
        "several characters at once are the next entry",
        arguments: [
            ("40 + 2\r", true), ("1+1", true), ("f(x)", true), ("\u{1B}[200~q\u{1B}[201~", true), ("é1", true),
            ("jjjj", false), ("q", false), ("gg", false), ("/name\r", false), ("?name\r", false),
            ("\u{1B}[B\u{1B}[B", false),
            ("\u{1B}", false), ("ab\u{3}", false), ("", false),
        ])
    func entries(text: String, isEntry: Bool) {
        let screen = screen()
        _ = screen.show()
        #expect(screen.isEntry(Array(text.utf8)) == isEntry)
        _ = screen.feed(Array("/".utf8))
        #expect(!screen.isEntry(Array(text.utf8)))
    }

    @Test("any bytes are keys or nothing")
    func bytes() {
        let screen = screen()
        _ = screen.show()
        for byte in UInt8.min...UInt8.max { _ = screen.feed([byte, 0x5B, byte, 0x3B, byte]) }
        #expect(text(screen.draw()).contains("\u{1B}[5;1H"))
    }
}
