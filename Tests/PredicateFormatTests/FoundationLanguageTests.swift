import PredicateFormat
import PropertyList
import Testing

@Suite("Predicates: Foundation's properties, functions and options")
struct FoundationLanguageTests {
    static let record: PropertyListValue = .dictionary([
        "text": .string("12abc"), "spaced": .string(" 7.9x"), "yes": .string("YES"), "title": .string("delta"),
        "price": .real(1.5), "age": .integer(6), "path": .string("/a/b.tar.gz"), "s": .string("banana"),
        "composed": .string("é"), "decomposed": .string("e\u{301}"), "numbers": .array([.integer(3), .integer(1)]),
        "date": .date(PropertyListDate(secondsSinceReferenceDate: 0)), "nothing": .null, "whole": .real(12),
        "huge": .integer(.max), "tags": .array([.string("a"), .string("b")]),
    ])

    @Test(
        "finds what Foundation finds",
        arguments: [
            "text.intValue == 12", "spaced.doubleValue == 7.9", "spaced.intValue == 7", "yes.boolValue == YES",
            "title.capitalizedString == 'Delta'", "price.stringValue == '1.5'", "whole.stringValue == '12'",
            "modulus:by:(age, 4) == 2", "(age & 2) == 2", "bitwiseAnd:with:(age, 2) == 2",
            "FUNCTION('a/path', 'lastPathComponent') == 'path'", "s CONTAINS[n] 'a'",
            "'99999999999'.intValue == 2147483647", "'-99999999999999999999'.longLongValue == -9223372036854775808",
            "'abc'.integerValue == 0", "'  +5'.integerValue == 5", "'1e3x'.doubleValue == 1000",
            "'.5'.doubleValue == 0.5", "'inf'.doubleValue == 0", "'0x10'.doubleValue == 0", "'-'.doubleValue == 0",
            "'t'.boolValue == TRUE", "'0009'.boolValue == TRUE", "'000'.boolValue == FALSE", "'no'.boolValue == NO",
            "' -1'.boolValue == YES", "'2.5'.floatValue == 2.5", "price.intValue == 1", "price.boolValue == TRUE",
            "huge.intValue == -1", "price.description == '1.5'", "text.description == '12abc'",
            "date.description == '2001-01-01 00:00:00 +0000'",
            "'foo-bar 1st don\\'t ÉCOLE'.capitalizedString == 'Foo-Bar 1St Don\\'t École'",
            "path.lastPathComponent == 'b.tar.gz'", "path.pathExtension == 'gz'",
            "path.stringByDeletingPathExtension == '/a/b.tar'", "path.stringByDeletingLastPathComponent == '/a'",
            "path.pathComponents == {'/', 'a', 'b.tar.gz'}", "'.profile'.pathExtension == ''",
            "add:to:(age, 2) == 8", "from:subtract:(age, 2) == 4", "multiply:by:(age, 2) == 12",
            "divide:by:(age, 4) == 1", "raise:toPower:(age, 2) == 36", "bitwiseOr:with:(age, 1) == 7",
            "bitwiseXor:with:(age, 2) == 4", "leftshift:by:(age, 1) == 12", "rightshift:by:(age, 1) == 3",
            "onesComplement:(age) == -7", "~age == -7", "(~age & 7) == 1", "age | 1 == 7", "age ^ 2 == 4",
            "age << 1 == 12", "age >> 1 == 3", "1 + 1 << 2 == 8", "6 & 3 | 8 == 10", "modulus:by:(-7, 3) == -1",
            "sum:(numbers) == 4", "average:(numbers) == 2", "min:(numbers) == 1", "max:(3, age) == 6",
            "count:(numbers) == 2", "median:(numbers) == 2", "stddev:(numbers) == 1", "mode:({1, 1, 2}) == {1}",
            "abs:(-2) == 2", "ceiling:(1.2) == 2", "floor:(1.8) == 1", "trunc:(-1.5) == -1", "sqrt:(9) == 3",
            "ln:(1) == 0", "log:(100) == 2", "exp:(0) == 1", "lowercase:('ÀB') == 'àb'", "uppercase:(s) == 'BANANA'",
            "castObject:toType:('5', 'NSNumber') == 5", "now() > date", "random:(1) == 0",
            "FUNCTION(s, 'uppercaseString') == 'BANANA'", "FUNCTION(s, 'hasPrefix:', 'ban') == YES",
            "FUNCTION(numbers, 'count') == 2", "FUNCTION(age, 'modulus:by:', 4) == 2",
            "FUNCTION(s, 'stringByReplacingOccurrencesOfString:withString:', 'an', '-') == 'b--a'",
            "FUNCTION('a', 'stringByAppendingPathComponent:', 'b') == 'a/b'",
            "FUNCTION(s, 'substringFromIndex:', 4) == 'na'",
            "FUNCTION(tags, 'componentsJoinedByString:', '+') == 'a+b'", "FUNCTION(numbers, 'firstObject') == 3",
            "FUNCTION(date, 'dateByAddingTimeInterval:', 60) > date",
            "composed ==[l] decomposed", "NOT composed == decomposed", "NOT composed ==[n] decomposed",
            "composed CONTAINS[cl] 'É'", "NOT 'A' ==[cn] 'a'", "s IN[nl] {'banana'}", "s LIKE[l] 'b*'",
            "nothing.intValue == nil", "nothing + 1 == nil", "~nothing == nil", "price & 1 == nil",
        ])
    func holds(format: String) throws {
        let predicate = try FormatPredicate(format: format)
        #expect(predicate.evaluate(value: Self.record), "\(predicate)")
        // The canonical text is the same predicate, and the compiled one finds the same.
        let again = try FormatPredicate(format: predicate.format)
        #expect(again == predicate)
        let compiled = predicate.compiled { key in
            .value { (record: PropertyListValue) in
                if case .dictionary(let fields) = record { fields[key] } else { nil }
            }
        }
        #expect(compiled(Self.record))
    }

