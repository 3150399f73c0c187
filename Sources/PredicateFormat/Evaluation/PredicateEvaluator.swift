public import PropertyList

/// Evaluates a plan and its expressions for one object, whose fields a function returns.
@usableFromInline
struct PredicateEvaluator {
    let lookup: (String) -> PropertyListValue?
    /// The current elements of the enclosing `SUBQUERY`s, by name.
    var elements: PropertyListFields = [:]

    @usableFromInline
    init(lookup: @escaping (String) -> PropertyListValue?) {
        self.lookup = lookup
    }

    func holds(_ plan: PredicatePlan) -> Bool {
        switch plan {
        case .constant(let verdict):
            return verdict
        case .all(let parts):
            return parts.allSatisfy(holds)
        case .any(let parts):
            return parts.contains(where: holds)
        case .not(let inner):
            return !holds(inner)
        case .test(let expression, let modifier, let test):
            let value = self.value(expression)
            return modifier == .direct ? test.holds(value) : modifier.holds(value, test.holds)
        case .comparison(let comparison):
            let left = value(comparison.left)
            let right = value(comparison.right)
            return comparison.holds(left, right)
        }
    }

    func value(_ expression: FormatExpression) -> PropertyListValue? {
        switch expression {
        case .constant(let value):
            return value == .null ? nil : value
        case .keyPath(let path):
            let start = lookup(path.field)
            return path.rest.isEmpty ? start : PredicateKeyValueCoding.value(start, path.rest)
        case .property(let base, let keys):
            return PredicateKeyValueCoding.value(value(base), keys)
        case .aggregate(let elements):
            return .array(elements.map { Interruption.isDueAtStep ? .null : value($0) ?? .null })
        case .negated(let operand):
            return PredicateArithmetic.negated(value(operand))
        case .arithmetic(let left, let operation, let right):
            return operation.apply(value(left), value(right))
        case .element(let base, let index):
            guard let collection = value(base) else { return nil }
            guard case .index(let position) = index else {
                return Self.element(of: collection, index, position: nil)
            }
            return Self.element(of: collection, index, position: value(position))
        case .function(let function, let arguments):
            return function.apply(arguments.map(value))
        case .conditional(let condition, let first, let second):
            return value(holds(PredicatePlan(condition)) ? first : second)
        case .subquery(let collection, let name, let condition):
            return satisfying(PredicatePlan(condition), among: value(collection), named: name)
        case .local(let name):
            return elements[name]
        }
    }

    /// The elements of a collection that satisfy a condition; nil for other values.
    @usableFromInline
    func satisfying(
        _ condition: PredicatePlan, among collection: PropertyListValue?, named name: String
    ) -> PropertyListValue? {
        guard let all = collection?.predicateElements else { return nil }
        var inner = self
        return .array(
            all.filter { element in
                if Interruption.isDueAtStep { return false }
                inner.elements[name] = element == .null ? nil : element
                return inner.holds(condition)
            })
    }

    /// The element of a collection at an index whose position is already computed.
    @usableFromInline
    static func element(
        of collection: PropertyListValue, _ index: PredicateSubscript, position: PropertyListValue?
    ) -> PropertyListValue? {
        switch (index, collection) {
        case (.size, .array), (.size, .set), (.size, .dictionary):
            return PredicateKeyValueCoding.value(collection, ["@count"])
        case (.first, .array(let elements)):
            return elements.first
        case (.last, .array(let elements)):
            return elements.last
        case (.index, .array(let elements)):
            guard case .integer(let number)? = position, let place = Int(exactly: number),
                elements.indices.contains(place)
            else { return nil }
            return elements[place]
        case (.index, .dictionary(let fields)):
            return position.flatMap { fields[$0] }
        default:
            return nil
        }
    }
}

extension PredicateArithmetic {
    /// The negated number; nil for other values.
    @usableFromInline
    static func negated(_ value: PropertyListValue?) -> PropertyListValue? {
        guard let number = value.flatMap({ PredicateNumber($0) }) else { return nil }
        if case .real(let real) = number { return .real(-real) }
        return subtract.apply(.integer(0), number)?.value
    }
}

extension PredicateComparison {
    /// Whether the comparison holds between two values, with the modifier applied to the left one.
    @usableFromInline
    func holds(_ left: PropertyListValue?, _ right: PropertyListValue?) -> Bool {
        if modifier == .direct { return PredicateComparing.holds(left, operation, right, options) }
        return modifier.holds(left) { PredicateComparing.holds($0, operation, right, options) }
    }
}

extension PredicateComparison.Modifier {
    /// Whether the elements of a value pass a test as the modifier requires. Nil counts as an empty collection; any
    /// other value that is no collection fails `ANY` and `ALL`.
    @usableFromInline
    func holds(_ value: PropertyListValue?, _ test: (PropertyListValue?) -> Bool) -> Bool {
        let elements: [PropertyListValue]
        if let found = value?.predicateElements {
            elements = found
        } else if value == nil || value == .null {
            elements = []
        } else {
            return self == PredicateComparison.Modifier.none
        }
        // After an interruption the result is of no use, and nobody uses it: the query fails.
        switch self {
        case .direct: return test(value)
        case .any: return elements.contains { Interruption.isDueAtStep || test($0) }
        case .all: return elements.allSatisfy { !Interruption.isDueAtStep && test($0) }
        case .none: return !elements.contains { Interruption.isDueAtStep || test($0) }
        }
    }
}
