package import PropertyList

/// Why a comparison or a computation has no answer for an object: a value of a kind that it does not take.
package struct PredicateFault: Error, Hashable {
    package enum Reason: Hashable, Sendable {
        /// The value is of this kind.
        case kind(PredicateKind)
        /// It is a collection with an element of this kind, which is not computed with, or not compared with the others.
        case element(PredicateKind)
        /// It is a number with a fraction, where whole numbers are computed with.
        case fraction
        /// A function has no value there: the square root of -1, a text that is not a number.
        case undefined
        /// A division by 0. Only computations have this fault: a comparison with their result is one with nil.
        case zero
        /// The result is beyond all numbers. Only computations have this fault, as well.
        case overflow
    }

    /// The text of the value: `price`, `dims.w`.
    package let subject: String
    package let reason: Reason

    /// Whether the value, or an element of it, is of a kind that is not taken.
    package var isOfKind: Bool {
        switch reason {
        case .kind, .element: true
        case .fraction, .undefined, .zero, .overflow: false
        }
    }

    /// The reason, for users, after the subject: `is text`.
    package var text: String {
        switch reason {
        case .kind(let kind): "is \(kind.named)"
        case .element(let kind): "contains \(kind.named)"
        case .fraction: "is not a whole number"
        case .undefined: "is undefined"
        case .zero: "is 0"
        case .overflow: "is beyond all numbers"
        }
    }
}

