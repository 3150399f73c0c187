import PropertyList
import TestSupport
import Testing

@testable import PredicateFormat

/// Every value that a comparison meets satisfies it, or compares false by the rules, or is named as left out.
@Suite("Predicates account for every value")
struct PredicateAccountingTests {
    private enum Class: Equatable { case number, text, date, data, collection, other }

    private static func kind(_ value: PropertyListValue) -> Class {
        switch value {
        case .boolean, .integer, .wideInteger, .real, .single: .number
        case .string, .utf16: .text
        case .date: .date
        case .data: .data
        case .array, .set, .dictionary: .collection
        case .null, .uid: .other
        }
    }

    /// Whether two values are compared with each other.
    private static func isFit(_ left: PropertyListValue, _ right: PropertyListValue, _ operation: String) -> Bool {
        let (first, second) = (kind(left), kind(right))
        func isDateText(_ value: PropertyListValue) -> Bool {
            if case .string(let text) = value { ISO8601.parse(text) != nil } else { false }
        }
        let isDated = first == .date && isDateText(right) || second == .date && isDateText(left)
        switch operation {
        case "!=": return true
        case "==": return first == second || isDated
        case "BEGINSWITH", "LIKE": return first == .text && second == .text
        default: return first == second && [.number, .text, .date].contains(first) || isDated
        }
    }

    @Test("a comparison holds, is false, or says that it leaves the value out")
    func comparisons() throws {
        var values = ForeignValues(seed: 35)
        for number in 0..<Accounting.values {
            let (left, right) = (values.value(), values.value())
            if left == .null || right == .null { continue }
            let operation = values.pick(["==", "!=", "<", "<=", ">", ">=", "BEGINSWITH", "LIKE"])
            guard
                let predicate = try? FormatPredicate(
                    format: "n \(operation) $v", variables: ["v": right])
            else { continue }
            let holds = predicate.evaluate { $0 == "n" ? left : nil }
            var audit = PredicateAudit { $0 == "n" ? left : nil }
            let verdict = audit.verdict(predicate.node)
            #expect(
                (verdict != nil) == Self.isFit(left, right, operation), "value \(number): \(left) \(operation) \(right)"
            )
            // What is left out compares false.
            #expect((verdict ?? false) == holds, "value \(number): \(left) \(operation) \(right)")
            #expect(audit.undecided.count == (verdict == nil ? 1 : 0))
        }
    }

    @Test("a computation of two values has a result, or names the value that it does not take")
    func computations() throws {
        var values = ForeignValues(seed: 36)
        for number in 0..<Accounting.values {
            let record = ["a": values.value(depth: 1), "b": values.value(depth: 1)]
            let format = values.pick([
                "a + b", "a - b", "a * b", "a / b", "modulus:by:(a, b)", "a & b", "a << b", "~a", "-a", "abs(a)",
                "lowercase(a)", "a.intValue", "a.doubleValue", "a.stringValue", "a.lowercaseString", "a.length",
                "sqrt(a)",
                "CAST(a, 'NSNumber')", "FUNCTION(a, 'hasPrefix:', 'x')", "a[0]", "a.@count", "TERNARY(a > b, 1, 2)",
            ])
            let expression = try FormatExpression(format: format)
            let found = PredicateEvaluator { record[$0] }.value(expression)
            var audit = PredicateAudit { record[$0] }
            do throws(PredicateFault) {
                let value = try audit.value(expression)
                #expect(
                    value == found || "\(value as Any)" == "\(found as Any)", "value \(number): \(format) of \(record)")
                // A dictionary may lack a key, and an array an element.
                let isKeyed = if case .dictionary? = record["a"] { true } else { false }
                let mayBeNil = isKeyed || format.hasPrefix("a[") || format.contains("Value")
                #expect(value != nil || mayBeNil || record["a"] == .null, "value \(number): \(format) of \(record)")
            } catch {
                let isConditional = format.hasPrefix("TERNARY")
                #expect(found == nil || isConditional, "value \(number): \(format) of \(record) \(error)")
            }
        }
    }

    @Test("Foundation's readings of a text never fail, and read what Swift reads of a whole number")
    func readings() {
        var values = ForeignValues(seed: 37)
        for _ in 0..<Accounting.values {
            let text = values.text()
            let integer = PredicateText.integer(text)
            if let exact = Int64(text) { #expect(integer == exact) }
            if let exact = Double(text), text.utf8.allSatisfy({ "0123456789.-+eE".utf8.contains($0) }) {
                #expect(PredicateText.real(text) == exact, "\(text.debugDescription)")
            }
            let real = values.real()
            let described = PredicateText.description(of: .real(real)) ?? ""
            #expect(Double(described) == real, "\(described)")
        }
    }
}
