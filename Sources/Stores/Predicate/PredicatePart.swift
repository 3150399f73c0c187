/// One of the conditions that a predicate joins with `AND`.
struct PredicatePart<Root> {
    let condition: (Root) -> Bool
    /// The same as a field and what a constant makes of its value, when that is all there is to it.
    let fieldTest: (field: String, test: PredicateConstantTest)?
}
