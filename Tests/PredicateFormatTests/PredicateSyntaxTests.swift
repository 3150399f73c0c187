import PredicateFormat
import PropertyList
import Testing

@Suite("Predicates: how they are read and printed")
struct PredicateSyntaxTests {
    @Test(
        "Precedence, shown by the canonical text with and without parentheses",
        arguments: [
            ("a == 1 or b == 2 and c == 3", "a == 1 OR b == 2 AND c == 3"),
            ("a == 1 || (b == 2 && c == 3)", "a == 1 OR b == 2 AND c == 3"),
            ("(a == 1 OR b == 2) AND c == 3", "(a == 1 OR b == 2) AND c == 3"),
            ("NOT a == 1 AND b == 2", "NOT a == 1 AND b == 2"), ("!(a = 1 && b = 2)", "NOT (a == 1 AND b == 2)"),
            ("NOT (a == 1) AND b == 2", "NOT a == 1 AND b == 2"), ("not not a == 1", "NOT NOT a == 1"),
            ("a + b * c ** d == 1", "a + b * c ** d == 1"), ("(a + b) * c == 1", "(a + b) * c == 1"),
            ("a - (b - c) == 1", "a - (b - c) == 1"), ("(a - b) - c == 1", "a - b - c == 1"),
            ("(a ** b) ** c == 1", "(a ** b) ** c == 1"), ("a ** (b ** c) == 1", "a ** b ** c == 1"),
            ("-a ** b == 1", "-a ** b == 1"), ("(-a) ** b == 1", "(-a) ** b == 1"), ("a ** -b == 1", "a ** (-b) == 1"),
            ("a * -5 == 1", "a * (-5) == 1"), ("a == -5", "a == -5"), ("a - -5 == 1", "a - (-5) == 1"),
            ("a AND b", ""), ("(a == 1 AND b == 2) AND c == 3", "a == 1 AND b == 2 AND c == 3"),
            ("some tags == 'x' AND none b == 2", "ANY tags == \"x\" AND NONE b == 2"),
            ("name contains[DC] 'x\"\\n'", "name CONTAINS[cd] \"x\\\"\\n\""),
            ("a in {1,'b',nil}", "a IN {1, \"b\", nil}"),
            ("a <> 1 AND b => 1 AND c =< 1", "a != 1 AND b >= 1 AND c <= 1"), ("#any.all == YES", "#any.all == TRUE"),
            ("SELF.name == self", "name == SELF"), ("truepredicate", "TRUEPREDICATE"), ("a == .5", ""),
            ("a == 0x1F + 1", "a == 32"), ("a == 1.0", "a == 1.0"),
            ("a == CAST('2001','NSDate')", "a == CAST(\"2001-01-01T00:00:00Z\", \"NSDate\")"),
            ("a == CAST(0.5,'NSDate')", "a == CAST(0.5, \"NSDate\")"),
            ("a == CAST('0aff','NSData')", "a == CAST(\"0aff\", \"NSData\")"),
            ("a.b[0]['k'][LAST].@sum.c == 1", "a.b[0][\"k\"][LAST].@sum.c == 1"), ("größe > 1", "größe > 1"),
            ("#'my field' == 1", "#\"my field\" == 1"), ("a BETWEEN {b, $x}", "a BETWEEN {b, 5}"),
            ("Uppercase( a ) == 'X'", "uppercase(a) == \"X\""), ("a == '\\d'", "a == \"\\\\d\""),
            ("(((a))) == ((1))", "a == 1"), ("(a > 1) == TRUE", ""), ("\ta\n==\r1 ", "a == 1"),
        ])
    func canonical(format: String, expected: String) throws {
        let variables: PropertyListFields = ["x": .integer(5)]
        if expected.isEmpty {
            #expect(throws: FormatPredicateError.self) { try FormatPredicate(format: format, variables: variables) }
            return
        }
        let predicate = try FormatPredicate(format: format, variables: variables)
        #expect(predicate.format == expected)
        #expect(try FormatPredicate(format: expected) == predicate)
        #expect(FormatPredicate(predicate.node) == predicate)
    }

    @Test("Text in any bytes compiles or is an error")
    func noise() {
        var random = SplitMix(state: 7)
        let pieces = [
            "a", "==", "(", ")", "{", "}", "[", "]", "'", "\"", "\\", "$", "#", "@", ".", ",", "1", "0x", "1e", "-",
            "**", "ANY",
            "NOT", "AND", "IN", "BETWEEN", "CAST", "nil", "é", "\u{301}", "\0", "%", "&", "|", "~", " ", "LIKE",
            "MATCHES",
            "FIRST", "SELF", "count", "9999999999999999999999999999999999999999999",
        ]
        for _ in 0..<20_000 {
            let text = (0..<random.below(12)).map { _ in pieces[random.below(pieces.count)] }.joined(separator: " ")
            do {
                let predicate = try FormatPredicate(format: text, variables: ["a": .integer(1)])
                _ = predicate.evaluate(value: .dictionary(["a": .integer(1)]))
            } catch {
                #expect((1...(text.utf8.count + 1)).contains(error.column), "\(error)")
            }
        }
    }
}

/// A small generator of random numbers that gives the same ones each time.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
