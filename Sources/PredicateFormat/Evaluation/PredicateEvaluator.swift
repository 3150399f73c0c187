public import PropertyList

/// Evaluates a plan and its expressions for one object, whose fields a function returns.
@usableFromInline
struct PredicateEvaluator {
    let lookup: (String) -> PropertyListValue?
    /// What reads the paths that lead to other objects.
    let followers: [FormatExpression: PredicateReferences.Follower]
    /// The current elements of the enclosing `SUBQUERY`s, by name.
    var elements: PropertyListFields = [:]

    @usableFromInline
    init(
        followers: [FormatExpression: PredicateReferences.Follower] = [:],
        lookup: @escaping (String) -> PropertyListValue?
    ) {
        (self.followers, self.lookup) = (followers, lookup)
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
            return modifier.holds(value, test.holds)
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
            return path.rest.isEmpty ? start : value(expression, start, path.rest)
        case .property(let base, let keys):
            return value(expression, value(base), keys)
        case .aggregate(let elements):
            return .array(elements.map { Interruption.isDueAtStep ? .null : value($0) ?? .null })
        case .negated(let operand):
            return PredicateArithmetic.negated(value(operand))
        case .arithmetic(let left, let operation, let right):
            return operation.apply(value(left), value(right))
        case .element(let base, let index):
            return value(base).flatMap { Self.element(of: $0, index, position: index.position.flatMap(value)) }
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

    private func value(
        _ expression: FormatExpression, _ start: PropertyListValue?, _ keys: [String]
    ) -> PropertyListValue? {
        // Most objects refer to none: their expressions are not hashed.
        if !followers.isEmpty, let follow = followers[expression] { return follow(start) }
        return PredicateKeyValueCoding.value(start, keys)
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
        modifier.holds(left) { PredicateComparing.holds($0, operation, right, options) }
    }
}

extension PredicateComparison.Modifier {
    /// Whether the elements of a value pass a test as the modifier requires. Nil counts as an empty collection; any
    /// other value that is no collection fails `ANY` and `ALL`.
    @usableFromInline
    func holds(_ value: PropertyListValue?, _ test: (PropertyListValue?) -> Bool) -> Bool {
        var elements: [PropertyListValue]? { value == nil || value == .null ? [] : value?.predicateElements }
        // After an interruption the result is of no use, and nobody uses it: the query fails.
        switch self {
        case .direct: return test(value)
        case .any: return elements?.contains { Interruption.isDueAtStep || test($0) } ?? false
        case .all: return elements?.allSatisfy { !Interruption.isDueAtStep && test($0) } ?? false
        case .none: return !(elements?.contains { Interruption.isDueAtStep || test($0) } ?? false)
        }
    }
}

/// Key-value coding over property-list values, with Foundation's semantics: a key of a collection applies to each
/// element, and a collection operator applies to the rest of the path.
@usableFromInline
enum PredicateKeyValueCoding {
    /// The collection operators.
    static let operators = [
        "@count", "@sum", "@avg", "@min", "@max", "@unionOfObjects", "@distinctUnionOfObjects", "@unionOfArrays",
        "@distinctUnionOfArrays",
    ]

    /// Collections nested deeper than this have no values, because the traversal is recursive.
    private static let depthLimit = 256

    /// Follows keys from a value.
    @usableFromInline
    static func value(_ start: PropertyListValue?, _ path: [String]) -> PropertyListValue? {
        value(start, path[...])
    }

    private static func value(_ start: PropertyListValue?, _ path: ArraySlice<String>) -> PropertyListValue? {
        var value = start
        var rest = path
        while let key = rest.popFirst() {
            guard let current = value, current != .null else { return nil }
            if key.utf8.first == UInt8(ascii: "@") { return apply(key, to: current, rest) }
            value = property(key, of: current, depth: 0)
        }
        return value
    }

    private static func property(_ key: String, of value: PropertyListValue, depth: Int) -> PropertyListValue? {
        switch value {
        case .dictionary(let fields):
            return fields[key] ?? (key == "self" ? value : nil)
        case .array(let elements), .set(let elements):
            guard depth < depthLimit else { return nil }
            return .array(
                elements.map { Interruption.isDueAtStep ? .null : property(key, of: $0, depth: depth + 1) ?? .null })
        default: return PredicateProperty.value(key, of: value)
        }
    }

