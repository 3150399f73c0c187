import PredicateFormat
import PropertyList
import Testing

@Suite("Predicates: what is wrong with them")
struct PredicateErrorTests {
    static func error(
        _ format: String, _ variables: PropertyListFields = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> FormatPredicateError {
        do {
            let predicate = try FormatPredicate(format: format, variables: variables)
            return try #require(nil, "compiled to \(predicate)", sourceLocation: sourceLocation)
        } catch let error as FormatPredicateError {
            return error
        }
    }

    @Test(
        "a message has the beginning of a long value, and the excerpt what is near its place",
        arguments: ["text", "array", "data", "dictionary", "nested"])
    func longValues(_ name: String) throws {
        // Not arguments by themselves, which would be described.
        let value: PropertyListValue =
            switch name {
            case "text": .string(String(repeating: "ab", count: 500_000))
            case "array": .array((0..<100_000).map { .integer($0) })
            case "data": .data([UInt8](repeating: 7, count: 1 << 20))
            case "dictionary": .fields(PropertyListFields((0..<50_000).map { ("k\($0)", .integer($0)) }))
            default: .array([.array([.string(String(repeating: "ä", count: 100_000))])])
            }
        let long = try FormatPredicate(format: "a == $long", variables: ["long": value])
        let kinds: [String: PredicateKind] = ["a": PredicateKind(of: value) == .string ? .collection : .string]
        do {
            try long.check(kinds: kinds)
            Issue.record("it is not refused")
        } catch {
            #expect(
                error.message.utf8.count < 500 && error.message.contains(", in a == "), "\(error.message.prefix(600))")
            #expect(error.description.utf8.count < 1500)
        }
        let text = try Self.error(
            String(repeating: "a == 1 OR ", count: 100_000) + "a == == " + String(repeating: "x", count: 1 << 20))
        #expect(text.excerpt.utf8.count < 300 && text.excerpt.contains("a == == xx"), "\(text.excerpt.prefix(400))")
    }

