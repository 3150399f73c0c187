import CPlatform
import PropertyList
import TestSupport
import Testing

@testable import PredicateFormat

/// What one evaluation may take: a nested condition over the array of one record is stopped, and texts of many marks are
/// folded in proportion to their length.
@Suite("Predicates over one large record")
struct PredicateInterruptionTests {
    /// Runs a body whose thread is asked to stop.
    private func stopped<Value>(_ body: () throws -> Value) rethrows -> Value {
        let former = cubby_watch_work(cubby_watch(is_stopped: { _ in 1 }, capacity: nil, context: nil))
        defer { _ = cubby_watch_work(former) }
        return try body()
    }

    private static let record: PropertyListFields = {
        let numbers = (0..<30_000).map { PropertyListValue.integer($0) }
        let others = (30_000..<60_000).map { PropertyListValue.integer($0) }
        return [
            "n": .array(numbers), "same": .array(others), "few": .array(Array(numbers.prefix(1000))),
            "text": .string(String(repeating: "a", count: 1_000_000)), "set": .set(numbers), "set2": .set(others),
        ]
    }()

    @Test(
        "an evaluation that would take hours ends when its thread's work is stopped",
        arguments: [
            "SUBQUERY(n, $a, SUBQUERY(n, $b, SUBQUERY(n, $c, $a == $b AND $b == $c + 1).@count > 0).@count > 0).@count > 5",
            "ALL same IN same AND ANY same IN n", "NONE n IN same", "same IN[c] {1, 2} OR n CONTAINS same",
            "SUBQUERY(few, $a, SUBQUERY(few, $b, SUBQUERY(few, $c, SUBQUERY(few, $d, $d == $a + 1000).@count > 0).@count > 0).@count > 0).@count > 0",
            "text LIKE $wildcards", "set == set2",
            "FUNCTION(text, 'stringByReplacingOccurrencesOfString:withString:', $long, 'x') == 'y'",
        ])
    func isStopped(format: String) throws {
        let record = Self.record
        let predicate = try FormatPredicate(
            format: format,
            variables: [
                "wildcards": .string(String(repeating: "*a?", count: 50_000) + "b"),
                "long": .string(String(repeating: "a", count: 500_000) + "b"),
            ])
        let compiled = predicate.compiled { (name: String) -> PredicateAccessor<PropertyListFields> in
            .value { $0[name] }
        }
        stopped {
            _ = predicate.evaluate { record[$0] }
            _ = compiled(record)
            var audit = PredicateAudit { record[$0] }
            _ = audit.verdict(predicate.node)
        }
        // Afterwards nothing of it is left.
        #expect(try FormatPredicate(format: "ANY few == 999").evaluate { record[$0] })
    }

    @Test("texts of a million marks are compared without case and accents")
    func manyMarks() throws {
        let marks = String(repeating: "\u{301}\u{316}", count: 500_000)
        let record: PropertyListFields = ["text": .string("E" + marks), "other": .string("e" + marks + "b")]
        let variables: PropertyListFields = ["x": .string("e" + marks), "y": .string("e" + marks + "b")]
        for (format, holds) in [
            ("text ==[c] $x", true), ("text ==[c] $y", false), ("text ==[cd] 'e'", true), ("text ==[l] $x", false),
            ("text CONTAINS[c] $x", true), ("text BEGINSWITH[c] 'e'", false), ("text BEGINSWITH[cd] 'e'", true),
            ("other ENDSWITH[c] 'B'", true), ("text LIKE[cd] 'e*'", true), ("text IN[c] {$x, $y}", true),
            ("text <[c] other", true), ("text ==[c] other", false), ("text MATCHES 'b.*'", false),
        ] {
            let predicate = try FormatPredicate(format: format, variables: variables)
            #expect(predicate.evaluate { record[$0] } == holds, "\(format)")
        }
    }

    @Test("marks in any order fold to Foundation's decomposition")
    func order() {
        var random = SplitMix(state: 36)
        // Classes of many kinds, those of one class in a row, letters that decompose, and starters among them.
        let scalars: [Unicode.Scalar] = [
            "a", "\u{301}", "\u{300}", "\u{316}", "\u{323}", "\u{345}", "\u{344}", "\u{5B0}", "\u{3099}", "\u{1100}",
            "\u{AC01}", "\u{E9}", "\u{1EAD}", "\u{20D0}", "\u{E38}", "\u{F71}", "\u{1D15F}",
        ]
        for _ in 0..<500 {
            var text = ""
            for _ in 0..<Int.random(in: 1...24, using: &random) {
                text.unicodeScalars.append(scalars.randomElement(using: &random) ?? "a")
            }
            let folded = PredicateFolding.folded(text, .localeSensitive)
            #expect(folded == Array(canonicallyDecomposed(text).utf8), "\(text.unicodeScalars.map(\.value))")
        }
    }

    /// Foundation's decomposition keeps what comes after U+0F73 there, since that character itself is of class 0. Unicode
    /// orders by the classes of its parts, 129 and 130.
    @Test(
        "a mark of class 0 that decomposes into marks is ordered by its parts",
        arguments: [
            ("\u{F73}\u{F71}", "\u{F71}\u{F71}\u{F72}"), ("\u{301}\u{F73}", "\u{F71}\u{F72}\u{301}"),
            ("\u{300}\u{323}\u{F73}\u{301}", "\u{F71}\u{F72}\u{323}\u{300}\u{301}"),
            ("\u{E9}\u{F73}\u{5B0}a", "e\u{5B0}\u{F71}\u{F72}\u{301}a"),
        ])
    func orderOfParts(text: String, decomposition: String) {
        #expect(PredicateFolding.folded(text, .localeSensitive) == Array(decomposition.utf8))
    }
}
