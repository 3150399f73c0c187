import Foundation
import TestSupport
import Testing

@testable import PredicateFormat

/// Regular expressions held against ICU's own, by Foundation.
@Suite("Regular expressions against ICU")
struct PatternJudgeTests {
    private func icu(_ pattern: String, ignoringCase: Bool) -> NSRegularExpression? {
        try? NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: ignoringCase ? .caseInsensitive : [])
    }

    private func matches(_ judge: NSRegularExpression, _ text: String) -> Bool {
        judge.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
    }

    @Test("generated expressions match what they match there", arguments: 1...4 as ClosedRange<UInt64>)
    func generated(seed: UInt64) throws {
        var generator = PatternGenerator(seed: seed)
        var (matched, unmatched) = (0, 0)
        for _ in 0..<200 {
            let pattern = generator.expression()
            let ignoresCase = generator.number(below: 3) == 0
            let texts = (0..<20).map { _ in generator.text() }
            guard let judge = icu(pattern, ignoringCase: ignoresCase),
                let ours = try? PredicatePattern(pattern, ignoresCase ? .caseInsensitive : [])
            else { continue }
            let watchdog = Watchdog(pattern, seconds: 60)
            defer { watchdog.done() }
            for text in texts {
                let expected = matches(judge, text)
                let verdict = PredicateFolding.withBytes(text, ours.matches(_:))
                #expect(verdict == expected, "\(pattern.debugDescription) \(ignoresCase) \(text.debugDescription)")
                if expected { matched += 1 } else { unmatched += 1 }
            }
        }
        #expect(matched > 100 && unmatched > 1000, "\(matched) matched, \(unmatched) did not")
    }

    @Test("sets take the characters that they take there", arguments: ["\\d", "\\w", "\\s", "\\v", ".", "[^\\w\\s]"])
    func sets(pattern: String) throws {
        let judge = try #require(icu(pattern, ignoringCase: false))
        let ours = try PredicatePattern(pattern, [])
        for value in UInt32(0)..<0x3400 {
            // The judge may know an older Unicode.
            guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age, age.major < 16 else { continue }
            let text = String(scalar)
            #expect(PredicateFolding.withBytes(text, ours.matches(_:)) == matches(judge, text), "\(value)")
        }
    }

    @Test("[c] takes the cases that they take there", arguments: ["[a-z]", "[A-Z]", "[^k]", "[σ-ω]", "[а-я]", "[ſK]"])
    func cases(pattern: String) throws {
        let judge = try #require(icu(pattern, ignoringCase: true))
        let ours = try PredicatePattern(pattern, .caseInsensitive)
        for value in UInt32(0)..<0x2200 {
            guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age, age.major < 16 else { continue }
            let text = String(scalar)
            #expect(PredicateFolding.withBytes(text, ours.matches(_:)) == matches(judge, text), "\(value)")
        }
    }

    /// What ICU said, where nobody can be asked: each expression with texts that match and texts that do not.
    static let verdicts: [(pattern: String, ignoresCase: Bool, yes: [String], no: [String])] = [
        (
            "[A-Za-z ,.]*[0-9]{4}[A-Za-z ,.]*", false, ["1984", "Born in 1984, Rome"],
            ["", "198", "19845", "Born 1984!"]
        ),
        (".*\\d{2}", false, ["42", "a42", "٣٣"], ["4", "42a", "²²", "42\n"]),
        ("\\w+", false, ["aé", "e\u{301}", "a_1", "日本"], ["", "a b", "²", "-"]),
        (".", false, ["a", "é", "😀", "\u{301}"], ["", "\n", "\r\n", "\u{2028}", "e\u{301}"]),
        ("a$", false, ["a"], ["a\n", "b", ""]),
        ("a$\\s", false, ["a\n", "a\r", "a\u{2028}"], ["a ", "a", "a\n\n"]),
        ("a$\\s\\s", false, ["a\r\n"], ["a\n\n", "a\r\r", "a \n"]),
        ("a\\Z\\n", false, ["a\n"], ["a", "a\n\n"]),
        ("a\\z", false, ["a"], ["a\n"]),
        (".*\\bart\\b.*", false, ["art", "an art.", "art é"], ["arts", "smart", "art\u{301}"]),
        ("é\\b.*", false, ["é", "é a"], ["éa", "é\u{301}"]),
        ("(?i)straße", false, ["straße", "STRAßE", "ſtraße"], ["strasze", "straxe"]),
        ("[k]", true, ["k", "K", "\u{212A}"], ["", "ck"]),
        ("[^k]", true, ["s", "é"], ["k", "K", "\u{212A}"]),
        ("\\p{Lu}", true, ["A", "a", "é", "ß"], ["1", "日"]),
        ("σ", true, ["σ", "Σ", "ς"], ["s"]),
        ("(?=.*a)(?=.*b).*", false, ["ab", "ba", "xbxa"], ["", "a", "b", "a\nb"]),
        ("(?!.*b)a.*", false, ["a", "ac"], ["ab", "b"]),
        ("a(?=b|c)[a-z]+(?!x).", false, ["abcd", "acz9"], ["ad9", "abx", "ab"]),
        ("(a|ab)(c|bcd)(d*)", false, ["abcd", "ac", "abcdd"], ["ab", "abd"]),
        ("(?:a|)+b", false, ["b", "ab", "aab"], ["", "a"]),
        ("[a-z&&[^b]]+", false, ["acd"], ["abc", ""]),
        ("[A-Z--[B]]+", false, ["ACD"], ["ABC"]),
        ("[\\]a]+", false, ["]", "a]"], ["[", ""]),
        ("(?:\\Qa.b\\E)?", false, ["a.b", ""], ["axb", "a."]),
        ("\\x{1F600}\\u00e9", false, ["😀é"], ["é", "😀"]),
    ]

    @Test("what ICU said", arguments: verdicts.indices)
    func table(index: Int) throws {
        let (pattern, ignoresCase, yes, no) = Self.verdicts[index]
        let ours = try PredicatePattern(pattern, ignoresCase ? .caseInsensitive : [])
        let judge = try #require(icu(pattern, ignoringCase: ignoresCase))
        for (texts, expected) in [(yes, true), (no, false)] {
            for text in texts {
                #expect(PredicateFolding.withBytes(text, ours.matches(_:)) == expected, "\(text.debugDescription)")
                #expect(matches(judge, text) == expected, "ICU: \(text.debugDescription)")
            }
        }
    }
}