    @Test(
        "Each error has a code, a place and a hint",
        arguments: [
            ("name CONTAIN 'x'", .unknownOperator, 6, "CONTAIN is not an operator; did you mean CONTAINS?"),
            ("name STARTSWITH 'x'", .unknownOperator, 6, "did you mean BEGINSWITH?"),
            ("name BEGINWSITH 'x'", .unknownOperator, 6, "did you mean BEGINSWITH?"),
            ("name LKIE 'x'", .unknownOperator, 6, "did you mean LIKE?"),
            ("a == 1 ADN b == 2", .unknownOperator, 8, "did you mean AND?"),
            ("a == 1 & b == 2", .unknownOperator, 8, "did you mean &&?"), ("a === 1", .unknownOperator, 3, "=="),
            ("a =~ 'x'", .unknownOperator, 3, "MATCHES"), ("a IS NULL", .unknownOperator, 3, "write == nil"),
            ("a NOT IN {1}", .syntax, 3, "NOT stands before the whole comparison"), ("", .syntax, 1, "empty"),
            ("a ==", .syntax, 5, "a value is missing behind =="),
            ("a == AND b", .syntax, 6, "a value is missing before AND"),
            ("(a == 1", .syntax, 1, "never closed"), ("a == 1)", .syntax, 7, "closes nothing"),
            ("a == 'x", .syntax, 6, "no closing '"), ("a IN {1, 2", .syntax, 6, "never closed by }"),
            ("fragile", .syntax, 1, "compare it, as in fragile == TRUE"), ("a < b < c", .syntax, 7, "joined by AND"),
            ("a == %@", .syntax, 6, "pass the value as a $variable"), ("a == 12abc", .syntax, 6, "begin with a digit"),
            ("a == 1e999", .syntax, 6, "too large"), ("a == 1e-400", .syntax, 6, "too small, and is not 0"),
            ("a == \u{201C}x\u{201D}", .syntax, 6, "straight quotes"),
            ("a CONTAINS[x] 'b'", .syntax, 12, "[c], [d] and [cd]"),
            ("a == $wrod", .unknownVariable, 6, "did you mean $word?"),
            ("tags.@coutn > 1", .unknownFunction, 6, "did you mean @count?"),
            ("legnth(a) > 1", .unknownFunction, 1, "length"),
            ("SUBQERY(a, $x, $x > 1).@count > 0", .unknownFunction, 1, "did you mean SUBQUERY?"),
            ("SUBQUERY(a, x, x > 1).@count > 0", .syntax, 13, "a $name for its elements"),
            ("SUBQUERY(5, $x, $x > 1).@count > 0", .typeMismatch, 10, "takes a collection"),
            ("SUBQUERY(a, $x, $y > 1).@count > 0", .unknownVariable, 17, "$y has no value"),
            ("SUBQUERY(a, $x, $x > 1).@count > $x", .unknownVariable, 34, "$x has no value"),
            ("TERNARY(a, 1, 2) == 1", .syntax, 9, "not a condition"),
            ("TERNARY(a > 1, 2) == 1", .syntax, 1, "two values"),
            ("now(1) > a", .syntax, 1, "now takes 0 arguments"),
            ("any == 1", .syntax, 1, "#any"),
            ("a MATCHES '('", .invalidPattern, 11, "expected ')'"), ("a BETWEEN 5", .typeMismatch, 11, "in braces"),
            ("a BETWEEN {1, 2, 3}", .typeMismatch, 11, "these are 3"), ("a IN 5", .typeMismatch, 6, "a number"),
            ("a LIKE 5", .typeMismatch, 8, "takes text"), ("5 == 'x'", .typeMismatch, 6, "never holds"),
            ("a < {1}", .typeMismatch, 5, "needs an order"), ("'a' + 1 == b", .typeMismatch, 1, "takes numbers"),
            ("CAST('soon', 'NSDate') == a", .typeMismatch, 1, "can't be cast"),
            ("CAST('x', 'NSFoo') == a", .syntax, 1, "NSDate"),
            ("ANY 5 == a", .typeMismatch, 5, "takes a collection"),
            ("ANY NOT a == 1", .syntax, 1, "takes a comparison"),
            ("tags.@count LIKE 'x'", .typeMismatch, 1, "takes text"), ("a == '\\u12'", .syntax, 7, "four hexadecimal"),
            ("größe = = 1", .syntax, 11, "a value is missing before ="), ("a . == 1", .syntax, 5, "a key is missing"),
        ] as [(String, FormatPredicateError.Code, Int, String)])
    func errors(format: String, code: FormatPredicateError.Code, column: Int, hint: String) throws {
        let error = try Self.error(format, ["word": .string("x")])
        #expect(error.code == code, "\(error)")
        #expect(error.column == column, "\(error)")
        #expect(error.message.contains(hint), "\(error)")
        #expect(error.source == format)
    }

