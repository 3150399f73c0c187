import TestSupport
import Testing

@testable import LineEditor

@Suite("Renderer")
struct RendererTests {
    static func scene(_ marked: String, prompt: StyledText = "> ", suggestion: String = "", below: [StyledText] = [])
        -> Scene
    {
        let characters = Array(marked)
        var buffer = EditBuffer(String(characters.filter { $0 != "|" }))
        buffer.moveCursor(to: characters.firstIndex(of: "|") ?? characters.count)
        return Scene(prompt: prompt, continuationPrompt: "… ", buffer: buffer, suggestion: suggestion, below: below)
    }

    struct Case: Sendable {
        let text: String
        let lines: [String]
        let cursor: (Int, Int)
    }

    @Test(
        "A scene on a screen of ten columns",
        arguments: [
            Case(text: "", lines: [">"], cursor: (0, 2)),
            Case(text: "abc|", lines: ["> abc"], cursor: (0, 5)),
            Case(text: "abcdefgh|", lines: ["> abcdefgh"], cursor: (1, 0)),
            Case(text: "abcdefg|h", lines: ["> abcdefgh"], cursor: (0, 9)),
            Case(text: "abcdefghij|", lines: ["> abcdefgh", "ij"], cursor: (1, 2)),
            Case(text: "ab\nc|d\n", lines: ["> ab", "… cd", "…"], cursor: (1, 3)),
            Case(text: "日本語漢字|", lines: ["> 日本語漢", "字"], cursor: (1, 2)),
            Case(text: "x日本語漢字", lines: ["> x日本語", "漢字"], cursor: (1, 4)),
            Case(text: "x日本語|漢字", lines: ["> x日本語", "漢字"], cursor: (1, 0)),
            Case(text: "a\tb", lines: ["> a   b"], cursor: (0, 7)),
            Case(text: "\u{1B}[\u{7}", lines: ["> ^[[^G"], cursor: (0, 7)),
            Case(text: "a\u{200B}", lines: ["> a<200B>"], cursor: (0, 9)),
            Case(text: "é👩‍👩‍👧|x", lines: ["> é👩‍👩‍👧x"], cursor: (0, 5)),
        ])
    func layout(_ example: Case) {
        var screen = Screen(columns: 10, rows: 6)
        var renderer = TerminalRenderer(columns: 10, rows: 6)
        screen.apply(renderer.render(Self.scene(example.text)))
        #expect(screen.lines == example.lines)
        #expect((screen.row, screen.column) == example.cursor)
        #expect(screen.unknown == [])
        #expect(renderer.render(Self.scene(example.text)) == [])
    }

    @Test("A key at the end costs its own bytes")
    func minimal() {
        var renderer = TerminalRenderer(columns: 80, rows: 24, palette: .standard)
        _ = renderer.render(Self.scene("print(1|"))
        #expect(renderer.render(Self.scene("print(1)|")) == Array(")".utf8))
        #expect(renderer.render(Self.scene("print(1|)")) == [8])
        #expect(renderer.render(Self.scene("|print(1)")) == Array("\u{1B}[7D".utf8))
        #expect(renderer.render(Self.scene("xprint(1)|")).count < 24)
    }

    @Test("The screen scrolls only when the bottom is reached")
    func scrolling() {
        var screen = Screen(columns: 20, rows: 4)
        var renderer = TerminalRenderer(columns: 20, rows: 4)
        screen.apply(Array("one\r\ntwo\r\n".utf8))
        screen.apply(renderer.render(Self.scene("a\nb")))
        #expect(screen.scrolledOff == [])
        #expect(screen.lines == ["one", "two", "> a", "… b"])
        screen.apply(renderer.render(Self.scene("a\nb\nc")))
        #expect(screen.scrolledOff.count == 1)
        #expect(screen.lines == ["two", "> a", "… b", "… c"])
        screen.apply(renderer.render(Self.scene("a|")))
        #expect(screen.lines == ["two", "> a"])
        screen.apply(renderer.render(Self.scene("a\nb\nc")))
        #expect(screen.scrolledOff.count == 1)
    }

    @Test("Menu and suggestion come and go")
    func menu() {
        var screen = Screen(columns: 20, rows: 8)
        var renderer = TerminalRenderer(columns: 20, rows: 8)
        screen.apply(
            renderer.render(
                Self.scene("pri|", suggestion: "nt(1)", below: ["  print", "  a very long line that is cut"])))
        #expect(screen.lines == ["> print(1)", "  print", "  a very long line"])
        #expect((screen.row, screen.column) == (0, 5))
        screen.apply(renderer.render(Self.scene("prix|")))
        #expect(screen.lines == ["> prix"])
    }