/// Evaluates conditions in three values: a comparison is undecided for values of kinds that it does not compare. A
/// joined condition is undecided only where the undecided part matters.
///
/// It tells what the ordinary evaluation, in which such a comparison is false, leaves out. It is slower.
package struct PredicateAudit {
    private let lookup: (String) -> PropertyListValue?
    private var references: PredicateReferences
    private var elements: PropertyListFields = [:]
    /// The undecided comparisons so far, and their faults.
    package private(set) var undecided: [(comparison: PredicateComparison, fault: PredicateFault)] = []

    package init(
        references: PredicateReferences = .none, lookup: @escaping (String) -> PropertyListValue?
    ) { (self.lookup, self.references) = (lookup, references) }

    // MARK: Conditions

    /// Whether a condition holds; nil if it is undecided.
    package mutating func verdict(_ node: PredicateNode) -> Bool? {
        switch node {
        case .constant(let verdict): return verdict
        case .not(let inner): return verdict(inner).map { !$0 }
        case .and(let parts): return joined(parts, decisive: false)
        case .or(let parts): return joined(parts, decisive: true)
        case .comparison(let comparison): return verdict(comparison)
        }
    }

    /// The verdict of several conditions, of which one `decisive` is enough.
    package mutating func joined(_ parts: [PredicateNode], decisive: Bool) -> Bool? {
        var isUndecided = false
        for part in parts {
            let verdict = verdict(part)
            if verdict == decisive { return decisive }
            if verdict == nil { isUndecided = true }
        }
        return isUndecided ? nil : !decisive
    }

    private mutating func verdict(_ comparison: PredicateComparison) -> Bool? {
        func side(_ expression: FormatExpression) throws(PredicateFault) -> PropertyListValue? {
            do throws(PredicateFault) { return try value(expression) } catch {
                if error.reason == .zero || error.reason == .overflow { return nil }
                throw error
            }
        }
        do throws(PredicateFault) {
            let left = try side(comparison.left)
            let right = try side(comparison.right)
            if let fault = Self.fault(comparison, left, right) { throw fault }
            return comparison.holds(left, right)
        } catch {
            undecided.append((comparison, error))
            return nil
        }
    }

    private static func fault(
        _ comparison: PredicateComparison, _ left: PropertyListValue?, _ right: PropertyListValue?
    ) -> PredicateFault? {
        guard let left, left != .null else { return nil }
        if comparison.modifier != .direct {
            return left.predicateElements == nil ? fault(comparison.left, left) : nil
        }
        guard let right, right != .null else { return nil }
        /// The side that is not a constant, the left one of two.
        var either: PredicateFault {
            if case .constant = comparison.left { return fault(comparison.right, right) }
            return fault(comparison.left, left)
        }
        switch comparison.operation {
        case .notEqual: return nil
        case .equal: return areComparable(left, right) ? nil : either
        case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
            return areComparable(left, right, ordered: true) ? nil : either
        case .between:
            guard case .array(let bounds) = right else { return fault(comparison.right, right) }
            let areFit = bounds.allSatisfy { $0 == .null || areComparable(left, $0, ordered: true) }
            return areFit ? nil : fault(comparison.left, left)
        case .in: return containmentFault(right, left, fault(comparison.right, right), fault(comparison.left, left))
        case .contains:
            return containmentFault(left, right, fault(comparison.left, left), fault(comparison.right, right))
        case .beginsWith, .endsWith, .like, .matches:
            guard left.text != nil else { return fault(comparison.left, left) }
            guard right.text != nil else { return fault(comparison.right, right) }
            return nil
        }
    }

    private static func containmentFault(
        _ whole: PropertyListValue, _ part: PropertyListValue, _ ofWhole: PredicateFault, _ ofPart: PredicateFault
    ) -> PredicateFault? {
        if whole.text != nil { return part.text == nil ? ofPart : nil }
        guard let elements = whole.predicateElements else { return ofWhole }
        let isFit = elements.isEmpty || elements.contains { $0 == .null || areComparable(part, $0) }
        return isFit ? nil : ofPart
    }

    /// Whether two values are of kinds that are compared: one kind, or a date and the text of one.
    private static func areComparable(
        _ left: PropertyListValue, _ right: PropertyListValue, ordered: Bool = false
    ) -> Bool {
        let (first, second) = (PredicateKind(of: left), PredicateKind(of: right))
        if first == second { return !ordered || first == .number || first == .string || first == .date }
        guard Set([first, second]) == [.date, .string] else { return false }
        return left.predicateDate != nil && right.predicateDate != nil
    }

    // MARK: Values

    /// The value of an expression.
    package mutating func value(_ expression: FormatExpression) throws(PredicateFault) -> PropertyListValue? {
        switch expression {
        case .constant(let value): return value == .null ? nil : value
        case .keyPath(let path):
            let start = lookup(path.field)
            if let follow = references.follower(of: expression) { return follow(start) }
            return try Self.follow(path.rest, from: start, named: path.field)
        case .property(let base, let keys):
            let start = try value(base)
            if let follow = references.follower(of: expression) { return follow(start) }
            return try Self.follow(keys, from: start, named: "\(base)")
        case .aggregate(let elements):
            var values: [PropertyListValue] = []
            for element in elements { values.append(try value(element) ?? .null) }
            return .array(values)
        case .negated(let operand):
            guard let number = try value(operand) else { return nil }
            guard PredicateNumber(number) != nil else { throw Self.fault(operand, number) }
            return PredicateArithmetic.negated(number)
        case .arithmetic(let left, let operation, let right):
            guard let first = try value(left), let second = try value(right) else { return nil }
            if let result = operation.apply(first, second) { return result }
            throw Self.fault(expression, left, first, operation, right, second)
        case .element(let base, let index):
            guard let collection = try value(base) else { return nil }
            guard collection.predicateElements != nil else { throw Self.fault(base, collection) }
            var position: PropertyListValue?
            if let expression = index.position { position = try value(expression) }
            return PredicateEvaluator.element(of: collection, index, position: position)
        case .function(let function, let arguments): return try value(function, arguments, expression)
        case .conditional(let condition, let first, let second):
            let count = undecided.count
            guard let isFirst = verdict(condition) else {
                let fault = undecided[undecided.count - 1].fault
                undecided.removeLast(undecided.count - count)
                throw fault
            }
            return try value(isFirst ? first : second)
        case .subquery(let collection, let name, let condition):
            guard let source = try value(collection) else { return nil }
            guard let all = source.predicateElements else { throw Self.fault(collection, source) }
            var inner = self
            inner.references = references.binding(name, to: collection)
            return .array(
                all.filter { element in
                    if Interruption.isDueAtStep { return false }
                    inner.elements[name] = element == .null ? nil : element
                    return inner.verdict(condition) ?? false
                })
        case .local(let name): return elements[name]
        }
    }

    private mutating func value(
        _ function: PredicateFunction, _ arguments: [FormatExpression], _ call: FormatExpression
    ) throws(PredicateFault) -> PropertyListValue? {
        var values: [PropertyListValue?] = []
        for (index, argument) in arguments.enumerated() {
            let value = try value(argument)
            if let value, !function.takes(PredicateKind(of: value), at: index) { throw Self.fault(argument, value) }
            values.append(value)
        }
        if let result = function.apply(values) { return result }
        switch function {
        case .sum, .average, .median, .stddev, .min, .max:
            let areNumbers = function != .min && function != .max
            let odd = PredicateKeyValueCoding.oddKind(
                among: PredicateFunction.computed(values), areNumbers: areNumbers)
            guard let odd else { return nil }
            let subject = arguments.count == 1 ? arguments[0] : call
            throw PredicateFault(subject: subject.excerpt, reason: .element(odd))
        case .mode, .count, .now, .length, .lowercase, .uppercase, .abs, .floor, .ceiling, .trunc:
            return nil
        case .onesComplement:
            if values[0] == nil { return nil }
            throw PredicateFault(subject: arguments[0].excerpt, reason: .fraction)
        case .cast, .inZone, .sqrt, .exp, .ln, .log, .random, .method:
            if values.contains(nil) { return nil }
            throw PredicateFault(subject: call.excerpt, reason: .undefined)
        }
    }

    private static func fault(_ expression: FormatExpression, _ value: PropertyListValue) -> PredicateFault {
        PredicateFault(subject: expression.excerpt, reason: .kind(PredicateKind(of: value)))
    }

    /// The fault of an operation without a result.
    private static func fault(
        _ whole: FormatExpression, _ left: FormatExpression, _ first: PropertyListValue,
        _ operation: PredicateArithmetic, _ right: FormatExpression, _ second: PropertyListValue
    ) -> PredicateFault {
        let numbers = (PredicateNumber(first), PredicateNumber(second))
        guard let divisor = numbers.1, let number = numbers.0 else {
            // Of a date and a number in a wrong place, the date.
            return numbers.0 == nil ? fault(left, first) : fault(right, second)
        }
        if operation.takesWholeNumbers, number.whole == nil || divisor.whole == nil {
            return PredicateFault(subject: (number.whole == nil ? left : right).excerpt, reason: .fraction)
        }
        let isDivision = operation == .divide || operation == .modulus
        return isDivision && divisor.asDouble == 0
            ? PredicateFault(subject: right.excerpt, reason: .zero)
            : PredicateFault(subject: whole.excerpt, reason: .overflow)
    }

    /// The value at the end of a path.
    private static func follow(
        _ keys: [String], from start: PropertyListValue?, named name: String
    ) throws(PredicateFault) -> PropertyListValue? {
        var (value, subject) = (start, name)
        for (place, key) in keys.enumerated() {
            guard let current = value, current != .null else { return nil }
            let kind = PredicateKind(of: current)
            if kind == .collection {
                let rest = Array(keys[place...])
                if let odd = PredicateKeyValueCoding.oddKind(current, rest) {
                    throw PredicateFault(subject: subject, reason: .element(odd))
                }
                return PredicateKeyValueCoding.value(current, rest)
            }
            guard !key.hasPrefix("@"), kind == .unknown || PredicateProperty.exists(key, of: kind) else {
                throw PredicateFault(subject: subject, reason: .kind(kind))
            }
            value = PredicateKeyValueCoding.value(current, [key])
            subject += "." + key
        }
        return value
    }
}

