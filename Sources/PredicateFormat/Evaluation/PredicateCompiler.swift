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
    /// The object that a value of a field refers to; nil for a field that refers to none.
    @usableFromInline let target: (_ field: String) -> ((PropertyListValue) -> Root?)?
    /// Whether a field has days, which are the same in every zone.
    @usableFromInline let hasDays: (_ field: String) -> Bool

    @inlinable
    package init(
        accessors: @escaping (String) -> PredicateAccessor<Root>,
        target: @escaping (_ field: String) -> ((PropertyListValue) -> Root?)? = { _ in nil },
        hasDays: @escaping (_ field: String) -> Bool = { _ in false }
    ) {
        (self.accessors, self.target, self.hasDays) = (accessors, target, hasDays)
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
            return { root in tests.allSatisfy { $0(root) } }
        case .any(let parts):
            let tests = byCost(parts)
            return { root in tests.contains { $0(root) } }
        case .test(.keyPath(let path), .direct, let test) where path.rest.isEmpty:
            return field(accessors(path.field), test)
        case .test(let expression, let modifier, let test):
            let value = self.value(expression)
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
            return { root in read(root).map { PredicateFolding.withBytes($0) { text.holds($0) } } ?? absent }
        case .utf8(let read):
            guard let text = test.text else { break }
            return { root in read(root) { bytes in bytes.map { text.holds($0) } ?? absent } }
        case .integer(let read):
            guard let integer = test.integer else { break }
            return { root in read(root).map { integer.holds($0) } ?? absent }
        case .date(let read):
            guard let date = test.date else { break }
            return { root in read(root).map { date.holds($0) } ?? absent }
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
            if rest.isEmpty { return read }
            if let follow = references.follower(of: expression) { return { follow(read($0)) } }
            return { PredicateKeyValueCoding.value(read($0), rest) }
        case .property(let base, let keys):
            let base = value(base)
            if let follow = references.follower(of: expression) { return { follow(base($0)) } }
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
            let position = index.position.map(value)
            return { root in
                base(root).flatMap { PredicateEvaluator.element(of: $0, index, position: position?(root)) }
            }
        case .function(.inZone, let arguments) where isDay(arguments[0]): return value(arguments[0])
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
            let followers = references.followers(in: expression)
            return { root in
                PredicateEvaluator(followers: followers) { fields[ExactText($0)]?(root) }.satisfying(
                    plan, among: collection(root), named: name)
            }
        case .local:
            // The element of a SUBQUERY is handled above.
            return { _ in nil }
        }
    }

    @inlinable
    func isDay(_ expression: FormatExpression) -> Bool {
        if case .keyPath(let path) = expression { path.rest.isEmpty && hasDays(path.field) } else { false }
    }

    // MARK: References

    /// What paths do that lead to other objects.
    @usableFromInline
    package var references: PredicateReferences {
        PredicateReferences(isReference: { target($0) != nil }, follower: follower)
    }

    /// Reads keys of the objects that a field's values refer to.
    func follower(_ field: String, _ keys: [String]) -> PredicateReferences.Follower? {
        guard let key = keys.first, let target = target(field) else { return nil }
        let rest = Array(keys.dropFirst())
        if key.hasPrefix("@") {
            // An operator computes with what the keys behind it have of each object.
            guard let read = follower(field, rest) else { return nil }
            return { PredicateKeyValueCoding.value(read($0), [key]) }
        }
        let read = value(.keyPath(PredicateKeyPath(key, rest)))
        return { value in
            if case .array(let ids) = value { return .array(ids.compactMap { target($0).flatMap(read) }) }
            return value.flatMap(target).flatMap(read)
        }
    }
}

