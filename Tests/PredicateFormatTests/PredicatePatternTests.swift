import Foundation
import PropertyList
import TestSupport
import Testing

@testable import PredicateFormat

/// `MATCHES`, held against the standard library's own regular expressions, and against those that would never end there.
@Suite("Regular expressions of predicates")
struct PredicatePatternTests {
    static let patterns = [
        "", "a", "abc", "a*", "a+b", "(ab)*", "a|b|cd", "(a|b)*c", "a?b?c?", "[abc]+", "[^abc]*", "[a-c&&[^b]]+",
        "[]a]+",
        "a{2}", "a{2,}b", "a{1,3}", "(ab){2,3}c?", "a*?b", "(?:a|)b", "(?<x>a)b", "\\d+", "\\w+ \\w+", "\\S*\\s\\S*",
        "\\D",
        "[A-Z0-9a-z._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,4}", "^abc$", "\\Aab\\z", "(?i)aBc",
        "(?i:a)b",
        "a(?i)b|c", "(?=.*b)a.*", "(?!ab)a.*", "(?=(?!b)a)[ab]+", ".", "..", "(?s).*", "a.b", "\\x61\\u0062",
        "\\x{61}b",
        "\\p{L}+", "\\P{L}", "\\Qa.b\\E", "[[:alpha:]]+", "\\t|\\n", "é+", "(a*)*", "(a*)+b", "(|a)+", "((a|b)c?)*",
        "\\.",
        "[\\d.]+", "a{0}b", "x{2,1}?", "[\\[\\]]+", "\\-\\+", "(a(b(c)?)?)?", "😀+", "[é-ü]", "ab|",
    ]

    static let texts = [
        "", "a", "b", "c", "ab", "abc", "aab", "aaa", "abab", "ababc", "cd", "ABC", "aBc", "Ab", "abB", "aé", "é", "éé",
        "ü",
        "a b", "a1 b_2", "42", "4.2", "1.2.3", "a.b", "a-b", "\n", "a\n", "a\nb", "\t", "me@example.com",
        "Me.You@x.org", "[]",
        "]a", "-+", "😀😀", "a😀", "ac", "bcac", "aaab", "aaaa", " ", "ba", "bab", ".", "..", "a\r\n", "\u{301}",
        "a\u{301}",
    ]

    private func matches(_ pattern: String, _ text: String, _ options: PredicateOptions = []) throws -> Bool {
        let compiled = try PredicatePattern(pattern, options)
        var text = text
        return text.withUTF8 { compiled.matches($0) }
    }

    @Test("what matches, matches there", arguments: patterns)
    func same(pattern: String) throws {
        guard let theirs = try? Regex(pattern).matchingSemantics(.unicodeScalar) else {
            #expect(throws: PredicatePattern.Failure.self) { try PredicatePattern(pattern, []) }
            return
        }
        for text in Self.texts {
            #expect(
                try matches(pattern, text) == ((try theirs.wholeMatch(in: text)) != nil), "\(text.debugDescription)")
            let ours = try matches(pattern, text, .caseInsensitive)
            #expect(ours == ((try theirs.ignoresCase().wholeMatch(in: text)) != nil), "[c] \(text.debugDescription)")
        }
    }

    /// Where the standard library has another notion of a word than NSPredicate's own library.
    @Test("words end where ICU has it", arguments: ["a\\b.*", ".*\\Bb", "\\b[a-z]+\\b.*", ".*\\b", "\\B.*"])
    func words(pattern: String) throws {
        let theirs = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z")
        for text in Self.texts {
            let range = NSRange(location: 0, length: text.utf16.count)
            let expected = theirs.firstMatch(in: text, range: range) != nil
            #expect(try matches(pattern, text) == expected, "\(text.debugDescription)")
        }
    }

    @Test(
        "what would take time without end takes none",
        arguments: [
            "(a+)+b", "(a|a)*b", "(a*)*b", "(.*a){20}b", "(a?){30}a{30}b", "(a|aa)+b", "(?=(a+)+b)a*", "([a-z]+)*[0-9]",
        ])
    func endless(pattern: String) throws {
        let watchdog = Watchdog(pattern, seconds: 60)
        defer { watchdog.done() }
        #expect(try !matches(pattern, String(repeating: "a", count: 300)))
    }

    @Test(
        "what an automaton cannot do is refused, with the reason",
        arguments: [
            ("(a)\\1", "back-references"), ("(?<x>a)\\k<x>", "back-references"), ("(?<=a)b", "lookbehind"),
            ("(?>a*)b", "atomic groups"), ("a*+b", "possessive quantifiers"), ("(a{1000}){1000}", "repeats too much"),
        ])
    func refused(pattern: String, reason: String) {
        let failure = #expect(throws: PredicatePattern.Failure.self) { try PredicatePattern(pattern, []) }
        #expect(failure?.reason.contains(reason) == true, "\(failure?.reason ?? "")")
    }
}
