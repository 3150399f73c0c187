public import PropertyList

extension FormatExpression {
    /// Compiles an expression of the format language: `width * height`, `dims.w`, `name.length`.
    ///
    /// - Parameters:
    ///   - format: the text, of at most 4 MiB and 100 levels.
    ///   - variables: the values of its `$variables`, by their names without the `$`.
    /// - Throws: ``FormatPredicateError`` with the problem and its position.
    public init(format: String, variables: PropertyListFields = [:]) throws(FormatPredicateError) {
        var parser = try PredicateParser(format, variables: variables)
        self = try parser.parseExpression()
    }

    /// The first keys of its key paths without `SELF`.
    public var fields: Set<String> { Set(fieldNames) }

    /// The same, in the order of their bytes.
    package var fieldNames: [String] {
        FormatPredicate.fields(of: .comparison(PredicateComparison(self, .equal, .constant(.null)))).sorted()
            .map(\.string)
    }
}
