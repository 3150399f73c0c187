import LineEditor
import Testing

@Suite("Key decoder")
struct KeyDecoderTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let bytes: String
        let keys: [EditorKey]
        var testDescription: String { bytes.debugDescription }

        init(_ bytes: String, _ keys: EditorKey...) {
            self.bytes = bytes
            self.keys = keys
        }
    }

    static let cases: [Case] = [
        Case("a", .press(.character("a"))), Case("A ", .press(.character("A")), .press(.character(" "))),
        Case("é", .press(.character("é"))), Case("漢", .press(.character("漢"))), Case("😀", .press(.character("😀"))),
        Case("\u{1}", .control("a")), Case("\u{1A}", .control("z")), Case("\u{1F}", .control("_")),
        Case("\u{0}", .control(" ")), Case("\r", .press(.enter)), Case("\n", .press(.enter)),
        Case("\t", .press(.tab)), Case("\u{7F}", .press(.backspace)), Case("\u{8}", .press(.backspace)),
        // Alt
        Case("\u{1B}b", .alt("b")), Case("\u{1B}\u{7F}", .press(.backspace, .alt)),
        Case("\u{1B}\r", .press(.enter, .alt)), Case("\u{1B}é", .alt("é")),
        Case("\u{1B}\u{1}", .press(.character("a"), [.alt, .control])),
        // xterm and tmux
        Case("\u{1B}[A", .press(.up)), Case("\u{1B}OA", .press(.up)), Case("\u{1B}[D", .press(.left)),
        Case("\u{1B}[1;5C", .press(.right, .control)), Case("\u{1B}[1;3D", .press(.left, .alt)),
        Case("\u{1B}[1;2H", .press(.home, .shift)), Case("\u{1B}[F", .press(.end)), Case("\u{1B}OF", .press(.end)),
        Case("\u{1B}[3~", .press(.delete)), Case("\u{1B}[3;5~", .press(.delete, .control)),
        Case("\u{1B}[5~", .press(.pageUp)), Case("\u{1B}[1~", .press(.home)), Case("\u{1B}[4~", .press(.end)),
        Case("\u{1B}[Z", .press(.tab, .shift)), Case("\u{1B}OP", .press(.function(1))),
        Case("\u{1B}[15~", .press(.function(5))), Case("\u{1B}[24~", .press(.function(12))),
        Case("\u{1B}[1;5P", .press(.function(1), .control)),
        Case("\u{1B}[27;5;13~", .press(.enter, .control)), Case("\u{1B}OM", .press(.enter)),
        // rxvt
        Case("\u{1B}[7~", .press(.home)), Case("\u{1B}[8~", .press(.end)), Case("\u{1B}Oc", .press(.right, .control)),
        Case("\u{1B}[c", .press(.right, .shift)), Case("\u{1B}[a", .press(.up, .shift)),
        Case("\u{1B}[3^", .press(.delete, .control)), Case("\u{1B}[3$", .press(.delete, .shift)),
        Case("\u{1B}[7@", .press(.home, [.control, .shift])), Case("\u{1B}\u{1B}[D", .press(.left, .alt)),
        // The Linux console
        Case("\u{1B}[[A", .press(.function(1))), Case("\u{1B}[[E", .press(.function(5))),
        // kitty
        Case("\u{1B}[97u", .press(.character("a"))), Case("\u{1B}[99;5u", .control("c")),
        Case("\u{1B}[27u", .press(.escape)), Case("\u{1B}[13;5u", .press(.enter, .control)),
        Case("\u{1B}[9;2u", .press(.tab, .shift)), Case("\u{1B}[127;3u", .press(.backspace, .alt)),
        Case("\u{1B}[97:65;2u", .press(.character("A"))), Case("\u{1B}[97;2u", .press(.character("A"))),
        Case("\u{1B}[98;3u", .alt("b")), Case("\u{1B}[97;1:3u"), Case("\u{1B}[97;1:2u", .press(.character("a"))),
        Case("\u{1B}[57441;2u"), Case("\u{1B}[97;;228u", .press(.character("ä"))),
        Case("\u{1B}[57399u", .press(.character("0"))), Case("\u{1B}[57417;5u", .press(.left, .control)),
        Case("\u{1B}[60:62;4u", .alt(">")), Case("\u{1B}[99;69u", .control("c")),
        // Paste, focus, reports
        Case("\u{1B}[200~a\u{1B}[Ab\r\u{1B}[201~c", .paste("a\u{1B}[Ab\r"), .press(.character("c"))),
        Case("\u{1B}[200~\u{1B}[201~", .paste("")), Case("\u{1B}[201~"),
        Case("\u{1B}[I", .focus(true)), Case("\u{1B}[O", .focus(false)),
        Case("\u{1B}[12;40R", .report(TerminalReport(.cursorPosition(row: 12, column: 40)))),
        Case("\u{1B}[?62;4c", .report(TerminalReport(.deviceAttributes("?62;4")))),
        Case("\u{1B}[?1u", .report(TerminalReport(.keyboardFlags(1)))),
        Case("\u{1B}[?2026;2$y", .report(TerminalReport(.controlSequence("?2026;2$y")))),
        Case(
            "\u{1B}]11;rgb:0/0/0\u{1B}\\x",
            .report(TerminalReport(.string(introducer: 0x5D, bytes: Array("11;rgb:0/0/0".utf8)))),
            .press(.character("x"))),
        Case(
            "\u{1B}_Gi=1;OK\u{1B}\\", .report(TerminalReport(.string(introducer: 0x5F, bytes: Array("Gi=1;OK".utf8))))),
        Case("\u{1B}[<0;3;4M", .report(TerminalReport(.controlSequence("<0;3;4M")))),
        Case("\u{1B}[M !!x", .press(.character("x"))),
    ]

    @Test("A sequence at once", arguments: cases)
    func whole(_ example: Case) {
        var decoder = KeyDecoder()
        #expect(decoder.decode(Array(example.bytes.utf8)) == example.keys)
        #expect(!decoder.isWaiting)
    }

    @Test("A sequence byte by byte", arguments: cases)
    func bytewise(_ example: Case) {
        var decoder = KeyDecoder()
        var keys: [EditorKey] = []
        for byte in example.bytes.utf8 { keys += decoder.decode([byte]) }
        #expect(keys == example.keys)
    }

    @Test(
        "What waits is a key after all",
        arguments: [
            ("\u{1B}", [EditorKey.press(.escape)]), ("\u{1B}[", [.alt("[")]), ("\u{1B}O", [.alt("O")]),
            ("\u{1B}\u{1B}", [.press(.escape), .press(.escape)]), ("\u{1B}]", [.alt("]")]), ("\u{1B}P", [.alt("P")]),
            ("\u{1B}[1;", []), ("\u{1B}]11;rgb", []),
        ])
    func flush(_ bytes: String, _ keys: [EditorKey]) {
        var decoder = KeyDecoder()
        #expect(decoder.decode(Array(bytes.utf8)) == [])
        #expect(decoder.isWaiting)
        #expect(decoder.flush() == keys)
        #expect(!decoder.isWaiting)
        #expect(decoder.decode([0x61]) == [.press(.character("a"))])
    }

    @Test("A paste has no time limit")
    func pasteWaits() {
        var decoder = KeyDecoder()
        #expect(decoder.decode(Array("\u{1B}[200~ab\u{1B}".utf8)) == [])
        #expect(!decoder.isWaiting)
        #expect(decoder.flush() == [])
        #expect(decoder.decode(Array("[201~".utf8)) == [.paste("ab")])
    }

    @Test("A paste whose end was lost is ended by Control-C")
    func lostPaste() {
        var decoder = KeyDecoder()
        #expect(decoder.decode(Array("\u{1B}[200~ab\u{3}c".utf8)) == [])
        #expect(decoder.decode([0x03]) == [.paste("ab\u{3}c"), .control("c")])
        #expect(decoder.decode([0x61]) == [.press(.character("a"))])
    }

    @Test("Control-C ends a paste whose end mark was cut, too")
    func cutPaste() {
        var decoder = KeyDecoder()
        #expect(decoder.decode(Array("\u{1B}[200~ab\u{1B}[20".utf8)) == [])
        #expect(decoder.decode([0x03, 0x03]) == [.paste("ab"), .control("c"), .control("c")])
        #expect(decoder.decode([0x61]) == [.press(.character("a"))])
    }

    @Test("The bytes of a character may come late", arguments: ["é", "漢", "👍"])
    func late(_ character: Character) {
        for alt in [false, true] {
            var decoder = KeyDecoder()
            var keys = alt ? decoder.decode([0x1B]) : []
            for byte in String(character).utf8.dropLast() {
                keys += decoder.decode([byte])
                #expect(!decoder.isWaiting)
                keys += decoder.flush()
            }
            keys += decoder.decode([String(character).utf8.last ?? 0])
            #expect(keys == [.press(.character(character), alt ? .alt : [])])
        }
        var decoder = KeyDecoder()
        _ = decoder.decode([0xE6, 0xBC])
        #expect(decoder.decode([0x61]) == [.press(.character("\u{FFFD}")), .press(.character("a"))])
    }

    @Test("A carriage return and a line feed are one line end in a paste without marks, wherever it is split")
    func lineEnds() {
        let bytes = Array("a\r\nb\r\n".utf8)
        let wanted: [EditorKey] = [
            .press(.character("a")), .press(.enter), .press(.character("b")), .press(.enter),
        ]
        for split in 2..<bytes.count {
            var decoder = KeyDecoder()
            #expect(decoder.decode(bytes[..<split]) + decoder.decode(bytes[split...]) == wanted, "\(split)")
        }
        // Typed, they are two keys.
        var decoder = KeyDecoder()
        #expect(decoder.decode([0x0D]) + decoder.decode([0x0A]) == [.press(.enter), .press(.enter)])
    }

    @Test(
        "Bytes that are not UTF-8 become one replacement character each",
        arguments: [
            ([0xFF] as [UInt8], 1), ([0xC3, 0x28], 2), ([0x80, 0x80], 2), ([0xED, 0xA0, 0x80], 1),
            ([0xE2, 0x82, 0x41], 2),
        ])
    func invalid(_ bytes: [UInt8], _ count: Int) {
        var decoder = KeyDecoder()
        let keys = decoder.decode(bytes)
        #expect(keys.count == count)
        #expect(keys.first == .press(.character("\u{FFFD}")))
    }

    @Test("No bytes trap, and none stay for ever", arguments: 0..<40)
    func fuzz(seed: Int) {
        var random = RandomSource(seed: UInt64(seed))
        var decoder = KeyDecoder()
        let bytes: [UInt8] = [0x1B, 0x5B, 0x4F, 0x3B, 0x31, 0x32, 0x7E, 0x75, 0x3A, 0x3F, 0x24, 0x4D, 0x5D, 0x07]
        for _ in 0..<400 {
            let count = Int.random(in: 1...9, using: &random)
            let chunk = (0..<count).map { _ in
                Bool.random(using: &random)
                    ? UInt8.random(in: 0...255, using: &random) : bytes[Int.random(in: 0..<bytes.count, using: &random)]
            }
            _ = decoder.decode(chunk)
            if Int.random(in: 0..<5, using: &random) == 0 { _ = decoder.flush() }
        }
        _ = decoder.decode(Array("\u{1B}[201~".utf8))
        _ = decoder.flush()
        #expect(decoder.decode([0x61]).last == .press(.character("a")))
    }
}
