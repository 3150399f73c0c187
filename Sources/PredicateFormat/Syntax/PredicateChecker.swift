import PropertyList

/// Finds comparisons that no values can satisfy and computations that no values have, as far as kinds are known. A
/// comparison of unknown kinds passes.
struct PredicateChecker {
    struct Problem {
        let code: FormatPredicateError.Code
        let message: String
        /// Whether the right side is at fault.
        var isRight = false
        /// The part of a computation that is at fault.
        var operand: FormatExpression?
        var suggestions: [String] = []
    }

    /// Whether a comparison of a date with text is found as well, which may not be the text of a date.
    var doubtsDates = false
    /// The kind at the end of a path; unknown when it is not known before evaluation.
    let kindOfPath: (PredicateKeyPath) -> PredicateKind

    /// The first such comparison of a tree, and its problem.
    func firstProblem(in node: PredicateNode) -> (comparison: PredicateComparison, problem: Problem)? {
        for comparison in node.comparisons {
            if let problem = firstProblem(of: comparison) { return (comparison, problem) }
        }
        return nil
    }

    /// The first problem of a comparison: of a side, or of the two together.
    func firstProblem(of comparison: PredicateComparison) -> Problem? {
        problem(of: comparison.left) ?? problem(of: comparison.right) ?? problem(in: comparison)
    }

    // MARK: Computations

    private func kind(of expression: FormatExpression) -> PredicateKind {
        PredicateKind(of: expression, kindOfPath: kindOfPath)
    }

    /// The first part of an expression that has no value, because an operand is of a kind that it does not take.
    func problem(of expression: FormatExpression) -> Problem? {
        switch expression {
        case .constant, .local: return nil
        case .keyPath(let path):
            guard let key = path.rest.first, !path.isSelf else { return nil }
            return Self.propertyProblem(key, of: kindOfPath(PredicateKeyPath(path.field)))
        case .property(let base, let keys):
            if let problem = problem(of: base) { return problem }
            return keys.first.flatMap { Self.propertyProblem($0, of: kind(of: base)) }
        case .negated(let operand):
            return problem(of: operand) ?? operandProblem("-", operand, takesDates: false)
        case .arithmetic(let left, let operation, let right):
            let takesDates = operation == .add || operation == .subtract
            return problem(of: left) ?? problem(of: right)
                ?? operandProblem(operation.rawValue, left, takesDates: takesDates)
                ?? operandProblem(operation.rawValue, right, takesDates: takesDates)
        case .element(let base, .index(let index)): return problem(of: base) ?? problem(of: index)
        case .element(let base, _): return problem(of: base)
        case .aggregate(let elements): return elements.lazy.compactMap(problem).first
        case .function(let function, let arguments):
            if let problem = arguments.lazy.compactMap(problem).first { return problem }
            for (index, argument) in arguments.enumerated() where !function.takes(kind(of: argument), at: index) {
                return mismatch(
                    "\(function.rawValue) does not take \(kind(of: argument).named), which \(argument.excerpt) is",
                    isRight: false)
            }
            return nil
        case .conditional(let condition, let first, let second):
            return firstProblem(in: condition)?.problem ?? problem(of: first) ?? problem(of: second)
        case .subquery(let collection, _, let condition):
            return problem(of: collection) ?? firstProblem(in: condition)?.problem
        }
    }

    private func operandProblem(_ operation: String, _ operand: FormatExpression, takesDates: Bool) -> Problem? {
        let kind = kind(of: operand)
        if kind.isComputable, takesDates || kind != .date { return nil }
        var problem = mismatch("\(operation) takes numbers, and \(operand.excerpt) is \(kind.named)", isRight: false)
        problem.operand = operand
        return problem
    }

    /// The problem of a property that values of a kind do not have.
    static func propertyProblem(_ key: String, of kind: PredicateKind) -> Problem? {
        switch kind {
        case .unknown, .absent, .collection: return nil
        case .string, .number, .date, .data: break
        }
        if key.hasPrefix("@") {
            return Problem(code: .typeMismatch, message: "\(key) takes a collection, not \(kind.named)")
        }
        if PredicateProperty.exists(key, of: kind) { return nil }
        let known = PredicateProperty.all(of: kind).map(\.rawValue)
        let names = NearestNames.nearest(to: key, among: known)
        return Problem(
            code: .unknownField, message: "\(kind.named) has no property \(key)\(NearestNames.suggestion(names))",
            suggestions: names)
    }

    // MARK: Comparisons