/// Fields whose values refer to other objects, and what paths have that lead to these: `owner.name`, `owners.@max.age`,
/// `owners[0].name`, `$owner.name` within `SUBQUERY(owners, $owner, …)`.
@usableFromInline
package struct PredicateReferences {
    /// Reads keys of what a value refers to, from the value.
    @usableFromInline package typealias Follower = (PropertyListValue?) -> PropertyListValue?

    /// Whether a field's values refer to objects.
    private let isReference: (String) -> Bool
    /// Of a field and keys; nil for a field that refers to none, and keys that do not lead on, such as `@count`.
    private let follower: (_ field: String, _ keys: [String]) -> Follower?
    /// The fields that the elements of the enclosing `SUBQUERY`s are values of, by the elements' names.
    private var locals: NameTable<String> = [:]

    /// Those of objects without references.
    package static var none: PredicateReferences { PredicateReferences(isReference: { _ in false }) { _, _ in nil } }

    @usableFromInline
    init(
        isReference: @escaping (String) -> Bool, follower: @escaping (_ field: String, _ keys: [String]) -> Follower?
    ) {
        (self.isReference, self.follower) = (isReference, follower)
    }

    /// What reads an expression's keys, from the value of its field or base, if that refers to other objects.
    @usableFromInline
    package func follower(of expression: FormatExpression) -> Follower? {
        switch expression {
        case .keyPath(let path): follower(path.field, path.rest)
        case .property(let base, let keys): field(of: base).flatMap { follower($0, keys) }
        default: nil
        }
    }

    /// The same for all expressions within one.
    @usableFromInline
    func followers(in expression: FormatExpression) -> [FormatExpression: Follower] {
        var all: [FormatExpression: Follower] = [:]
        all[expression] = follower(of: expression)
        if case .subquery(let collection, let name, let node) = expression {
            let inner = binding(name, to: collection)
            for side in node.sides { all.merge(inner.followers(in: side)) { first, _ in first } }
        }
        for operand in expression.operands { all.merge(followers(in: operand)) { first, _ in first } }
        return all
    }

    /// The references within the condition of a `SUBQUERY`.
    func binding(_ name: String, to collection: FormatExpression) -> PredicateReferences {
        var inner = self
        inner.locals[name] = field(of: collection)
        return inner
    }

    /// The field that an expression's value, or its elements, is one of, if that refers to objects.
    private func field(of expression: FormatExpression) -> String? {
        switch expression {
        case .keyPath(let path): field(behind: path.rest, path.field)
        case .property(let base, let keys): field(of: base).flatMap { field(behind: keys, $0) }
        case .element(_, .size): nil
        case .element(let base, _): field(of: base)
        case .subquery(let collection, _, _): field(of: collection)
        case .local(let name): locals[name]
        default: nil
        }
    }

    private func field(behind keys: [String], _ start: String) -> String? {
        var field = start
        for key in keys where key != "self" {
            guard isReference(field) else { return nil }
            field = key
        }
        return isReference(field) ? field : nil
    }
}

/// Reads one field of an object for a compiled predicate, in the field's own type.
///
/// The typed cases avoid a `PropertyListValue` for each value.
public enum PredicateAccessor<Root> {
    /// Text, or nil.
    case string((Root) -> String?)
    /// Calls a function once with the UTF-8 bytes of a text, or with nil, and returns its result. For text that is not
    /// stored as a `String`. The bytes are valid only during the call.
    case utf8((Root, (UnsafeBufferPointer<UInt8>?) -> Bool) -> Bool)
    /// An integer, or nil.
    case integer((Root) -> Int64?)
    /// A date, or nil.
    case date((Root) -> PropertyListDate?)
    /// A value of any kind, or nil.
    case value((Root) -> PropertyListValue?)
    /// A field that no object has: always nil.
    case absent

    /// The field's value, boxed.
    @inlinable
    var value: (Root) -> PropertyListValue? {
        switch self {
        case .string(let read):
            return { read($0).map { .string($0) } }
        case .utf8(let read):
            return { root in
                var text: String?
                _ = read(root) { bytes in
                    text = bytes.map { String(decoding: $0, as: UTF8.self) }
                    return true
                }
                return text.map { .string($0) }
            }
        case .integer(let read):
            return { read($0).map { .integer($0) } }
        case .date(let read):
            return { read($0).map { .date($0) } }
        case .value(let read):
            return read
        case .absent:
            return { _ in nil }
        }
    }
}

/// A tree prepared for evaluation: constants are on the right, as tests, and expressions are compiled once.
@usableFromInline
package indirect enum PredicatePlan: Sendable {
    case constant(Bool)
    case all([PredicatePlan])
    case any([PredicatePlan])
    case not(PredicatePlan)
    /// An expression and the test of its value.
    case test(FormatExpression, PredicateComparison.Modifier, PredicateConstantTest)
    /// Both sides depend on the object.
    case comparison(PredicateComparison)

    @usableFromInline
    package init(_ node: PredicateNode) {
        switch node {
        case .constant(let verdict): self = .constant(verdict)
        case .not(let inner): self = .not(PredicatePlan(inner))
        case .and(let parts): self = .all(parts.map { PredicatePlan($0) })
        case .or(let parts): self = .any(parts.map { PredicatePlan($0) })
        case .comparison(let comparison): self.init(comparison)
        }
    }

    private init(_ comparison: PredicateComparison) {
        if case .constant(let value) = comparison.right {
            let test = PredicateConstantTest(comparison.operation, comparison.options, value)
            if case .constant(let left) = comparison.left {
                self = .constant(comparison.holds(left, value))
            } else {
                self = .test(comparison.left, comparison.modifier, test)
            }
            return
        }
        if case .constant(let value) = comparison.left, comparison.modifier == .direct,
            let operation = comparison.operation.exchanged
        {
            self = .test(comparison.right, .direct, PredicateConstantTest(operation, comparison.options, value))
            return
        }
        self = .comparison(comparison)
    }

    /// The equivalent tree for display, with constants on the right.
    package var node: PredicateNode {
        switch self {
        case .constant(let verdict): .constant(verdict)
        case .all(let parts): .and(parts.map(\.node))
        case .any(let parts): .or(parts.map(\.node))
        case .not(let inner): .not(inner.node)
        case .test(let expression, let modifier, let test):
            .comparison(
                PredicateComparison(
                    expression, test.operation, .constant(test.constant), options: test.options, modifier: modifier))
        case .comparison(let comparison): .comparison(comparison)
        }
    }
}
