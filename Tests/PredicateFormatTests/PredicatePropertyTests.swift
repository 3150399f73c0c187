import PredicateFormat
import PropertyList
import Testing

/// An object of typed fields, as an item store would keep it.
private struct Thing {
    var name: String
    var note: String?
    var value: Int64
    var date: Double?
    var extra: PropertyListValue?
    var tags: PropertyListValue?

    func field(_ key: String) -> PropertyListValue? {
        switch key {
        case "name": .string(name)
        case "note": note.map { .string($0) }
        case "value": .integer(value)
        case "date": date.map { .date(PropertyListDate(secondsSinceReferenceDate: $0)) }
        case "extra": extra
        case "tags": tags
        default: nil
        }
    }

    static func accessor(_ key: String) -> PredicateAccessor<Thing> {
        switch key {
        case "name": .string { $0.name }
        case "note":
            .utf8 { thing, body in
                guard let note = thing.note else { return body(nil) }
                return Array(note.utf8).withUnsafeBufferPointer { body($0) }
            }
        case "value": .integer { $0.value }
        case "date": .date { $0.date.map { PropertyListDate(secondsSinceReferenceDate: $0) } }
        case "extra": .value { $0.extra }
        case "tags": .value { $0.tags }
        default: .absent
        }
    }
}

/// What predicates mean, written down once more without any preparation.
private enum Naive {
    typealias Value = PropertyListValue?

    static func holds(_ node: PredicateNode, _ thing: Thing) -> Bool {
        switch node {
        case .constant(let verdict): return verdict
        case .not(let inner): return !holds(inner, thing)
        case .and(let parts): return !parts.map { holds($0, thing) }.contains(false)
        case .or(let parts): return parts.map { holds($0, thing) }.contains(true)
        case .comparison(let comparison):
            let left = value(comparison.left, thing)
            let right = value(comparison.right, thing)
            func test(_ element: Value) -> Bool { compare(element, comparison.operation, right, comparison.options) }
            if comparison.modifier == .direct { return test(left) }
            guard let elements = left == nil ? [] : elements(left) else { return comparison.modifier == .none }
            let verdicts = elements.map(test)
            switch comparison.modifier {
            case .any: return verdicts.contains(true)
            case .all: return !verdicts.contains(false)
            default: return !verdicts.contains(true)
            }
        }
    }

    static func value(_ expression: FormatExpression, _ thing: Thing) -> Value {
        switch expression {
        case .constant(let value): return value == .null ? nil : value
        case .keyPath(let path): return thing.field(path.field).flatMap { $0 == .null ? nil : $0 }
        case .aggregate(let elements): return .array(elements.map { value($0, thing) ?? .null })
        case .negated(let operand): return number(value(operand, thing)).map { plain(-$0, value(operand, thing)) }
        case .arithmetic(let left, let operation, let right):
            let (first, second) = (value(left, thing), value(right, thing))
            if operation == .subtract, case .date(let a)? = first, case .date(let b)? = second {
                return .real(a.secondsSinceReferenceDate - b.secondsSinceReferenceDate)
            }
            if case .date(let date)? = first, let seconds = number(second), operation == .add || operation == .subtract
            {
                let sign: Double = operation == .add ? 1 : -1
                return .date(.init(secondsSinceReferenceDate: date.secondsSinceReferenceDate + sign * seconds))
            }
            if case .date(let date)? = second, let seconds = number(first), operation == .add {
                return .date(.init(secondsSinceReferenceDate: date.secondsSinceReferenceDate + seconds))
            }
            guard let a = number(first), let b = number(second) else { return nil }
            let result = operation == .add ? a + b : operation == .subtract ? a - b : a * b
            return isReal(first) || isReal(second) ? .real(result) : .integer(Int64(result))
        default: return nil
        }
    }

    static func plain(_ number: Double, _ like: Value) -> PropertyListValue {
        isReal(like) ? .real(number) : .integer(Int64(number))
    }

    static func isReal(_ value: Value) -> Bool {
        if case .real? = value { true } else { false }
    }

    static func number(_ value: Value) -> Double? {
        switch value {
        case .integer(let number)?: Double(number)
        case .real(let number)?: number
        case .boolean(let flag)?: flag ? 1 : 0
        default: nil
        }
    }

    static func elements(_ value: Value) -> [Value]? {
        switch value {
        case .array(let elements)?, .set(let elements)?: elements.map { $0 == .null ? nil : $0 }
        default: nil
        }
    }