    func problem(in comparison: PredicateComparison) -> Problem? {
        let right = PredicateKind(of: comparison.right, kindOfPath: kindOfPath)
        var left = PredicateKind(of: comparison.left, kindOfPath: kindOfPath)
        if comparison.modifier != .direct {
            let word = comparison.modifier.rawValue
            switch left {
            case .unknown, .absent, .collection: left = .unknown
            default: return mismatch("\(word) takes a collection, and this is \(left.named)", isRight: false)
            }
        }
        let word = comparison.operation.rawValue
        switch comparison.operation {
        case .beginsWith, .endsWith, .like, .matches:
            return textProblem(comparison, left, right)
        case .between:
            return betweenProblem(comparison, left, right)
        case .in:
            if let problem = elementProblem(comparison, left) { return problem }
            return containmentProblem(word, whole: right, part: left, wholeIsRight: true)
        case .contains:
            return containmentProblem(word, whole: left, part: right, wholeIsRight: false)
        case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            for (kind, isRight) in [(left, false), (right, true)] where comparison.operation.isOrdering {
                if kind == .collection || kind == .data {
                    return mismatch("\(word) needs an order, and this is \(kind.named)", isRight: isRight)
                }
            }
            return pairProblem(word, comparison.left, left, comparison.right, right)
        }
    }

    private func mismatch(_ message: String, isRight: Bool) -> Problem {
        Problem(code: .typeMismatch, message: message, isRight: isRight)
    }

    private func textProblem(
        _ comparison: PredicateComparison, _ left: PredicateKind, _ right: PredicateKind
    ) -> Problem? {
        let word = comparison.operation.rawValue
        for (kind, isRight) in [(left, false), (right, true)] where ![.string, .unknown, .absent].contains(kind) {
            return mismatch("\(word) takes text, and this is \(kind.named)", isRight: isRight)
        }
        guard comparison.operation == .matches, case .constant(.string(let pattern)) = comparison.right else {
            return nil
        }
        do {
            _ = try PredicatePattern(pattern, comparison.options)
            return nil
        } catch {
            let message = "the text behind MATCHES is not a regular expression: \(error.reason)"
            return Problem(code: .invalidPattern, message: message, isRight: true)
        }
    }

    private func betweenProblem(
        _ comparison: PredicateComparison, _ left: PredicateKind, _ right: PredicateKind
    ) -> Problem? {
        let bounds: [FormatExpression]
        switch comparison.right {
        case .constant(.array(let values)): bounds = values.map { .constant($0) }
        case .aggregate(let elements): bounds = elements
        default:
            if right == .unknown || right == .absent { return nil }
            return mismatch(
                "BETWEEN takes two bounds in braces, as in {1, 10}, and this is \(right.named)", isRight: true)
        }
        guard bounds.count == 2 else {
            return mismatch("BETWEEN takes two bounds, and these are \(bounds.count)", isRight: true)
        }
        for bound in bounds {
            let kind = PredicateKind(of: bound, kindOfPath: kindOfPath)
            if kind == .collection || kind == .data {
                return mismatch("BETWEEN needs an order, and a bound is \(kind.named)", isRight: true)
            }
            if let problem = pairProblem("BETWEEN", comparison.left, left, bound, kind) { return problem }
        }
        return nil
    }

    private func containmentProblem(
        _ word: String, whole: PredicateKind, part: PredicateKind, wholeIsRight: Bool
    ) -> Problem? {
        switch whole {
        case .unknown, .absent, .collection:
            return nil
        case .string where [.string, .unknown, .absent].contains(part):
            return nil
        case .string:
            return mismatch("text contains only text, and this is \(part.named)", isRight: !wholeIsRight)
        case .number, .date, .data:
            let place = wholeIsRight ? "on its right" : "on its left"
            return mismatch(
                "\(word) takes a collection or text \(place), and this is \(whole.named)", isRight: wholeIsRight)
        }
    }

    /// The problem of a value that is never among constants.
    private func elementProblem(_ comparison: PredicateComparison, _ left: PredicateKind) -> Problem? {
        guard case .constant(.array(let values)) = comparison.right else { return nil }
        var problem: Problem?
        for value in values {
            problem = pairProblem("IN", comparison.left, left, .constant(value), PredicateKind(of: value))
            if problem == nil { return nil }
        }
        return problem
    }

    /// The problem of two sides that are neither comparable nor ordered.
    private func pairProblem(
        _ word: String, _ first: FormatExpression, _ left: PredicateKind, _ second: FormatExpression,
        _ right: PredicateKind
    ) -> Problem? {
        let open: [PredicateKind] = [.unknown, .absent]
        if open.contains(left) || open.contains(right) || left == right { return nil }
        for (kind, other, isRight) in [(left, second, true), (right, first, false)] where kind == .date {
            guard case .constant(.string(let text)) = other else { continue }
            if ISO8601.nearest(text) != nil { return nil }
            return mismatch("a date is compared with ISO 8601 text, and this is none: \(other)", isRight: isRight)
        }
        if Set([left, right]) == [.date, .string], !doubtsDates { return nil }
        return mismatch("\(word) never holds between \(left.named) and \(right.named)", isRight: true)
    }
}
