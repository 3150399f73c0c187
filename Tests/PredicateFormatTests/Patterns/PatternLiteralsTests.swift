import Testing

@testable import PredicateFormat

@Suite("Literals of regular expressions")
struct PatternLiteralsTests {
    /// A literal as text, with a mark if it is of any case.
    private func describe(_ search: ByteSearch?) -> String {
        guard let search else { return "" }
        return String(decoding: search.bytes, as: UTF8.self) + (search.foldsCase ? " (any case)" : "")
    }

    @Test(
        "what each match begins with, ends with and contains",
        arguments: [
            ("abc", "abc", "abc", ""), ("a.*z", "a", "z", ""), (".*Warhol.*", "", "", "Warhol"),
            ("(?i).*Cat.*", "", "", "cat (any case)"), ("(?i)task", "ta (any case)", "", ""),
            ("x(ab|ac)y", "xa", "y", ""), ("(one|two)", "", "", ""), ("(foot|fort)", "fo", "t", ""),
            ("(ab){3}", "ababab", "ababab", ""), ("(ab){2,}c", "abab", "ababc", ""), ("a?b", "", "b", ""),
            (".*[0-9]{2} of .+", "", "", " of "), ("^The .*", "The ", "", ""), (".*é\\b.*", "", "", "é"),
            ("a(?=bc)b.", "ab", "", "bc"), ("a(?!bc).*d", "a", "d", ""), ("\\d+-\\d+", "", "", "-"), (".*", "", "", ""),
            ("a|b*", "", "", ""), ("(?:ab)*", "", "", ""), ("(?i)é", "", "", ""),
            ("a(?i)b", "ab (any case)", "ab (any case)", ""),
        ])
    func literals(pattern: String, prefix: String, suffix: String, inner: String) throws {
        let program = try #require(try PatternCompiler.compile(pattern, ignoringCase: false).last)
        #expect(describe(program.literals.prefix) == prefix)
        #expect(describe(program.literals.suffix) == suffix)
        #expect(describe(program.literals.inner) == inner)
    }

    @Test("lookaheads at the start have programs of their own, those with literals first")
    func lookaheads() throws {
        let programs = try PatternCompiler.compile("(?!.*x)(?=.*the)(?=.*of).*", ignoringCase: false)
        #expect(programs.map(\.isNegative) == [false, false, true, false])
        #expect(programs.map { describe($0.literals.inner) } == ["the", "of", "x", ""])
        #expect(programs.allSatisfy { !$0.hasLookahead })
        #expect(try PatternCompiler.compile("(?=a)a|b", ignoringCase: false).count == 1)
    }
}
