public import PropertyList

/// A side of a comparison: a value, or how to come by one.
public indirect enum ItemPredicateExpression: Sendable, Hashable, CustomStringConvertible {
    /// A literal, a variable's value, or what the parser computed from such; nil is `.null`.
    case constant(PropertyListValue)
    /// `name`, `SELF`, `tags.@count`.
    case keyPath(PredicateKeyPath)
    /// A key path that starts at another expression: `rooms[0].name`.
    case property(ItemPredicateExpression, [String])
    /// `{a, b}` where an element is no constant.
    case aggregate([ItemPredicateExpression])
    case negated(ItemPredicateExpression)
    case arithmetic(ItemPredicateExpression, PredicateArithmetic, ItemPredicateExpression)
    case element(ItemPredicateExpression, PredicateSubscript)
    case function(PredicateFunction, [ItemPredicateExpression])
    /// `TERNARY(condition, first, second)`.
    case conditional(PredicateNode, ItemPredicateExpression, ItemPredicateExpression)
    /// `SUBQUERY(collection, $element, condition)`: the elements that satisfy the condition, as an array.
    case subquery(ItemPredicateExpression, element: String, PredicateNode)
    /// The element that a `SUBQUERY` around judges, by the name it gave it.
    case local(String)

    /// Canonical format text; see `ItemPredicate.format`.
    public var description: String {
        var printer = PredicatePrinter()
        printer.print(self, within: .none)
        return printer.text
    }
}

/// What stands in the brackets behind a collection: `[0]`, `["key"]`, `[FIRST]`, `[LAST]`, `[SIZE]`.
public indirect enum PredicateSubscript: Sendable, Hashable {
    /// A position from 0 in an array, or a key of a dictionary.
    case index(ItemPredicateExpression)
    case first
    case last
    case size
}
