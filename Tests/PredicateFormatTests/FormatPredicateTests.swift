import PredicateFormat
import PropertyList
import Testing

/// Objects to judge, as property lists.
enum PredicateFixture {
    static let bear: PropertyListFields = [
        "name": .string("Fluffy Bear"), "serialNumber": .string("1A2B3"), "valueInDollars": .integer(78),
        "dateCreated": .date(PropertyListDate(secondsSinceReferenceDate: 86_400)),
        "weight": .real(1.5), "fragile": .boolean(true), "café": .string("Crème Brûlée"),
        "tags": .array([.string("gift"), .string("1925")]), "empty": .array([]), "none": .null,
        "scores": .array([.integer(3), .integer(4), .real(5)]), "blob": .data([1, 2]),
        "big": .wideInteger(Int128(Int64.max) + 1), "max": .integer(.max), "size": .integer(9),
        "owner": .dictionary([
            "name": .string("Ben"), "address": .dictionary(["city": .string("Łódź")]),
        ]),
        "children": .array([
            .dictionary(["age": .integer(7), "name": .string("Ann")]),
            .dictionary(["age": .integer(19), "name": .string("Bob")]),
        ]),
    ]

    static let variables: PropertyListFields = [
        "LOWER": .integer(70), "UPPER": .integer(80), "word": .string("fluffy"),
        "names": .array([.string("Ben"), .string("Fluffy Bear")]),
        "day": .date(PropertyListDate(secondsSinceReferenceDate: 86_400)), "nothing": .null,
        "room": .dictionary(["name": .string("Study")]),
    ]

    static func judge(_ format: String) throws -> Bool {
        try FormatPredicate(format: format, variables: variables).evaluate(value: .fields(bear))
    }
}

@Suite("Predicates: what they mean")
struct PredicateTests {
    @Test(
        "Comparisons, after Apple's table of basic comparisons",
        arguments: [
            ("valueInDollars = 78", true), ("valueInDollars == 78.0", true), ("valueInDollars >= 78", true),
            ("valueInDollars => 79", false), ("valueInDollars <= 78", true), ("valueInDollars =< 77", false),
            ("valueInDollars > 77.5", true), ("valueInDollars < 78", false), ("valueInDollars != 78", false),
            ("valueInDollars <> 79", true), ("1 BETWEEN { 0 , 33 }", true), ("valueInDollars between {78, 78}", true),
            ("valueInDollars BETWEEN { $LOWER, $UPPER }", true), ("valueInDollars BETWEEN {80, 70}", false),
            ("78 == valueInDollars", true), ("80 > valueInDollars", true), ("TRUEPREDICATE", true),
            ("FALSEPREDICATE", false), ("falsepredicate OR truepredicate", true),
            ("fragile == TRUE", true), ("fragile == YES", true), ("fragile == no", false), ("fragile == 1", true),
            ("weight == 1.5", true), ("weight > 1", true), ("max < 9223372036854775808.0", true),
            ("max == 9223372036854775807.0", false), ("big > max", true), ("big == 9223372036854775808", true),
            ("valueInDollars == 0x4E", true), ("valueInDollars == 0b1001110", true), ("valueInDollars == 0o116", true),
            ("valueInDollars == 7.8e1", true), ("-valueInDollars == -78", true), ("name == name", true),
            ("blob == $day", false), ("name == valueInDollars", false), ("name != valueInDollars", true),
            ("name < valueInDollars", false), ("#size == 9", true), ("size == 9", true), ("#\"size\" = 9", true),
        ])
    func comparisons(format: String, expected: Bool) throws {
        #expect(try PredicateFixture.judge(format) == expected, "\(format)")
    }