    static func fold(_ text: String, _ options: PredicateOptions) -> String {
        if options.isEmpty { return text }
        var folded = canonicallyDecomposed(text)
        if options.contains(.diacriticInsensitive) {
            folded = String(
                String.UnicodeScalarView(folded.unicodeScalars.filter { !(0x300...0x36F).contains($0.value) }))
        }
        return options.contains(.caseInsensitive) ? folded.uppercased().lowercased() : folded
    }

    static func order(_ left: Value, _ right: Value, _ options: PredicateOptions) -> Int? {
        func sign<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }
        if let a = number(left), let b = number(right) { return sign(a, b) }
        if case .string(let a)? = left, case .string(let b)? = right {
            let first = fold(a, options).unicodeScalars.map(\.value)
            let second = fold(b, options).unicodeScalars.map(\.value)
            return first == second ? 0 : first.lexicographicallyPrecedes(second) ? -1 : 1
        }
        func seconds(_ value: Value) -> Double? {
            if case .date(let date)? = value { return date.secondsSinceReferenceDate }
            guard case .string(let text)? = value, text.wholeMatch(of: /2001-01-0[1-9]/) != nil else { return nil }
            return Double(text.suffix(1)).map { ($0 - 1) * 86_400 }
        }
        if let a = seconds(left), let b = seconds(right) { return sign(a, b) }
        return nil
    }

    static func equal(_ left: Value, _ right: Value, _ options: PredicateOptions) -> Bool {
        if left == nil || right == nil { return left == nil && right == nil }
        if case .array(let a)? = left, case .array(let b)? = right {
            return a.count == b.count
                && zip(elements(.array(a)) ?? [], elements(.array(b)) ?? []).allSatisfy { equal($0, $1, options) }
        }
        return order(left, right, options) == 0
    }

    static func compare(
        _ left: Value, _ operation: PredicateOperator, _ right: Value, _ options: PredicateOptions
    ) -> Bool {
        switch operation {
        case .equal: return equal(left, right, options)
        case .notEqual: return !equal(left, right, options)
        case .lessThan: return order(left, right, options).map { $0 < 0 } ?? false
        case .lessThanOrEqual: return order(left, right, options).map { $0 <= 0 } ?? false
        case .greaterThan: return order(left, right, options).map { $0 > 0 } ?? false
        case .greaterThanOrEqual: return order(left, right, options).map { $0 >= 0 } ?? false
        case .between:
            guard let bounds = elements(right), bounds.count == 2 else { return false }
            return compare(left, .greaterThanOrEqual, bounds[0], options)
                && compare(left, .lessThanOrEqual, bounds[1], options)
        case .in: return compare(right, .contains, left, options)
        case .contains:
            if let elements = elements(left) { return elements.contains { equal($0, right, options) } }
            return texts(left, right, options) { text, piece in
                (0...text.count).contains { place in stands(piece, in: text, at: place, options) }
            }
        case .beginsWith: return texts(left, right, options) { text, piece in stands(piece, in: text, at: 0, options) }
        case .endsWith: return texts(left, right, options) { text, piece in text.suffix(piece.count) == piece[...] }
        case .like:
            guard case .string(let text)? = left, case .string(let pattern)? = right else { return false }
            return like(Array(fold(text, options))[...], Array(fold(pattern, options))[...])
        case .matches: return false
        }
    }

    static func texts(
        _ left: Value, _ right: Value, _ options: PredicateOptions, _ test: ([Unicode.Scalar], [Unicode.Scalar]) -> Bool
    ) -> Bool {
        guard case .string(let text)? = left, case .string(let piece)? = right else { return false }
        return test(Array(fold(text, options).unicodeScalars), Array(fold(piece, options).unicodeScalars))
    }

    static func stands(
        _ piece: [Unicode.Scalar], in text: [Unicode.Scalar], at place: Int, _ options: PredicateOptions
    ) -> Bool {
        guard place + piece.count <= text.count, text[place..<place + piece.count] == piece[...] else { return false }
        guard !options.isEmpty, !piece.isEmpty, place + piece.count < text.count else { return true }
        return text[place + piece.count].properties.canonicalCombiningClass == .notReordered
    }

    static func like(_ text: ArraySlice<Character>, _ pattern: ArraySlice<Character>) -> Bool {
        guard let wanted = pattern.first else { return text.isEmpty }
        if wanted == "*" {
            return like(text, pattern.dropFirst()) || (!text.isEmpty && like(text.dropFirst(), pattern))
        }
        guard let first = text.first, wanted == "?" || Array(first.utf8) == Array(wanted.utf8) else { return false }
        return like(text.dropFirst(), pattern.dropFirst())
    }
}

private struct Generator {
    var random: SplitMix

