import TestSupport
import Testing

@testable import LineEditor

@Suite("Line editor")
struct LineEditorTests {
    @Test("A line is typed, corrected and submitted")
    func line() {
        let typist = Typist()
        typist.type("prnt(1)\u{1}\u{6}\u{6}i\u{5}")
        #expect(typist.screen.lines == ["> print(1)"])
        #expect(typist.screen.column == 10)
        typist.type("\r")
        #expect(typist.takeEvents() == [.submitted("print(1)")])
        #expect((typist.screen.row, typist.screen.column) == (1, 0))
        #expect(!typist.editor.isActive)
        typist.begin()
        #expect(typist.screen.lines == ["> print(1)", ">"])
    }

    @Test("A block is indented, dedented and run when it's complete")
    func block() {
        let typist = Typist()
        typist.type("do\rdo\rx\rend\rend")
        #expect(typist.screen.lines == ["> do", "…   do", "…     x", "…   end", "… end"])
        typist.type("\r")
        #expect(typist.takeEvents() == [.submitted("do\n  do\n    x\n  end\nend")])
    }

    @Test("A recalled block runs by Enter, or is changed in the middle")
    func recalledBlock() {
        let typist = Typist(history: ["do\n  x\nend"])
        typist.type("\u{1B}[A")
        #expect(typist.screen.lines == ["> do", "…   x", "… end"])
        #expect((typist.screen.row, typist.screen.column) == (0, 4))
        typist.type("\r")
        #expect(typist.takeEvents() == [.submitted("do\n  x\nend")])
        typist.begin()
        typist.type("\u{1B}[A\u{1B}[B\u{1B}[F\u{7F}z\ry")
        #expect(typist.editor.buffer.text == "do\n  z\n  y\nend")
        typist.type("\u{1B}>\r")
        #expect(typist.takeEvents() == [.submitted("do\n  z\n  y\nend")])
    }

    @Test("Up looks for what begins like the text before the cursor, Down comes back to it")
    func prefixHistory() {
        let typist = Typist(history: ["print(1)", "x = 1", "print(2)", "y"])
        typist.type("pr\u{1B}[A")
        #expect(typist.editor.buffer.text == "print(2)")
        typist.type("\u{1B}[A")
        #expect(typist.editor.buffer.text == "print(1)")
        typist.type("\u{1B}[A")
        #expect(typist.editor.buffer.text == "print(1)")
        typist.type("\u{1B}[B\u{1B}[B")
        #expect(typist.editor.buffer.text == "pr")
        typist.type("\u{15}\u{10}\u{10}")
        #expect(typist.editor.buffer.text == "print(2)")
    }

    @Test("A search goes older and newer, is taken or left")
    func search() {
        let typist = Typist(history: ["alpha one", "beta", "Alpha two"])
        typist.type("typed\u{12}al")
        #expect(typist.screen.lines == ["> Alpha two", "search: al"])
        #expect(typist.screen.column == 2)
        typist.type("\u{12}")
        #expect(typist.screen.lines == ["> alpha one", "search: al"])
        typist.type("\u{12}")
        #expect(typist.screen.lines == ["> alpha one", "search: al  (not found)"])
        typist.type("\u{13}")
        #expect(typist.screen.lines == ["> Alpha two", "search: al"])
        typist.type("\u{7}")
        #expect(typist.screen.lines == ["> typed"])
        typist.type("\u{12}al\u{12}\u{5}!")
        #expect(typist.editor.buffer.text == "alpha one!")
        typist.type("\u{15}\u{12}\u{12}")
        #expect(typist.screen.lines == ["> Alpha two", "search: al"])
        typist.type("\r")
        #expect(typist.takeEvents() == [.submitted("Alpha two")])
    }

    @Test("A suggestion is shown behind the text, taken whole or by the word")
    func suggestion() {
        let typist = Typist(history: ["print(items, 1)"])
        typist.type("pr")
        #expect(typist.screen.lines == ["> print(items, 1)"])
        #expect(typist.screen.column == 4)
        typist.type("\u{1B}f")
        #expect(typist.editor.buffer.text == "print")
        typist.type("\u{1B}[C")
        #expect(typist.editor.buffer.text == "print(items, 1)")
        typist.type("\u{1F}\u{1F}")
        #expect(typist.editor.buffer.text == "pr")
        typist.type("\r")
        #expect(typist.screen.lines.first == "> pr")
        let plain = Typist(history: ["print(items, 1)"], palette: .none)
        plain.type("pr")
        #expect(plain.screen.lines == ["> pr"])
    }

