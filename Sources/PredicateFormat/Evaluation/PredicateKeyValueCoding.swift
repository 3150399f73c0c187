public import PropertyList

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
        if name == "@count" {
            let count: Int
            switch collection {
            case .array(let elements), .set(let elements): count = elements.count
            case .dictionary(let fields): count = fields.count
            default: return nil
            }
            return value(.integer(Int64(count)), rest)
        }
        guard let elements = collection.predicateElements else { return nil }
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

    /// The sum of the numbers among the values; 0 for none.
    static func sum(_ values: some Sequence<PropertyListValue>) -> PropertyListValue? {
        var total = PredicateNumber.integer(0)
        for number in values.lazy.compactMap({ PredicateNumber($0) }) {
            if Interruption.isDueAtStep { return nil }
            guard let next = PredicateArithmetic.add.apply(total, number) else { return nil }
            total = next
        }
        return total.value
    }

    /// The mean of the numbers among the values, a real; nil for none.
    static func average(_ values: some Sequence<PropertyListValue>) -> PropertyListValue? {
        let numbers = values.compactMap { PredicateNumber($0) }
        guard !numbers.isEmpty, let total = sum(numbers.map(\.value)).flatMap({ PredicateNumber($0) }) else {
            return nil
        }
        return .real(total.asDouble / Double(numbers.count))
    }

    /// The least or the greatest of the values that are comparable with the first one.
    static func extreme(_ values: some Sequence<PropertyListValue>, _ wanted: PredicateOperator) -> PropertyListValue? {
        var best: PropertyListValue?
        for value in values {
            if Interruption.isDueAtStep { return nil }
            guard let reached = best else {
                best = value
                continue
            }
            if wanted.accepts(PredicateComparing.order(value, reached, options: [])) { best = value }
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
