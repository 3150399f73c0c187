import LineEditor
import Testing

/// Texts with the cursor shown as a bar: "ab|c".
private func buffer(_ marked: String) -> EditBuffer {
    let characters = Array(marked)
    let cursor = characters.firstIndex(of: "|") ?? characters.count
    var buffer = EditBuffer(String(characters.filter { $0 != "|" }))
    buffer.moveCursor(to: cursor)
    return buffer
}

private func marked(_ buffer: EditBuffer) -> String {
    String(buffer.characters[..<buffer.cursor]) + "|" + String(buffer.characters[buffer.cursor...])
}

@Suite("Edit buffer")
struct EditBufferTests {
    @Test(
        "Commands",
        arguments: [
            ("ab|c", [.moveLeft], "a|bc"), ("|abc", [.moveLeft], "|abc"), ("abc|", [.moveRight], "abc|"),
            ("a|b", [.moveRight], "ab|"), ("foo bar|", [.moveWordLeft], "foo |bar"),
            ("foo.bar(|", [.moveWordLeft], "foo.|bar("), ("|foo_1 bar", [.moveWordRight], "foo_1| bar"),
            ("a\nbc|d\ne", [.moveToLineStart], "a\n|bcd\ne"), ("a\nbc|d\ne", [.moveToLineEnd], "a\nbcd|\ne"),
            ("a\nb|c", [.moveToStart], "|a\nbc"), ("a|\nbc", [.moveToEnd], "a\nbc|"),
            ("ab|c", [.deleteBackward], "a|c"), ("|abc", [.deleteBackward], "|abc"), ("a|bc", [.deleteForward], "a|c"),
            ("abc|", [.deleteForward], "abc|"), ("a\n|b", [.deleteBackward], "a|b"),
            ("foo bar|", [.killWordBackward], "foo |"), ("foo b.r|", [.killBlankBackward], "foo |"),
            ("foo  |bar", [.killBlankBackward], "|bar"), ("fo|o bar", [.killWordForward], "fo| bar"),
            ("a|bc\nd", [.killToLineEnd], "a|\nd"), ("a|\nd", [.killToLineEnd], "a|d"),
            ("x\nab|c", [.killToLineStart], "x\n|c"), ("ab|c", [.killAll], "|"),
            ("foo bar|", [.killWordBackward, .yank], "foo bar|"),
            ("foo bar baz|", [.killWordBackward, .killWordBackward, .yank], "foo bar baz|"),
            ("foo| bar baz", [.killWordForward, .killWordForward, .moveToStart, .yank], " bar baz|foo"),
            ("a b|", [.killWordBackward, .moveLeft, .killToLineStart, .yank, .yankPop], "b| "),
            ("a|b", [.yankPop], "a|b"), ("ab|c", [.transposeCharacters], "acb|"),
            ("abc|", [.transposeCharacters], "acb|"),
            ("|abc", [.transposeCharacters], "|abc"), ("foo b|ar", [.transposeWords], "bar foo|"),
            ("foo |bar", [.uppercaseWord], "foo BAR|"), ("|FOO bar", [.lowercaseWord], "foo| bar"),
            ("| straße", [.capitalizeWord], " Straße|"),
            ("foo bar|", [.killWordBackward, .undo], "foo bar|"),
            ("foo bar|", [.killWordBackward, .undo, .redo], "foo |"), ("x|", [.undo], "x|"),
        ] as [(String, [EditCommand], String)])
    func commands(_ before: String, _ commands: [EditCommand], _ after: String) {
        var buffer = buffer(before)
        for command in commands { buffer.perform(command) }
        #expect(marked(buffer) == after)
    }

    @Test("Every command does no harm to an empty buffer", arguments: EditCommand.allCases)
    func empty(_ command: EditCommand) {
        var buffer = EditBuffer()
        #expect(buffer.perform(command) == false)
        #expect(buffer.isEmpty)
    }

    @Test(
        "Characters stay whole",
        arguments: [
            ("e|", "\u{301}", "e\u{301}|"), ("👩|", "\u{200D}👧", "👩‍👧|"), ("🇩|", "🇪", "🇩🇪|"),
            ("a|", "\r\nb\rc", "a\nb\nc|"), ("|x", "日本", "日本|x"), ("\r|", "\n", "\n\n|"),
        ])
    func joining(_ before: String, _ inserted: String, _ after: String) {
        var buffer = EditBuffer(String(before.filter { $0 != "|" }))
        buffer.moveCursor(to: Array(before).firstIndex(of: "|") ?? 0)
        buffer.insert(inserted)
        #expect(marked(buffer) == after)
        #expect(buffer.characters == Array(buffer.text))
    }