    @Test(
        "SUBQUERY, TERNARY, and the functions of NSExpression's table",
        arguments: [
            ("SUBQUERY(children, $c, $c.age > 10).@count == 1", true),
            ("SUBQUERY(children, $c, $c.age > 10 AND $c.name BEGINSWITH 'B')[0].name == 'Bob'", true),
            ("SUBQUERY(scores, $s, $s >= 4)[SIZE] == 2", true),
            ("ANY SUBQUERY(tags, $t, $t != 'gift') == '1925'", true),
            ("SUBQUERY(tags, $t, $t == serialNumber).@count == 0", true),
            ("SUBQUERY(scores, $s, SUBQUERY(scores, $r, $r < $s).@count == 1).@max == 4", true),
            ("SUBQUERY(children, $word, $word.age < 10).name == {'Ann'} AND name CONTAINS[c] $word", true),
            ("SUBQUERY(children, $c, $c.age > $LOWER).@count == 0", true),
            ("SUBQUERY(absent, $a, $a > 1) == nil", true),
            ("SUBQUERY($names, $n, $n == name).@count == 1", true), ("SUBQUERY(name, $n, $n > 1) == nil", true),
            ("TERNARY(fragile == TRUE, valueInDollars, 0) == 78", true),
            ("TERNARY(#none == nil AND weight > 2, 'heavy', 'light') == 'light'", true),
            ("TERNARY(1 < 2, name, nil) BEGINSWITH 'Fl'", true), ("now() > dateCreated", true),
            ("now() - dateCreated > 0", true), ("now() < CAST('2001-01-02', 'NSDate')", false), ("random() < 1", true),
            ("random(1) == 0", true), ("random(valueInDollars) BETWEEN {0, 77}", true), ("random(0) == nil", true),
            ("median(scores) == 4", true), ("median(1, 2, 3, 10) == 2.5", true),
            ("stddev(2, 4, 4, 4, 5, 5, 7, 9) == 2", true),
            ("mode(1, 2, 2, 3, 3) == {2, 3}", true), ("median(tags) == nil", true), ("exp(0) == 1", true),
            ("sum(tags) == nil AND average(tags) == nil AND stddev(tags) == nil", true),
            ("sum(empty) == 0 AND max(empty) == nil", true), ("tags.@sum == 0 OR tags.@avg == 0", false),
            ("max(tags) == 'gift' AND tags.@min == '1925'", true), ("max(3, 'x') == nil AND min('x', 3) == nil", true),
            ("sum({1, nil, 2}) == 3 AND median({1, 'x', 2}) == nil", true),
            ("ln(exp(2)) == 2", true), ("log(1000) == 3", true), ("ln(-1) == nil", true), ("exp(99999) == nil", true),
        ])
    func functions(format: String, expected: Bool) throws {
        #expect(try PredicateFixture.judge(format) == expected, "\(format)")
        let predicate = try FormatPredicate(format: format, variables: PredicateFixture.variables)
        let compiled = predicate.compiled { (field: String) -> PredicateAccessor<PropertyListFields> in
            .value { field == PredicateKeyPath.selfKey ? .fields($0) : $0[field] }
        }
        #expect(compiled(PredicateFixture.bear) == expected, "\(format), compiled")
        #expect(try FormatPredicate(format: predicate.format).node == predicate.node, "\(format), printed")
    }

    @Test(
        "Nil equals nil alone and has no order",
        arguments: [
            ("missing == nil", true), ("missing == NULL", true), ("#none == nil", true), ("missing != nil", false),
            ("name == nil", false), ("name != nil", true), ("missing != 5", true), ("missing == 5", false),
            ("missing < 5", false), ("missing >= 5", false), ("missing <= nil", false), ("missing == $nothing", true),
            ("missing BEGINSWITH ''", false), ("missing CONTAINS 'a'", false), ("missing IN {'a', nil}", true),
            ("missing IN {'a'}", false), ("missing.deeper.still == nil", true), ("ANY missing == 1", false),
            ("ALL missing == 1", true), ("NONE missing == 1", true), ("missing + 1 == nil", true),
            ("1 / 0 == nil", true),
            ("missing BETWEEN {1, 2}", false), ("NOT missing == 5", true),
        ])
    func absence(format: String, expected: Bool) throws {
        #expect(try PredicateFixture.judge(format) == expected, "\(format)")
    }

