public import PropertyList

/// One side of a comparison: a value or a computation.
public indirect enum FormatExpression: Sendable, Hashable, CustomStringConvertible {
    /// A literal, a variable's value, or a folded constant; nil is `.null`.
    case constant(PropertyListValue)
    /// `name`, `SELF`, `tags.@count`.
    case keyPath(PredicateKeyPath)
    /// A key path from another expression: `rooms[0].name`.
    case property(FormatExpression, [String])
    /// `{a, b}` with an element that is not constant.
    case aggregate([FormatExpression])
    /// `-width`.
    case negated(FormatExpression)
    /// `width * height`.
    case arithmetic(FormatExpression, PredicateArithmetic, FormatExpression)
    /// `tags[0]`, `tags[SIZE]`.
    case element(FormatExpression, PredicateSubscript)
    /// `length(name)`.
    case function(PredicateFunction, [FormatExpression])
    /// `TERNARY(condition, first, second)`.
    case conditional(PredicateNode, FormatExpression, FormatExpression)
    /// `SUBQUERY(collection, $element, condition)`: the elements that satisfy the condition, as an array.
    case subquery(FormatExpression, element: String, PredicateNode)
    /// The element of an enclosing `SUBQUERY`, by its name.
    case local(String)

    /// Canonical format text; see `FormatPredicate.format`.
    public var description: String {
        var printer = PredicatePrinter()
        printer.print(self, within: .none)
        return printer.text
    }
}

/// The index in brackets after a collection: `[0]`, `["key"]`, `[FIRST]`, `[LAST]`, `[SIZE]`.
public indirect enum PredicateSubscript: Sendable, Hashable {
    /// A position from 0 in an array, or a key of a dictionary.
    case index(FormatExpression)
    /// The first element of an array.
    case first
    /// The last element of an array.
    case last
    /// The number of elements of an array or a dictionary.
    case size
}