    private static func apply(
        _ name: String, to collection: PropertyListValue, _ rest: ArraySlice<String>
    ) -> PropertyListValue? {
        guard let elements = collection.predicateElements else { return nil }
        if name == "@count" { return value(.integer(Int64(elements.count)), rest) }
        var values = elements.compactMap { Interruption.isDueAtStep ? nil : value($0, rest) }
        values.removeAll { $0 == .null }
        switch name {
        case "@sum": return sum(values)
        case "@avg": return average(values)
        case "@min": return extreme(values, .lessThan)
        case "@max": return extreme(values, .greaterThan)
        case "@unionOfObjects": return .array(values)
        case "@distinctUnionOfObjects": return .array(distinct(values))
        case "@unionOfArrays": return .array(values.flatMap { $0.predicateElements ?? [$0] })
        case "@distinctUnionOfArrays": return .array(distinct(values.flatMap { $0.predicateElements ?? [$0] }))
        default: return nil
        }
    }

    /// The operators that compute with elements, which have to be numbers, or for the last two of one kind.
    static let computations: Set = ["@sum", "@avg", "@min", "@max"]

    /// The kind of the first element for which a computation at the end of a path has no result; nil if there is none.
    static func oddKind(_ start: PropertyListValue, _ path: [String]) -> PredicateKind? {
        guard let place = path.firstIndex(where: computations.contains),
            let elements = value(start, path[..<place])?.predicateElements
        else { return nil }
        let values = elements.compactMap { Interruption.isDueAtStep ? nil : value($0, path[(place + 1)...]) }
        return oddKind(among: values, areNumbers: path[place] == "@sum" || path[place] == "@avg")
    }

    /// The kind of the first value that is not a number, or of another kind than those before it; nil if there is none.
    static func oddKind(among values: [PropertyListValue], areNumbers: Bool) -> PredicateKind? {
        let kinds = values.lazy.filter { $0 != .null }.map { PredicateKind(of: $0) }
        let wanted = areNumbers ? .number : kinds.first
        return kinds.first { $0 != wanted }
    }

    /// The sum of numbers, 0 for none; nil if a value is not a number.
    static func sum(_ values: some Sequence<PropertyListValue>) -> PropertyListValue? {
        var total = PredicateNumber.integer(0)
        for value in values {
            if Interruption.isDueAtStep { return nil }
            guard let number = PredicateNumber(value), let next = PredicateArithmetic.add.apply(total, number) else {
                return nil
            }
            total = next
        }
        return total.value
    }

    /// The mean of numbers, a real; nil for none, and if a value is not a number.
    static func average(_ values: [PropertyListValue]) -> PropertyListValue? {
        guard !values.isEmpty, let total = sum(values).flatMap({ PredicateNumber($0) }) else { return nil }
        return .real(total.asDouble / Double(values.count))
    }

    /// The least or the greatest of values of one kind; nil for none, and for several kinds.
    static func extreme(_ values: [PropertyListValue], _ wanted: PredicateOperator) -> PropertyListValue? {
        guard var best = values.first, oddKind(among: values, areNumbers: false) == nil else { return nil }
        for value in values.dropFirst() {
            if Interruption.isDueAtStep { return nil }
            if wanted.accepts(PredicateComparing.order(value, best, options: [])) { best = value }
        }
        return best
    }

    private static func distinct(_ values: [PropertyListValue]) -> [PropertyListValue] {
        var seen: Set<PropertyListValue> = []
        return values.filter { !Interruption.isDueAtStep && seen.insert($0).inserted }
    }
}

extension PropertyListValue {
    /// The elements of a collection for `ANY` and `IN`; a dictionary's are its values. Nil for other values.
    package var predicateElements: [PropertyListValue]? {
        switch self {
        case .array(let elements), .set(let elements): elements
        case .dictionary(let fields): Array(fields.values)
        default: nil
        }
    }
}
