import ColumnEngine
public import PredicateFormat

/// A condition on items, in the language of `FormatPredicate`.
public typealias ItemPredicate = FormatPredicate

/// An error in a predicate's format text, with its position.
public typealias ItemPredicateError = FormatPredicateError

/// A side of a comparison in a predicate.
public typealias ItemPredicateExpression = FormatExpression