    @Test("Tab completes what is common, then goes through the menu")
    func completion() {
        let typist = Typist()
        typist.type("it\t")
        #expect(typist.editor.buffer.text == "items(")
        typist.type("\u{15}p\t")
        #expect(
            typist.screen.lines == [
                "> p", "  pairs   function  (…)", "  print   function  (…)", "  printf  function  (…)",
            ])
        typist.type("r")
        #expect(typist.screen.lines == ["> pr", "  print   function  (…)", "  printf  function  (…)"])
        typist.type("\t")
        #expect(typist.screen.lines == ["> print", "▸ print   function  (…)", "  printf  function  (…)"])
        typist.type("\t")
        #expect(typist.screen.lines[0] == "> printf")
        typist.type("\u{1B}[Z")
        #expect(typist.screen.lines[0] == "> print")
        typist.type("\r")
        #expect(typist.screen.lines == ["> print("])
        typist.type("\u{1F}")
        #expect(typist.screen.lines == ["> pr"])
        typist.type("\t\t\t")
        #expect(typist.editor.buffer.text == "printf")
        typist.see(typist.editor.feed([0x1B]))
        #expect(typist.editor.isWaiting)
        typist.see(typist.editor.flush())
        #expect(typist.screen.lines == ["> print"])
        #expect(typist.takeEvents() == [])
    }

    @Test("Tab indents where only blanks stand, Backspace takes it back")
    func indentation() {
        let typist = Typist()
        typist.type("do\r\tx")
        #expect(typist.editor.buffer.text == "do\n    x")
        typist.type("\u{7F}\u{7F}")
        #expect(typist.editor.buffer.text == "do\n  ")
        typist.type("\u{7F}y\u{1B}[Z")
        #expect(typist.editor.buffer.text == "do\ny")
    }

    @Test("A pasted block is one entry, its prompts are taken off")
    func paste() {
        let typist = Typist()
        let block = (["do"] + (1...498).map { "    x\($0)" } + ["end"]).joined(separator: "\r")
        typist.paste(block + "\r")
        #expect(typist.takeEvents() == [])
        #expect(typist.editor.buffer.text == block.replacing("\r", with: "\n"))
        typist.type("\u{1F}")
        #expect(typist.editor.buffer.isEmpty)
        typist.paste("> do\n…   x\n…\n… end\nresult\n")
        typist.type("\r")
        #expect(typist.takeEvents() == [.submitted("do\n  x\n\nend")])
    }

    @Test("Prompts of other programs are taken off a paste only if the options name them")
    func foreignPrompts() {
        let typist = Typist()
        for text in ["lua> x = 1", "do\n... y\n... end", ">> z"] {
            typist.see(typist.editor.begin(prompt: "shop: ", continuation: ""))
            typist.paste(text)
            #expect(typist.editor.buffer.text == text)
        }
        typist.see(typist.editor.begin(prompt: "shop: ", continuation: ""))
        typist.paste("> quoted\nand not")
        #expect(typist.editor.buffer.text == "> quoted\nand not")

        typist.editor.options.pastedPrompts = ["lua> "]
        typist.editor.options.pastedContinuations = ["... "]
        typist.see(typist.editor.begin(prompt: "shop: ", continuation: ""))
        typist.paste("lua> do\n...   y\n... end\nresult")
        #expect(typist.editor.buffer.text == "do\n  y\nend")
    }

    @Test("Lines that come at once run one after the other and aren't indented again")
    func burst() {
        let typist = Typist()
        typist.send("do\r  x\rend\ry\r\u{4}")
        #expect(typist.takeEvents() == [.submitted("do\n  x\nend")])
        typist.begin()
        #expect(typist.takeEvents() == [.submitted("y")])
        typist.begin()
        #expect(typist.takeEvents() == [.endOfInput])
    }

    /// The kernel gives what was typed behind Control-Z to the shell, or drops it; it never becomes an entry.
    @Test("What was typed behind Control-Z is dropped, a second one included")
    func behindControlZ() {
        for behind in ["\u{1A}", "rm\r", "\u{1A}print(1)\r\u{1A}", "\u{1B}[200~paste"] {
            let typist = Typist()
            typist.send("before\u{1A}" + behind)
            #expect(typist.takeEvents() == [.suspend], "\(behind.debugDescription)")
            typist.see(typist.editor.resumeDisplay())
            #expect(typist.editor.buffer.text == "before")
            typist.send("!\r")
            #expect(typist.takeEvents() == [.submitted("before!")])
        }
        // Behind an entry: when the entry is done.
        let typist = Typist()
        typist.send("one\r\u{1A}two\r")
        #expect(typist.takeEvents() == [.submitted("one")])
        typist.begin()
        #expect(typist.takeEvents() == [.suspend])
        #expect(typist.editor.buffer.text.isEmpty)
    }

    @Test("Control-C clears, Control-D ends on an empty line, Control-Z leaves the line as it is")
    func signals() {
        let typist = Typist()
        typist.type("do\rx\u{3}")
        #expect(typist.takeEvents() == [.interrupt])
        #expect(typist.screen.lines == ["> do", "…   x^C", ">"])
        typist.type("abc\u{1}\u{4}")
        #expect(typist.editor.buffer.text == "bc")
        typist.type("\u{1A}")
        #expect(typist.takeEvents() == [.suspend])
        #expect(typist.screen.lines.last == "> bc^Z")
        typist.see(typist.editor.interruptedBy(output: Array("Stopped\r\n".utf8)))
        typist.see(typist.editor.resumeDisplay())
        #expect(typist.screen.lines.suffix(2) == ["Stopped", "> bc"])
        #expect(typist.screen.column == 2)
        typist.type("\u{15}\u{B}\u{4}")
        #expect(typist.takeEvents() == [.endOfInput])
    }

    @Test("An output that arrives while typing stands above the line")
    func interruption() {
        let typist = Typist()
        typist.type("do\rfoo\u{2}")
        typist.see(typist.editor.interruptedBy(output: Array("timer\nfired".utf8)))
        #expect(typist.screen.lines == ["timer", "fired", "> do", "…   foo"])
        #expect((typist.screen.row, typist.screen.column) == (3, 6))
        typist.type("!")
        #expect(typist.screen.lines.last == "…   fo!o")
    }

    @Test("A prompt begins on a line of its own")
    func unfinishedLine() {
        let typist = Typist()
        typist.type("x\r")
        typist.screen.apply(Array("no newline".utf8))
        typist.begin()
        #expect(typist.screen.lines == ["> x", "no newline⏎", ">"])
    }

    @Test("The screen is cleared with the line on top")
    func clear() {
        let typist = Typist()
        typist.type("a\r")
        typist.begin()
        typist.type("bc\u{C}")
        #expect(typist.screen.lines == ["> bc"])
        #expect((typist.screen.row, typist.screen.column) == (0, 4))
    }

    @Test("Brackets are matched outside of strings")
    func brackets() {
        let typist = Typist()
        typist.type("f(a, \")\" )")
        #expect(typist.screen.styles[0][3] == TerminalPalette.standard[.matchingBracket])
        #expect(typist.screen.styles[0][11] == TerminalPalette.standard[.matchingBracket])
        #expect(typist.screen.styles[0][8] == TerminalPalette.standard[.string])
        typist.type(")")
        #expect(typist.screen.styles[0][12] == TerminalPalette.standard[.unmatchedBracket])
        typist.type("\r")
        #expect(typist.screen.styles[0][12] == "")
    }

    @Test("Focus and reports go to the host")
    func reports() {
        let typist = Typist()
        typist.send("\u{1B}[I\u{1B}[O\u{1B}[?62;4c")
        #expect(
            typist.takeEvents() == [.focus(true), .focus(false), .report(TerminalReport(.deviceAttributes("?62;4")))])
        #expect(typist.screen.lines == [">"])
    }

    @Test("Alt-Enter begins a line anywhere, Control-Enter runs what there is")
    func enterKeys() {
        let typist = Typist()
        typist.type("a\u{1B}\rb")
        #expect(typist.editor.buffer.text == "a\nb")
        typist.type("\u{15}do\u{1B}[13;5u")
        #expect(typist.takeEvents() == [.submitted("a\ndo")])
    }

    @Test("A new size draws the line anew")
    func resize() {
        let typist = Typist(columns: 20, rows: 6)
        typist.type("abcdefghijklmnopqrstuvwxyz")
        typist.screen = Screen(columns: 30, rows: 6)
        typist.see(typist.editor.resize(columns: 30, rows: 6))
        #expect(typist.screen.lines == ["> abcdefghijklmnopqrstuvwxyz"])
        #expect(typist.editor.resize(columns: 30, rows: 6) == [])
    }

    @Test("No bytes trap, and the editor can still be left", arguments: 0..<60)
    func fuzz(seed: Int) {
        var random = RandomSource(seed: UInt64(seed))
        let typist = Typist(columns: 17, rows: 5, history: ["do\n x\nend", "print(1)", "漢字"])
        let pieces = [
            "\u{1B}", "[A", "\u{1B}[A", "\u{1B}[B", "\t", "\r", "do", "end ", "p", "漢", "\u{301}", "\u{12}", "\u{13}",
            "\u{7}", "\u{B}", "\u{19}", "\u{1B}y", "\u{1F}", "\u{1B}_", "\u{14}", "\u{17}", "\u{15}",
            "\u{1B}[200~> a\nb\u{1B}[201~",
            "\u{1B}[Z", "\u{C}", "\u{1B}f", "\u{1B}b", "(", "]", "\u{4}", "\u{3}", "\u{1A}", "👩‍👧", "\u{7F}", "\u{1B}t",
            "\u{1}", "\u{5}",
        ]
        for _ in 0..<300 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0: typist.see(typist.editor.flush())
            case 1:
                let size = (Int.random(in: 2...30, using: &random), Int.random(in: 1...8, using: &random))
                typist.screen = Screen(columns: size.0, rows: size.1)
                typist.see(typist.editor.resize(columns: size.0, rows: size.1))
            case 2: typist.see(typist.editor.interruptedBy(output: Array("out\n".utf8)))
            case 3: typist.see(typist.editor.feed((0..<4).map { _ in UInt8.random(in: 0...255, using: &random) }))
            default: typist.send(pieces[Int.random(in: 0..<pieces.count, using: &random)])
            }
            if typist.editor.isDisplaySuspended { typist.see(typist.editor.resumeDisplay()) }
            if !typist.editor.isActive { typist.begin() }
        }
        typist.paste("")
        typist.see(typist.editor.flush())
        for _ in 0..<3 where typist.editor.isActive { typist.type("\u{3}") }
        typist.type("\u{4}")
        #expect(!typist.editor.isActive)
    }
}