    @Test("A mark joins what comes before it when what was between them goes")
    func joiningByDeletion() {
        var buffer = EditBuffer("a\n")
        buffer.insert("\u{301}b")
        #expect(buffer.characters.count == 4)
        buffer.replace(1..<2, with: "")
        #expect(buffer.characters == ["a\u{301}", "b"])
        #expect(buffer.undo() == true)
        #expect(buffer.characters.count == 4)
    }

    @Test("The characters are those of the text after any change, and undo takes all back", arguments: 0..<60)
    func random(seed: Int) {
        var random = RandomSource(seed: UInt64(seed))
        let pieces = [
            "a", "e", "\u{301}", "\u{200D}", "👩", "👧", "🇩", "🇪", "\n", "\r\n", "漢", " ", "\u{FE0F}", "한", "ᄒ", "ᅡ", "ᆫ",
        ]
        var buffer = EditBuffer("start")
        for _ in 0..<60 {
            let lower = Int.random(in: 0...buffer.characters.count, using: &random)
            let upper = min(buffer.characters.count, lower + Int.random(in: 0...2, using: &random))
            let text = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }
            if Int.random(in: 0..<6, using: &random) == 0 {
                let before = buffer.text
                if buffer.undo() {
                    buffer.redo()
                    #expect(buffer.text == before)
                }
            }
            buffer.replace(lower..<upper, with: text.joined())
            #expect(buffer.characters == Array(buffer.text))
            #expect((0...buffer.characters.count).contains(buffer.cursor))
        }
        while buffer.undo() {}
        #expect(buffer.text == "start")
    }

    @Test("Typing is undone word by word, a paste at once")
    func undoGroups() {
        var buffer = EditBuffer()
        for character in "foo bar" { buffer.insert(String(character)) }
        buffer.paste(" x\ny z")
        #expect(buffer.text == "foo bar x\ny z")
        var steps: [String] = []
        while buffer.undo() { steps.append(buffer.text) }
        #expect(steps == ["foo bar", "foo ", ""])
        while buffer.redo() {}
        #expect(buffer.text == "foo bar x\ny z")
        buffer.undo()
        buffer.insert("!")
        #expect(buffer.redo() == false)
    }

    @Test("Up and down keep the column over short lines and wide characters")
    func vertical() {
        var buffer = buffer("abcdef|\nx\n日本語漢字\nabcdefgh")
        #expect(buffer.moveDown() == true)
        #expect(marked(buffer) == "abcdef\nx|\n日本語漢字\nabcdefgh")
        #expect(buffer.moveDown() == true)
        #expect(marked(buffer) == "abcdef\nx\n日本語|漢字\nabcdefgh")
        #expect(buffer.moveDown() == true)
        #expect(marked(buffer) == "abcdef\nx\n日本語漢字\nabcdef|gh")
        #expect(buffer.moveDown() == false)
        for _ in 0..<3 { #expect(buffer.moveUp() == true) }
        #expect(marked(buffer) == "abcdef|\nx\n日本語漢字\nabcdefgh")
        #expect(buffer.moveUp() == false)
    }

    @Test("Offsets in bytes")
    func offsets() {
        let buffer = buffer("aé漢😀|x")
        #expect(buffer.utf8Cursor == 10)
        #expect([0, 1, 2, 3, 6, 9, 10, 11, 99].map { buffer.position(ofUTF8: $0) } == [0, 1, 1, 2, 3, 3, 4, 5, 5])
    }

    @Test("Indentation moves the cursor with its text")
    func indentation() {
        var buffer = buffer("a\n    en|d")
        buffer.setIndentation(ofLineAt: buffer.cursor, to: 2)
        #expect(marked(buffer) == "a\n  en|d")
        buffer.setIndentation(ofLineAt: buffer.cursor, to: 5)
        #expect(marked(buffer) == "a\n     en|d")
        buffer.moveCursor(to: 3)
        buffer.setIndentation(ofLineAt: buffer.cursor, to: 0)
        #expect(marked(buffer) == "a\n|end")
    }
}
