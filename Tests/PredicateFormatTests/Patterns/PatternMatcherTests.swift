import TestSupport
import Testing

@testable import PredicateFormat

@Suite("The automaton of regular expressions")
struct PatternMatcherTests {
    private func programs(_ pattern: String, ignoringCase: Bool = false) throws -> [PatternProgram] {
        try PatternCompiler.compile(pattern, ignoringCase: ignoringCase)
    }

    /// The programs' verdict without states and without literals, from the text's end to its start.
    private func matchesBackwards(_ programs: [PatternProgram], _ text: String) -> Bool {
        programs.allSatisfy { program in
            var alphabet = PatternAlphabet(program)
            var backwards = PatternLookahead(program)
            return PredicateFolding.withBytes(text) { backwards.matches($0, &alphabet) } != program.isNegative
        }
    }

    @Test("states, single steps and the way backwards agree", arguments: 11...13 as ClosedRange<UInt64>)
    func agreement(seed: UInt64) throws {
        var generator = PatternGenerator(seed: seed)
        var (matched, clearings) = (0, 0)
        for _ in 0..<150 {
            let pattern = generator.expression()
            let ignoresCase = generator.number(below: 3) == 0
            guard let programs = try? programs(pattern, ignoringCase: ignoresCase) else { continue }
            let roomy = PatternMatcher(programs)
            let tiny = PatternMatcher(programs, memory: 400)
            let small = PatternMatcher(programs, memory: 1200)
            for _ in 0..<20 {
                let text = generator.text()
                let expected = matchesBackwards(programs, text)
                let verdicts = [roomy, tiny, small].map { matcher in
                    PredicateFolding.withBytes(text, matcher.matches(_:))
                }
                #expect(
                    verdicts == [expected, expected, expected], "\(pattern.debugDescription) \(text.debugDescription)")
                if expected { matched += 1 }
            }
            clearings += tiny.clearings + small.clearings
        }
        #expect(matched > 100 && clearings > 10, "\(matched) matched, \(clearings) clearings")
    }

    @Test("long texts that need many states match with little memory", arguments: [100, 2000, 100_000])
    func thrashing(memory: Int) throws {
        let programs = try programs("(a|b)*a(a|b){12}")
        let matcher = PatternMatcher(programs, memory: memory)
        var random = TestGenerator(seed: 7)
        for _ in 0..<20 {
            let letters = (0..<3000).map { _ in Bool.random(using: &random) ? "a" : "b" }
            let text = letters.joined()
            let expected = letters[letters.count - 13] == "a"
            #expect(PredicateFolding.withBytes(text, matcher.matches(_:)) == expected)
        }
        // States that do not pay are not made again and again.
        #expect(matcher.clearings < 60, "\(matcher.clearings)")
        if memory == 100 { #expect(matcher.clearings > 0) }
    }

    @Test("few states are made once for any number of texts")
    func reuse() throws {
        let matcher = PatternMatcher(try programs("[A-Za-z ,.]*[0-9]{4}[A-Za-z ,.]*"))
        func match(_ text: String) -> Bool { PredicateFolding.withBytes(text, matcher.matches(_:)) }
        #expect(match("Portrait of a Lady, 1923, Paris"))
        #expect(!match("Portrait of a Lady, 19234"))
        let followed = matcher.followed
        for _ in 0..<100 { #expect(match("View of a Lady, 1923, Rome")) }
        #expect(matcher.followed - followed < 200, "\(matcher.followed - followed)")
        #expect(matcher.clearings == 0)
    }

    @Test(
        "the work grows with the text's length by the program's, whatever the expression",
        arguments: [
            "(a*)*b", "(a|aa)+b", "(a+)+b", "(a?){50}a{50}b", "a{0,50}a{50}b", "((a{1,5}){1,5}){1,5}b", "(.*a){20}b",
            "(?:a(?=(a+)+b))*c", "(?=(a*)*b)a*", "((?!(a|aa)+b)a)*c", "(a|b|ab)*(?=c)$", "(\\ba*\\B)*b", "(a$|a*)*b",
        ], [100, 400_000])
    func bounded(pattern: String, memory: Int) throws {
        let programs = try programs(pattern)
        let steps = programs.reduce(0) { $0 + $1.steps.count }
        let matcher = PatternMatcher(programs, memory: memory)
        let text = String(repeating: "a", count: 2000)
        #expect(!PredicateFolding.withBytes(text, matcher.matches(_:)))
        #expect(matcher.followed <= 8 * steps * 2001, "\(matcher.followed) for \(steps) steps")
    }

    @Test("threads share a pattern, by a matcher each or by the one behind the lock", arguments: [false, true])
    func threads(isScan: Bool) async throws {
        let test = PredicateTextTest.matches(try PredicatePattern(".*[éà]+ \\w{3} \\d+", [.diacriticInsensitive]))
        let counts = await withTaskGroup(of: Int.self) { group in
            for task in 0..<4 {
                group.addTask {
                    let holds = isScan ? test.makeScan() : test.holds
                    return (0..<2000).count { number in
                        let text =
                            "Caf\(number % 2 == 0 ? "é" : "a") \(number % 3 == 0 ? "été" : "de") \(number + task)"
                        return PredicateFolding.withBytes(text, holds)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        // Every third has a word of three letters; without accents é is e, and a is à.
        #expect(counts == [667, 667, 667, 667])
    }

    @Test("bytes that are not UTF-8 are characters that nothing else is")
    func invalid() throws {
        let any = PatternMatcher(try programs("(?s).*"))
        let letters = PatternMatcher(try programs("\\w*"))
        for bytes: [UInt8] in [[0xFF], [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0xED, 0xA0, 0x80], [0x80, 0x41]] {
            bytes.withUnsafeBufferPointer { text in
                #expect(any.matches(text))
                #expect(!letters.matches(text))
            }
        }
    }
}