    @Test(
        "Text, after Apple's table of string comparisons",
        arguments: [
            ("name BEGINSWITH 'Fluffy'", true), ("name beginswith[c] \"FLUFFY\"", true),
            ("name BEGINSWITH 'fluffy'", false),
            ("name CONTAINS 'y B'", true), ("name contains[c] $word", true), ("name CONTAINS 'bear'", false),
            ("name ENDSWITH 'Bear'", true), ("name ENDSWITH[c] 'BEAR'", true), ("name ENDSWITH 'ar '", false),
            ("name ==[c] 'FLUFFY BEAR'", true), ("name !=[c] 'FLUFFY BEAR'", false), ("name < 'Fluffz'", true),
            ("name <[c] 'FLUFFZ'", true), ("'a' > 'B'", true), ("'a' >[c] 'B'", false),
            ("name LIKE 'Fluffy*'", true), ("name LIKE '?luffy Bea?'", true), ("name LIKE 'fluffy*'", false),
            ("name LIKE[c] 'f*R'", true), ("name LIKE 'Fluffy'", false), ("name LIKE '*'", true),
            ("'a*b' LIKE 'a\\*b'", true),
            ("'axb' LIKE 'a\\*b'", false), ("name MATCHES 'F\\\\w+ Bear'", true), ("name MATCHES 'F\\w+ Bear'", true),
            ("name MATCHES 'Fluffy'", false), ("name MATCHES[c] '.*BEAR'", true), ("café CONTAINS[cd] 'BRULEE'", true),
            ("café CONTAINS[c] 'BRULEE'", false), ("café CONTAINS[c] 'BRÛLÉE'", true),
            ("café CONTAINS[d] 'Creme'", true),
            ("café CONTAINS[d] 'creme'", false), ("café LIKE[c] 'CR?ME*'", true), ("café BEGINSWITH[cd] 'creme'", true),
            ("café MATCHES[cd] 'creme .*'", true), ("'Straße' ==[c] 'STRASSE'", true),
            ("'ΣΊΣΥΦΟΣ' ==[c] 'σίσυφος'", true),
            ("'e\u{301}a' CONTAINS[c] 'e'", false), ("'e\u{301}a' CONTAINS[d] 'e'", true),
            ("'é' ==[c] 'E\u{301}'", true),
            ("name CONTAINS ''", true), ("'' BEGINSWITH ''", true), ("'lu' IN name", true), ("'LU' IN[c] name", true),
            ("valueInDollars CONTAINS 'a'", false), ("valueInDollars LIKE '78'", false), ("name.length == 11", true),
            ("name == 'Fluffy\\u0020Bear'", true), ("'it\\'s' == \"it's\"", true),
        ])
    func text(format: String, expected: Bool) throws {
        #expect(try PredicateFixture.judge(format) == expected, "\(format)")
    }

    @Test(
        "Collections, after Apple's table of aggregate operations",
        arguments: [
            ("ANY children.age < 18", true), ("SOME children.age < 18", true), ("ALL children.age < 18", false),
            ("NONE children.age < 18", false), ("NONE children.age > 30", true), ("ALL children.age > 5", true),
            ("owner.name IN { 'Ben', 'Melissa', 'Nick' }", true), ("NOT name IN {'Ben'}", true),
            ("name IN $names", true),
            ("name IN[c] {'FLUFFY BEAR'}", true), ("valueInDollars IN {1, 78.0}", true), ("'gift' IN tags", true),
            ("tags CONTAINS 'gift'", true), ("tags CONTAINS[c] 'GIFT'", true), ("ANY tags BEGINSWITH 'gi'", true),
            ("ANY tags IN {'gift', 'x'}", true), ("ALL tags ==[c] 'gift'", false), ("tags[0] == 'gift'", true),
            ("tags[FIRST] == 'gift'", true), ("tags[last] == '1925'", true), ("tags[SIZE] == 2", true),
            ("tags[7] == nil", true), ("owner['name'] == 'Ben'", true), ("tags.@count == 2", true),
            ("empty.@count == 0", true), ("children.@avg.age == 13", true), ("@sum.children.age == 26", true),
            ("children.@max.age == 19", true), ("children.@min.age == 7", true), ("scores.@sum.self == 12", true),
            ("children.@unionOfObjects.name CONTAINS 'Bob'", true), ("owner.address.city ==[cd] 'łodz'", true),
            ("ALL empty == 1", true), ("ANY empty == 1", false), ("ANY name == 'x'", false),
            ("tags == {'gift', '1925'}", true),
            ("tags == {'1925', 'gift'}", false), ("{1, 2.0} == {1.0, 2}", true), ("ANY (children.age == 7)", true),
            ("ANY {1, 2, 3} == 2", true), ("valueInDollars IN {valueInDollars, 5}", true),
            ("$room.name == 'Study'", true),
            ("'Ben' IN owner", true), ("NONE tags == nil", true), ("count(tags) == 2", true),
        ])
    func collections(format: String, expected: Bool) throws {
        #expect(try PredicateFixture.judge(format) == expected, "\(format)")
    }

