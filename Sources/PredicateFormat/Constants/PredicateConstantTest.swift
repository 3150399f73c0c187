public import PropertyList

/// A comparison with a constant on its right, specialised once for each kind of value on its left.
@usableFromInline
package struct PredicateConstantTest: Sendable {
    @usableFromInline package let operation: PredicateOperator
    package let options: PredicateOptions
    package let constant: PropertyListValue
    /// The result for nil.
    @usableFromInline package let whenAbsent: Bool
    /// The specialised tests; nil where the general comparison applies.
    @usableFromInline package let text: PredicateTextTest?
    @usableFromInline package let integer: PredicateIntegerTest?
    @usableFromInline package let date: PredicateDateTest?

    init(_ operation: PredicateOperator, _ options: PredicateOptions, _ constant: PropertyListValue) {
        self.operation = operation
        self.options = options
        self.constant = constant
        whenAbsent = PredicateComparing.holds(nil, operation, constant, options)
        text = PredicateTextTest(operation, options.inForce, constant)
        integer = PredicateIntegerTest(operation, constant)
        date = PredicateDateTest(operation, constant)
    }

    @usableFromInline package func holds(_ value: PropertyListValue?) -> Bool {
        switch value {
        case nil, .null?:
            return whenAbsent
        case .string(let string)?:
            if let text { return PredicateFolding.withBytes(string, text.holds) }
        case .integer(let number)?:
            if let integer { return integer.holds(number) }
        case .date(let moment)?:
            if let date { return date.holds(moment) }
        default:
            break
        }
        return PredicateComparing.holds(value, operation, constant, options)
    }
}