    @Test("The excerpt shows the place, wherever it is")
    func excerpt() throws {
        #expect(
            try Self.error("name CONTAIN 'x'").description == """
                predicate: CONTAIN is not an operator; did you mean CONTAINS? (column 6)
                    name CONTAIN 'x'
                         ^
                """)
        #expect(try Self.error("größe == 1 AND\n\tname ~ 'x'").excerpt == "     name ~ 'x'\n          ^")
        let long = try Self.error(
            String(repeating: "a == 1 AND ", count: 50) + "b % 2" + String(repeating: " ", count: 90))
        let lines = long.excerpt.split(separator: "\n")
        #expect(lines[0].count <= 104 && lines[0].dropFirst(lines[1].count - 1).first == "%")
    }

    @Test("Unknown fields are named with the nearest known ones")
    func fields() throws {
        let known: Set<String> = ["name", "valueInDollars", "dateCreated"]
        let predicate = try FormatPredicate(format: "name == 'x' AND valeuInDollars > 1 AND zzz == 1")
        let error = #expect(throws: FormatPredicateError.self) { try predicate.check(knownFields: known) }
        #expect(error?.code == .unknownField && error?.column == 17 && error?.suggestions == ["valueInDollars"])
        try FormatPredicate(format: "name == 'x' AND SELF != nil").check(knownFields: known)
        let unquoted = #expect(throws: FormatPredicateError.self) {
            try FormatPredicate(format: "name == Fluffy").check(knownFields: known)
        }
        #expect(unquoted?.message.contains("quotes") == true && unquoted?.column == 9)
    }

    @Test(
        "With the kinds of fields known, what never fits is an error",
        arguments: [
            ("valueInDollars > 'x'", false), ("name > 5", false), ("dateCreated > 'soon'", false),
            ("dateCreated > '2001'", true), ("name LIKE '5'", true), ("valueInDollars LIKE '5'", false),
            ("dateCreated == 5", false), ("name IN {1, 'x'}", true), ("name == nil", true), ("custom > 'x'", true),
            ("NOT (name == 'x' AND ANY name == 'y')", false), ("name < dateCreated", true), ("name.length > 5", true),
        ])
    func kinds(format: String, fits: Bool) throws {
        let predicate = try FormatPredicate(format: format)
        let kinds: [String: PredicateKind] = ["name": .string, "valueInDollars": .number, "dateCreated": .date]
        if fits {
            try predicate.check(kinds: kinds)
        } else {
            let error = #expect(throws: FormatPredicateError.self) { try predicate.check(kinds: kinds) }
            #expect(error?.code == .typeMismatch)
        }
    }

    @Test(
        "Depth is limited, length is not",
        arguments: [
            String(repeating: "(", count: 100_000), String(repeating: "(", count: 100_000) + "a == 1",
            String(repeating: "NOT ", count: 100_000) + "a == 1", String(repeating: "!", count: 100_000) + "a == 1",
            "a == " + String(repeating: "-", count: 100_000) + "1", "a == " + String(repeating: "{", count: 100_000),
            "a" + String(repeating: "[0]", count: 100_000) + " == 1",
            "a" + String(repeating: ".b", count: 100_000) + " == 1",
            String(repeating: "ANY ", count: 100_000) + "a == 1",
            "a == b" + String(repeating: " + b", count: 100_000), "a == 2" + String(repeating: " ** b", count: 100_000),
            String(repeating: "length(", count: 100_000) + "a", String(repeating: "a[", count: 100_000),
        ])
    func depth(format: String) throws {
        #expect(try Self.error(format).code == .limitExceeded)
    }

    @Test("Long flat predicates compile and judge")
    func length() throws {
        let object: PropertyListValue = .dictionary(["a": .integer(99_999)])
        let many = (80_000..<100_000).map { "a == \($0)" }.joined(separator: " OR ")
        #expect(try FormatPredicate(format: many).evaluate(value: object))
        let list = try FormatPredicate(format: "a IN {\((80_000..<100_000).map(String.init).joined(separator: ", "))}")
        #expect(list.evaluate(value: object))
        #expect(
            try FormatPredicate(format: "a == 90001" + String(repeating: " + 1", count: 9_998)).evaluate(value: object))
    }

    @Test("Hostile regular expressions are refused or judged, never a crash")
    func patterns() throws {
        let operators = "[" + String(repeating: "a&&", count: 1000) + "a]"
        for pattern in [
            operators, "(", "[", "a{2,1}", "(?<=a)b", "\\", "*", "a**", String(repeating: "(", count: 100_000),
        ] {
            #expect(try Self.error("a MATCHES $p", ["p": .string(pattern)]).code == .invalidPattern, "\(pattern)")
        }
        let object: PropertyListValue = .dictionary(["a": .string("x"), "p": .string("(")])
        #expect(try !FormatPredicate(format: "a MATCHES p").evaluate(value: object))
    }
}
