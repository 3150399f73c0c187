/// One of the conditions that a predicate joins with `AND`.
@usableFromInline
package struct PredicatePart<Root> {
    @usableFromInline package let condition: (Root) -> Bool
    /// The same as a field and what a constant makes of its value, when that is all there is to it.
    @usableFromInline package let fieldTest: (field: String, test: PredicateConstantTest)?

    @inlinable
    package init(condition: @escaping (Root) -> Bool, fieldTest: (field: String, test: PredicateConstantTest)?) {
        self.condition = condition
        self.fieldTest = fieldTest
    }
}
