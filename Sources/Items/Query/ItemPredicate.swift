import ColumnEngine
public import PredicateFormat

/// A condition on items; the language is `FormatPredicate`'s.
public typealias ItemPredicate = FormatPredicate

/// What is wrong with a predicate's format text, and where.
public typealias ItemPredicateError = FormatPredicateError

/// A side of a comparison in a predicate.
public typealias ItemPredicateExpression = FormatExpression