    @Test("A block taller than the screen is shown around the cursor and left whole")
    func tall() {
        let lines = (1...12).map { "l\($0)" }
        var screen = Screen(columns: 20, rows: 5)
        var renderer = TerminalRenderer(columns: 20, rows: 5)
        screen.apply(renderer.render(Self.scene(lines.joined(separator: "\n"))))
        #expect(screen.lines == ["… l8", "… l9", "… l10", "… l11", "… l12"])
        screen.apply(renderer.render(Self.scene("|" + lines.joined(separator: "\n"))))
        #expect(screen.lines == ["> l1", "… l2", "… l3", "… l4", "… l5"])
        #expect((screen.row, screen.column) == (0, 2))
        #expect(screen.scrolledOff == [])
        screen.apply(renderer.leave(Self.scene(lines.joined(separator: "\n"))))
        #expect(screen.lines == ["… l9", "… l10", "… l11", "… l12", ""].dropLast())
        #expect((screen.row, screen.column) == (4, 0))
        #expect(screen.scrolledOff.first?.hasPrefix("> l1") == true)
        #expect(screen.scrolledOff.count == 8)
    }

    @Test("Styles are reset and never spill")
    func styles() {
        var screen = Screen(columns: 20, rows: 5)
        var renderer = TerminalRenderer(columns: 20, rows: 5, palette: .standard)
        var scene = Self.scene("local x")
        scene.spans = [StyledSpan(0..<5, .keyword)]
        screen.apply(renderer.render(scene))
        #expect(screen.styles[0][2...8] == ["35", "35", "35", "35", "35", "", ""])
        scene.spans = [StyledSpan(0..<5, .error), StyledSpan(2..<99, .string)]
        screen.apply(renderer.render(scene))
        #expect(screen.styles[0][2...8] == ["31", "31", "32", "32", "32", "32", "32"])
        var plain = TerminalRenderer(columns: 20, rows: 5)
        #expect(!plain.render(scene).contains(UInt8(ascii: "m")))
    }

    @Test("A resize finds the prompt's row where the terminal wrapped it to")
    func resize() {
        var renderer = TerminalRenderer(columns: 20, rows: 10)
        _ = renderer.render(Self.scene("abcdefghijklmnop\nxyz"))
        // Twelve columns: the first line takes two rows, so the cursor is in the third.
        #expect(renderer.resize(columns: 12, rows: 10) == Array("\r\u{1B}[2A\u{1B}[K\u{1B}[B\u{1B}[J\u{1B}[A".utf8))
        var other = TerminalRenderer(columns: 20, rows: 10)
        other.reflows = false
        _ = other.render(Self.scene("abcdefghijklmnop\nxyz"))
        #expect(other.resize(columns: 12, rows: 10) == Array("\r\u{1B}[1A\u{1B}[K\u{1B}[B\u{1B}[J\u{1B}[A".utf8))
        // A line that wraps is one line again when there is room.
        var wide = TerminalRenderer(columns: 10, rows: 10)
        _ = wide.render(Self.scene("abcdefghijklmnop"))
        #expect(wide.resize(columns: 40, rows: 10) == Array("\r\u{1B}[K".utf8))
    }

    @Test("Any way from one scene to another shows the other", arguments: 0..<120)
    func random(seed: Int) {
        var random = RandomSource(seed: UInt64(seed))
        let columns = Int.random(in: 4...24, using: &random)
        let rows = Int.random(in: 2...8, using: &random)
        let pieces = ["a", "bc", "\n", "漢", "👩‍👧", "é", "\t", "        ", "end", "\u{1}", "🇩🇪", "xyzxyzxyz"]
        var screen = Screen(columns: columns, rows: rows)
        var renderer = TerminalRenderer(columns: columns, rows: rows, palette: .standard)
        var buffer = EditBuffer()
        for step in 0..<80 {
            let lower = Int.random(in: 0...buffer.characters.count, using: &random)
            let upper = min(buffer.characters.count, lower + Int.random(in: 0...4, using: &random))
            buffer.replace(lower..<upper, with: pieces[Int.random(in: 0..<pieces.count, using: &random)])
            buffer.moveCursor(to: Int.random(in: 0...buffer.characters.count, using: &random))
            var scene = Scene(prompt: "> ", continuationPrompt: "… ", buffer: buffer)
            let size = buffer.text.utf8.count
            scene.spans = [StyledSpan(Int.random(in: 0...size, using: &random)..<size, .keyword)]
            if Bool.random(using: &random) { scene.suggestion = "ghost text" }
            if Bool.random(using: &random) { scene.below = ["one", "two two two"] }
            let before = screen.scrolledOff.count
            screen.apply(renderer.render(scene))
            var fresh = Screen(columns: columns, rows: rows)
            var other = TerminalRenderer(columns: columns, rows: rows, palette: .standard)
            other.scroll = renderer.scroll
            fresh.apply(other.render(scene))
            let height = fresh.lines.count
            let top = screen.row - fresh.row
            guard top >= 0, top + height <= rows else {
                Issue.record("step \(step): the frame is out of place")
                return
            }
            guard Array(screen.lines.dropFirst(top)) == fresh.lines else {
                Issue.record("step \(step): \(screen.lines) instead of \(fresh.lines)")
                return
            }
            #expect(screen.column == fresh.column, "step \(step)")
            #expect(screen.styles[top..<rows].prefix(height) == fresh.styles.prefix(height)[...], "step \(step)")
            #expect(screen.unknown == [])
            #expect(screen.scrolledOff.count - before <= rows)
        }
    }
}