/// What is at the end of a path in many objects.
package struct PredicatePathSummary: Sendable {
    /// The kinds of the values there, without nil.
    package private(set) var kinds: Set<PredicateKind> = []
    /// The kinds of values on the way that have no property of the path's name, and that name.
    package private(set) var lacking: [PredicateKind: String] = [:]
    /// Whether some object has something there, be it nil.
    package private(set) var exists = false
    /// Whether a dictionary on the way lacks the key, and the keys that it has.
    package private(set) var isMissing = false
    package private(set) var otherNames: Set<ExactText> = []

    package init() {}

    /// Adds a kind of a value at the end.
    package mutating func record(_ kind: PredicateKind) {
        exists = true
        kinds.insert(kind)
    }

    /// Adds the value of an object's field, and follows the keys after it.
    package mutating func add(_ value: PropertyListValue?, _ keys: [String]) { add(value, keys[...], 0) }

    private mutating func add(_ value: PropertyListValue?, _ keys: ArraySlice<String>, _ depth: Int) {
        guard let value, value != .null else { return }
        let kind = PredicateKind(of: value)
        guard let key = keys.first else {
            return record(kind)
        }
        let rest = keys.dropFirst()
        switch value {
        case .dictionary(let fields) where !key.hasPrefix("@"):
            guard let next = fields[key] ?? (key == "self" ? value : nil) else {
                isMissing = true
                if otherNames.count < 64 { otherNames.formUnion(fields.textEntries.keys.lazy.map { ExactText($0) }) }
                return
            }
            if next == .null { exists = true }
            add(next, rest, depth)
        case .array(let elements) where !key.hasPrefix("@"), .set(let elements) where !key.hasPrefix("@"):
            guard depth < 64 else { return }
            if elements.isEmpty { exists = true }
            var inner = PredicatePathSummary()
            for element in elements where !Interruption.isDueAtStep { inner.add(element, keys, depth + 1) }
            // What the elements have is an array of it, whatever its kinds.
            if inner.exists { kinds.insert(.collection) }
            exists = exists || inner.exists
            isMissing = isMissing || inner.isMissing
            otherNames.formUnion(inner.otherNames)
            if !inner.exists { lacking.merge(inner.lacking) { first, _ in first } }
        default:
            if kind == .collection || kind == .unknown {
                exists = true
                if let found = PredicateKeyValueCoding.value(value, Array(keys)) {
                    kinds.insert(PredicateKind(of: found))
                }
            } else if !key.hasPrefix("@"), PredicateProperty.exists(key, of: kind) {
                exists = exists || rest.isEmpty
                add(PredicateKeyValueCoding.value(value, [key]), rest, depth)
            } else {
                lacking[kind] = key
            }
        }
    }
}
