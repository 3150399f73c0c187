import LineEditor
import Testing

@Suite("Palette")
struct PaletteTests {
    @Test(
        "Colours need a terminal that has them and a user who wants them",
        arguments: [
            (["TERM": "xterm-256color"], true, false, true), (["TERM": "xterm"], false, false, false),
            (["TERM": "xterm"], true, true, false), (["TERM": "dumb"], true, false, false), ([:], true, false, false),
            (["TERM": "xterm", "NO_COLOR": "1"], true, false, false),
            (["TERM": "xterm", "NO_COLOR": ""], true, false, true),
        ] as [([String: String], Bool, Bool, Bool)])
    func appropriate(_ environment: [String: String], _ isTerminal: Bool, _ isForbidden: Bool, _ hasColours: Bool) {
        let palette = TerminalPalette.appropriate(isTerminal: isTerminal, isForbidden: isForbidden) { environment[$0] }
        #expect(palette.isEmpty == !hasColours)
    }

    @Test func applying() {
        #expect(TerminalPalette.none.apply(.error, to: "x") == "x")
        #expect(TerminalPalette([.error: "31"]).apply(.error, to: "x") == "\u{1B}[31mx\u{1B}[0m")
    }
}