    mutating func text() -> String {
        if random.below(6) == 0 { return "2001-01-0\(1 + random.below(4))" }
        let pieces = [
            "a", "A", "b", "B", "é", "É", "e\u{301}", "e", "ß", "ss", "Σ", "ς", " ", "k", "\u{212A}", "ab",
            "aaaaaaaaaab",
        ]
        return (0..<random.below(6)).map { _ in random.pick(pieces) }.joined()
    }

    mutating func scalar() -> PropertyListValue {
        switch random.below(8) {
        case 0: .null
        case 1: .boolean(random.below(2) == 0)
        case 2, 3: .integer(Int64(random.below(7)) - 3)
        case 4: .real(Double(random.below(13)) / 2 - 3)
        case 5: .date(PropertyListDate(secondsSinceReferenceDate: Double(random.below(4)) * 86_400))
        default: .string(text())
        }
    }

    mutating func collection(_ count: Int? = nil) -> PropertyListValue {
        let count = count ?? random.below(4)
        return .array((0..<count).map { _ in scalar() })
    }

    mutating func thing() -> Thing {
        Thing(
            name: text(), note: random.below(4) == 0 ? nil : text(), value: Int64(random.below(7)) - 3,
            date: random.below(4) == 0 ? nil : Double(random.below(4)) * 86_400,
            extra: random.below(6) == 0 ? nil : random.below(5) == 0 ? collection() : scalar(),
            tags: random.below(6) == 0 ? nil : collection())
    }

    mutating func expression(_ depth: Int) -> FormatExpression {
        switch random.below(12) {
        case 0..<7: return .keyPath(.init(random.pick(["name", "note", "value", "date", "extra", "tags", "missing"])))
        case 7..<10: return .constant(scalar())
        case 10 where depth > 0:
            return .arithmetic(expression(depth - 1), random.pick([.add, .subtract, .multiply]), expression(depth - 1))
        default: return depth > 0 ? .negated(expression(depth - 1)) : .constant(collection())
        }
    }

    mutating func comparison() -> PredicateNode {
        let operation = random.pick(PredicateOperator.allCases.filter { $0 != .matches })
        let left = expression(2)
        var right = random.below(3) == 0 ? expression(2) : .constant(scalar())
        switch operation {
        case .between:
            right = random.below(2) == 0 ? .constant(collection(2)) : .aggregate([expression(1), expression(1)])
        case .in where random.below(4) > 0: right = .constant(collection())
        case .beginsWith, .endsWith, .contains: if random.below(3) > 0 { right = .constant(.string(text())) }
        case .like:
            let pieces = ["*", "?", text(), text()]
            right = .constant(.string((0..<random.below(5)).map { _ in random.pick(pieces) }.joined()))
        default: break
        }
        let options: PredicateOptions = random.pick([
            [], [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
        ])
        let modifier = random.pick([PredicateComparison.Modifier.direct, .direct, .direct, .any, .all, .none])
        return .comparison(.init(left, operation, right, options: options, modifier: modifier))
    }

    mutating func node(_ depth: Int) -> PredicateNode {
        switch depth > 0 ? random.below(6) : 5 {
        case 0: return .not(node(depth - 1))
        case 1: return .and((0..<random.below(4)).map { _ in node(depth - 1) })
        case 2: return .or((0..<random.below(4)).map { _ in node(depth - 1) })
        default: return comparison()
        }
    }
}

@Suite("Predicates: against a naive evaluator")
struct PredicatePropertyTests {
    @Test(
        "Random trees judge random objects alike, interpreted, compiled, and read back from their text",
        arguments: 0..<8)
    func alike(seed: UInt64) throws {
        var generator = Generator(random: SplitMix(state: seed))
        var readBack = 0
        for _ in 0..<600 {
            let node = generator.node(3)
            let predicate = FormatPredicate(node)
            let compiled: (Thing) -> Bool = predicate.compiled(accessors: Thing.accessor)
            var again: FormatPredicate?
            do {
                again = try FormatPredicate(format: predicate.format)
                readBack += 1
            } catch {
                // Only what can never hold may be refused.
                #expect(error.code == .typeMismatch, "\(error)")
            }
            if let again { #expect(try FormatPredicate(format: again.format) == again) }
            for _ in 0..<8 {
                let thing = generator.thing()
                let expected = Naive.holds(node, thing)
                #expect(predicate.evaluate(thing.field) == expected, "\(predicate) of \(thing)")
                #expect(compiled(thing) == expected, "compiled \(predicate) of \(thing)")
                if let again {
                    #expect(again.evaluate(thing.field) == expected, "\(predicate) read as \(again) of \(thing)")
                }
            }
            let constraints = predicate.indexableConstraints
            #expect(Set(constraints.map(\.field)).isSubset(of: predicate.fields))
        }
        #expect(readBack > 50)
    }
}