    @Test(
        "names what the language leaves out",
        arguments: [
            ("a <[l] 'b'", .syntax, "needs the rules of a locale"), ("a MATCHES[cl] 'b'", .syntax, "rules of a locale"),
            ("a ==[q] 'b'", .syntax, "[q] is not an option"),
            ("noindex:(a) == 1", .unknownFunction, "noindex: is a function that predicates leave out"),
            ("distanceToLocation:fromLocation:(a, b) < 5", .unknownFunction, "there are no locations"),
            ("modulus:by(a, 4) == 2", .syntax, ""),
            ("bitwiseNand:with:(a, 1) == 1", .unknownFunction, "is not a function"),
            ("modulus:by:(a) == 2", .syntax, "modulus:by: takes 2 arguments"),
            ("modulus:by:(1.5, 4) == 2", .typeMismatch, "takes whole numbers, and this is 1.5"),
            ("'x' & 1 == 1", .typeMismatch, "takes numbers, and this is text"),
            ("FUNCTION(a, 'crash') == 1", .unknownFunction, "FUNCTION calls no method crash of Foundation's classes"),
            ("FUNCTION(a, b) == 1", .syntax, "a selector as text"),
            ("FUNCTION('x', 'hash') == 1", .unknownFunction, "predicates leave it out"),
            ("FUNCTION('x', 'year') == 1", .unknownField, "text has no property year"),
            ("FUNCTION(a, 'hasPrefix:') == 1", .syntax, "hasPrefix: takes 1 argument"),
            ("'x'.year == 1", .unknownField, "text has no property year"),
            ("5.lowercaseString == 'x'", .syntax, ""),
            ("(5).lowercaseString == 'x'", .unknownField, "a number has no property"),
            ("lowercase(5) == 'x'", .typeMismatch, "lowercase does not take a number"),
            ("a ~ 'x'", .unknownOperator, "did you mean LIKE?"),
            ("a == 1 | b == 2", .unknownOperator, "did you mean ||?"),
        ] as [(String, FormatPredicateError.Code, String)])
    func leftOut(format: String, code: FormatPredicateError.Code, text: String) {
        let error = #expect(throws: FormatPredicateError.self) { try FormatPredicate(format: format) }
        if code != .syntax || !text.isEmpty { #expect(error?.code == code, "\(String(describing: error))") }
        #expect(error?.message.contains(text) ?? false || text.isEmpty, "\(String(describing: error))")
    }

    @Test(
        "properties and computations that a kind of field does not have",
        arguments: [
            ("name.year == 1", "text has no property year"),
            ("count.lowercaseString == 'x'", "a number has no property"),
            ("name * 2 > 3", "* takes numbers, and name is text"),
            ("made * 2 > 3", "* takes numbers, and made is a date"),
            ("2 - name == 1", "- takes numbers"), ("-name == 1", "- takes a number"),
            ("name.@count == 1", "@count takes a collection"),
            ("lowercase(count) == 'x'", "lowercase does not take a number"), ("name.length == 'x'", "never holds"),
            ("TERNARY(name > 2, 1, 2) == 1", "> never holds between text and a number"),
            ("count & name == 1", "& takes numbers"),
        ])
    func kinds(format: String, text: String) throws {
        let kinds: [String: PredicateKind] = ["name": .string, "count": .number, "made": .date]
        let predicate = try FormatPredicate(format: format)
        let error = #expect(throws: FormatPredicateError.self) { try predicate.check(kinds: kinds) }
        #expect(error?.message.contains(text) == true || text.hasPrefix("- takes a"), "\(String(describing: error))")
        try predicate.check(kinds: [:])
    }
}
