public import PropertyList

/// Compiles a plan to a closure over objects of one type.
///
/// A comparison of a typed field with a constant becomes a specialised closure. The parts of an `AND` or an `OR` are
/// evaluated in order of their cost if that cannot change the result.
///
/// It is inlinable so that another module's closures are specialised for that module's type.
@usableFromInline
package struct PredicateCompiler<Root> {
    @usableFromInline let accessors: (String) -> PredicateAccessor<Root>

    @inlinable
    package init(accessors: @escaping (String) -> PredicateAccessor<Root>) {
        self.accessors = accessors
    }

    // MARK: Conditions

    @inlinable
    package func condition(_ plan: PredicatePlan) -> (Root) -> Bool {
        switch plan {
        case .constant(let verdict):
            return { _ in verdict }
        case .not(let inner):
            let inner = condition(inner)
            return { !inner($0) }
        case .all(let parts):
            let tests = byCost(parts)
            switch tests.count {
            case 0: return { _ in true }
            case 1: return tests[0]
            case 2:
                let (first, second) = (tests[0], tests[1])
                return { first($0) && second($0) }
            default:
                return { root in
                    for test in tests where !test(root) { return false }
                    return true
                }
            }
        case .any(let parts):
            let tests = byCost(parts)
            switch tests.count {
            case 0: return { _ in false }
            case 1: return tests[0]
            case 2:
                let (first, second) = (tests[0], tests[1])
                return { first($0) || second($0) }
            default:
                return { root in
                    for test in tests where test(root) { return true }
                    return false
                }
            }
        case .test(.keyPath(let path), .direct, let test) where path.rest.isEmpty:
            return field(accessors(path.field), test)
        case .test(let expression, let modifier, let test):
            let value = self.value(expression)
            if modifier == .direct { return { test.holds(value($0)) } }
            return { modifier.holds(value($0), test.holds) }
        case .comparison(let comparison):
            let left = value(comparison.left)
            let right = value(comparison.right)
            return { comparison.holds(left($0), right($0)) }
        }
    }

    @inlinable
    func byCost(_ parts: [PredicatePlan]) -> [(Root) -> Bool] {
        sorted(parts).map(condition)
    }

    /// Sorts parts by cost if their order cannot change the result.
    @inlinable
    package func sorted(_ parts: [PredicatePlan]) -> [PredicatePlan] {
        let priced = parts.enumerated().map { (cost: cost($0.element), index: $0.offset, plan: $0.element) }
        return priced.sorted { ($0.cost, $0.index) < ($1.cost, $1.index) }.map(\.plan)
    }

    /// The estimated cost of a condition, in units of a typed comparison of numbers.
    @inlinable
    func cost(_ plan: PredicatePlan) -> Int {
        switch plan {
        case .constant: return 0
        case .not(let inner): return cost(inner)
        case .all(let parts), .any(let parts): return parts.lazy.map(cost).reduce(0, +)
        case .test(.keyPath(let path), .direct, let test) where path.rest.isEmpty:
            switch accessors(path.field) {
            case .integer, .date: return test.operation == .in ? 4 : 1
            case .absent: return 0
            case .string, .utf8: return Self.cost(ofText: test.operation)
            case .value: return Self.cost(ofText: test.operation) + 8
            }
        case .test(_, _, let test): return 40 + Self.cost(ofText: test.operation)
        case .comparison: return 100
        }
    }

    @inlinable
    static func cost(ofText operation: PredicateOperator) -> Int {
        switch operation {
        case .matches: 50
        case .like: 20
        case .in, .contains: 10
        default: 5
        }
    }

    // MARK: Fields

    @inlinable
    func field(_ accessor: PredicateAccessor<Root>, _ test: PredicateConstantTest) -> (Root) -> Bool {
        let absent = test.whenAbsent
        switch accessor {
        case .string(let read):
            guard let text = test.text else { break }
            if case .contains(let needle) = text {
                return { root in
                    guard let string = read(root) else { return absent }
                    return PredicateFolding.withBytes(string) { needle.isContained(in: $0) }
                }
            }
            return { root in
                guard let string = read(root) else { return absent }
                return PredicateFolding.withBytes(string) { text.holds($0) }
            }
        case .utf8(let read):
            guard let text = test.text else { break }
            if case .contains(let needle) = text {
                return { root in
                    read(root) { bytes in
                        guard let bytes else { return absent }
                        return needle.isContained(in: bytes)
                    }
                }
            }
            return { root in
                read(root) { bytes in
                    guard let bytes else { return absent }
                    return text.holds(bytes)
                }
            }
        case .integer(let read):
            guard let integer = test.integer else { break }
            if case .inside(let range) = integer {
                let (lower, upper) = (range.lowerBound, range.upperBound)
                return { root in
                    guard let number = read(root) else { return absent }
                    return lower <= number && number <= upper
                }
            }
            return { root in
                guard let number = read(root) else { return absent }
                return integer.holds(number)
            }
        case .date(let read):
            guard let date = test.date else { break }
            return { root in
                guard let moment = read(root) else { return absent }
                return date.holds(moment)
            }
        case .value(let read):
            return { test.holds(read($0)) }
        case .absent:
            return { _ in absent }
        }
        let value = accessor.value
        return { test.holds(value($0)) }
    }

    // MARK: Values

    @inlinable
    package func value(_ expression: FormatExpression) -> (Root) -> PropertyListValue? {
        switch expression {
        case .constant(let value):
            let constant = value == .null ? nil : value
            return { _ in constant }
        case .keyPath(let path):
            let read = accessors(path.field).value
            let rest = path.rest
            return rest.isEmpty ? read : { PredicateKeyValueCoding.value(read($0), rest) }
        case .property(let base, let keys):
            let base = value(base)
            return { PredicateKeyValueCoding.value(base($0), keys) }
        case .aggregate(let elements):
            let elements = elements.map(value)
            return { root in .array(elements.map { $0(root) ?? .null }) }
        case .negated(let operand):
            let operand = value(operand)
            return { PredicateArithmetic.negated(operand($0)) }
        case .arithmetic(let left, let operation, let right):
            let (left, right) = (value(left), value(right))
            return { operation.apply(left($0), right($0)) }
        case .element(let base, let index):
            let base = value(base)
            guard case .index(let position) = index else {
                return { root in base(root).flatMap { PredicateEvaluator.element(of: $0, index, position: nil) } }
            }
            let place = value(position)
            return { root in base(root).flatMap { PredicateEvaluator.element(of: $0, index, position: place(root)) } }
        case .function(let function, let arguments):
            let arguments = arguments.map(value)
            return { root in function.apply(arguments.map { $0(root) }) }
        case .conditional(let node, let first, let second):
            let holds = condition(PredicatePlan(node))
            let (first, second) = (value(first), value(second))
            return { holds($0) ? first($0) : second($0) }
        case .subquery(let collection, let name, let node):
            let collection = value(collection)
            let plan = PredicatePlan(node)
            var readers: [ExactText: (Root) -> PropertyListValue?] = [:]
            for field in FormatPredicate.fields(of: node).union([ExactText(PredicateKeyPath.selfKey)]) {
                readers[field] = accessors(field.string).value
            }
            let fields = readers
            return { root in
                PredicateEvaluator { fields[ExactText($0)]?(root) }.satisfying(
                    plan, among: collection(root), named: name)
            }
        case .local:
            // The element of a SUBQUERY is handled above.
            return { _ in nil }
        }
    }
}
