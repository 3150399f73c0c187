import Testing
import Wording

/// Texts of many combining marks: Swift's own comparison of two of these takes the square of their number, which is hours.
@Suite("Texts compared by bytes")
struct ExactTextsTests {
    private static let marks = "e" + String(repeating: "\u{301}\u{316}", count: 2_000_000)

    @Test("two spellings of a letter are two texts")
    func spellings() {
        let (one, two) = ("\u{E9}", "e\u{301}")
        #expect(one != two)
        #expect(Substring(one) != Substring(two))
        #expect(Optional(one) != Optional(two))
        let (first, part) = ([one].first, [Substring(one)].first)
        #expect(first != two && part != Substring(two) && first == one && part == Substring(one))
        #expect(Character(one) != Character(two))
        #expect(!two.hasPrefix(one) && !two.hasSuffix(one))
        #expect(![one].contains(two) && [one].firstIndex(of: two) == nil)
        #expect(NameSet([one, two]).count == 2)
        #expect([one, two, one].unique() == [one, two])
        // By scalars: `e` is before `é`.
        #expect([one, two].sorted() == [two, one])
        switch two {
        case one: Issue.record("a case of another spelling")
        default: break
        }
    }

    @Test("a text of millions of marks is compared, searched, divided and looked up in one pass")
    func manyMarks() {
        let marks = Self.marks
        let (other, rest) = (marks + "b", marks.dropFirst())
        #expect(marks != other && marks < other && marks != "mean" && rest.isEmpty)
        #expect(!marks.hasPrefix("each") && marks.hasSuffix("\u{316}") && other.hasPrefix(marks))
        #expect(!marks.contains(",") && marks.first != "e" && marks.firstIndex(of: "=") == nil)
        #expect(marks.split(separator: ",").count == 1)
        #expect(Optional(marks) != "each")
        let optional: String? = marks
        let (isEach, isOther) = (optional == "each", optional != "each")
        #expect(!isEach && isOther)
        #expect(!["each", "e"].contains(marks) && !Set(["each", "e"]).contains(marks))
        #expect(["each": 1][exactly: marks] == nil)
        var names: NameSet = [marks, other, marks]
        #expect(names.count == 2 && names.remove(other) == other)
        var table: NameTable<Int> = [marks: 1]
        table[other, default: 5] += 1
        #expect(table[marks] == 1 && table[other] == 6 && table.count == 2)
        #expect([other, marks].sorted() == [marks, other])
        #expect(NearestNames.nearest(to: marks, among: ["each", other]).isEmpty)
        switch marks {
        case "each", "e": Issue.record("another text's case")
        default: break
        }
    }

    @Test("a text that only looks like a name of the host is none")
    func hostNames() {
        enum Unit: String { case kelvin = "K", accented = "\u{E9}" }
        for (name, text) in [("K", "\u{212A}"), ("\u{E9}", "e\u{301}")] {
            #expect([name: 1][exactly: name] == 1 && [name: 1][exactly: text] == nil)
            #expect(Set([name]).contains(name) && !Set([name]).contains(text))
            #expect(Unit(exactly: name) != nil && Unit(exactly: text) == nil)
            #expect(NameTable(dictionaryLiteral: (name, 1)) != [text: 1])
        }
        var table: NameTable<Int> = ["\u{E9}": 1, "e\u{301}": 2]
        #expect(table.removeValue(forKey: "e\u{301}") == 2 && table == ["\u{E9}": 1])
    }

    @Test("bytes of a long text are taken at once, and others are escaped", .timeLimit(.minutes(1)))
    func escaping() {
        let text = [UInt8](repeating: 0x61, count: 64 << 20)
        #expect(String(escaping: text).utf8.count == text.count)
        #expect(String(escaping: [0x61, 0xFF, 0xC3, 0xA9, 0x0A, 0xC3]) == "a\\xff\u{E9}\n\\xc3")
    }

    @Test("a text that is no case of an enumeration is none at any length")
    func cases() {
        enum Word: String { case each, every }
        #expect(Word(exactly: "each") == .each)
        #expect(Word(exactly: Self.marks) == nil)
    }
}