    @Test(
        "Dates compare with dates and with ISO 8601 text",
        arguments: [
            ("dateCreated == CAST('2001-01-02', 'NSDate')", true), ("dateCreated == '2001-01-02'", true),
            ("dateCreated > '2001-01-01'", true), ("dateCreated < '2001-01-02T00:00:00.5Z'", true),
            ("dateCreated == $day", true), ("dateCreated == '2001-01-02T01:00:00+01:00'", true),
            ("dateCreated == '2001-01-02 00:00:00 +0000'", true), ("dateCreated == CAST(86400, 'NSDate')", true),
            ("dateCreated BETWEEN {'2001-01-01', '2001-01-03'}", true), ("'2002' > dateCreated", true),
            ("dateCreated IN {'2001-01-02'}", true), ("dateCreated == 86400", false),
            ("dateCreated - CAST('2001-01-01', 'NSDate') == 86400", true),
            ("dateCreated + 86400 == '2001-01-03'", true),
            ("dateCreated > 'soon'", false), ("dateCreated != 'soon'", true), ("dateCreated == '2001-02-30'", false),
        ])
    func dates(format: String, expected: Bool) throws {
        #expect(try PredicateFixture.judge(format) == expected, "\(format)")
    }

    @Test(
        "Arithmetic is exact and never traps",
        arguments: [
            ("valueInDollars + 2 * 3 == 84", true), ("(valueInDollars + 2) * 3 == 240", true), ("7 / 2 == 3", true),
            ("7 / 2.0 == 3.5", true), ("2 ** 10 == 1024", true), ("2 ** 3 ** 2 == 512", true), ("-2 ** 2 == -4", true),
            ("2 ** -1 == 0.5", true), ("10 - 3 - 2 == 5", true), ("max + 1 == 9223372036854775808", true),
            ("max * max > max", true), ("max ** max > 1e308", true), ("-9223372036854775808 < 0", true),
            ("-9223372036854775808 / -1 == 9223372036854775808", true), ("valueInDollars / 0 == nil", true),
            ("valueInDollars / (valueInDollars - 78) == nil", true), ("name + 1 == nil", true),
            ("170141183460469231731687303715884105727 + 1 > 1.7e38", true), ("abs(-5) == 5", true),
            ("floor(1.5) == 1", true), ("sqrt(9) == 3", true), ("length(name) == 11", true),
            ("max({1, 5, 3}) == 5", true),
            ("average(1, 2) == 1.5", true), ("uppercase(name) == 'FLUFFY BEAR'", true),
            ("CAST('5', 'NSNumber') == 5", true),
            ("scores[SIZE] * 2 == 6", true), ("0 ** 0 == 1", true), ("(-1) ** 9223372036854775807 == -1", true),
        ])
    func arithmetic(format: String, expected: Bool) throws {
        #expect(try PredicateFixture.judge(format) == expected, "\(format)")
    }

    @Test("SELF is the object itself")
    func selfObject() throws {
        let text = try FormatPredicate(format: "SELF BEGINSWITH[c] 'flu'")
        #expect(text.evaluate(value: .string("Fluffy")))
        #expect(!text.evaluate(value: .integer(5)))
        #expect(text.fields.isEmpty)
        let field = try FormatPredicate(format: "SELF.name == 'x' AND self.@count == 1")
        #expect(field.fields == ["name"])
        #expect(field.evaluate(value: .dictionary(["name": .string("x")])))
    }

    @Test("Fields are the first keys of the key paths")
    func fields() throws {
        let predicate = try FormatPredicate(
            format: "a.b == 1 AND ANY c.d[e] == $x AND {f, 1} CONTAINS length(g) OR -h BETWEEN {1, i}",
            variables: ["x": .integer(1)])
        #expect(predicate.fields == ["a", "c", "e", "f", "g", "h", "i"])
    }

    @Test("Constraints are the parts of the outermost AND that an index could serve")
    func constraints() throws {
        let predicate = try FormatPredicate(
            format: """
                valueInDollars > 900 AND 5 <= size AND name CONTAINS 'x' AND (room IN {'a', 'b'} AND name LIKE 'ab*c') \
                AND (a == 1 OR b == 2) AND name ==[c] 'x' AND c == nil AND serialNumber BEGINSWITH 'A'
                """)
        #expect(
            predicate.indexableConstraints.map { "\($0.node) \($0.isExact)" } == [
                "valueInDollars > 900 true", "size >= 5 true", "room IN {\"a\", \"b\"} true",
                "name BEGINSWITH \"ab\" false", "serialNumber BEGINSWITH \"A\" true",
            ])
        #expect(!predicate.isConstraintsOnly)
        #expect(try FormatPredicate(format: "a == 1 AND b BETWEEN {1, 2} AND c BEGINSWITH 'x'").isConstraintsOnly)
        #expect(try FormatPredicate(format: "a == 1 OR b == 1").indexableConstraints.isEmpty)
    }
}
