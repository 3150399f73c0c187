import Platform
public import PropertyList

/// One side of a comparison: a value or a computation.
@usableFromInline package indirect enum FormatExpression: Sendable, Hashable, CustomStringConvertible {
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
    @usableFromInline package var description: String { PredicatePrinter.text { $0.print(self, within: .none) } }

    /// The same for a message: the beginning of a long text.
    package var excerpt: String { PredicatePrinter.text(limit: 200) { $0.print(self, within: .none) } }
}

/// The index in brackets after a collection: `[0]`, `["key"]`, `[FIRST]`, `[LAST]`, `[SIZE]`.
@usableFromInline package indirect enum PredicateSubscript: Sendable, Hashable {
    /// A position from 0 in an array, or a key of a dictionary.
    case index(FormatExpression)
    /// The first element of an array.
    case first
    /// The last element of an array.
    case last
    /// The number of elements of an array or a dictionary.
    case size

    /// The expression of the position or key.
    @usableFromInline var position: FormatExpression? { if case .index(let position) = self { position } else { nil } }
}

extension FormatExpression {
    /// Compiles an expression of the format language: `width * height`, `dims.w`, `name.length`.
    ///
    /// - Parameters:
    ///   - format: the text, of at most 4 MiB and 100 levels.
    ///   - variables: the values of its `$variables`, by their names without the `$`.
    /// - Throws: ``FormatPredicateError`` with the problem and its position.
    package init(format: String, variables: PropertyListFields = [:]) throws(FormatPredicateError) {
        var parser = try PredicateParser(format, variables: variables)
        self = try parser.parseExpression()
    }

    /// The expression with other key paths.
    package func replacingPaths(_ replaced: (PredicateKeyPath) -> PredicateKeyPath) -> FormatExpression {
        func replacing(_ inner: FormatExpression) -> FormatExpression { inner.replacingPaths(replaced) }
        switch self {
        case .constant, .local: return self
        case .keyPath(let path): return .keyPath(replaced(path))
        case .property(let base, let keys): return .property(replacing(base), keys)
        case .aggregate(let elements): return .aggregate(elements.map(replacing))
        case .negated(let operand): return .negated(replacing(operand))
        case .arithmetic(let left, let operation, let right):
            return .arithmetic(replacing(left), operation, replacing(right))
        case .element(let base, .index(let position)): return .element(replacing(base), .index(replacing(position)))
        case .element(let base, let index): return .element(replacing(base), index)
        case .function(let function, let operands): return .function(function, operands.map(replacing))
        case .conditional(let condition, let first, let second):
            return .conditional(condition.replacingPaths(replaced), replacing(first), replacing(second))
        case .subquery(let base, let element, let condition):
            return .subquery(replacing(base), element: element, condition.replacingPaths(replaced))
        }
    }

    /// The same, in the order of their bytes.
    package var fieldNames: [String] {
        FormatPredicate.fields(of: .comparison(PredicateComparison(self, .equal, .constant(.null)))).sorted()
            .map(\.string)
    }
}

/// A path from the object to a value: `name`, `owner.name`, `tags.@count`, `SELF`.
@usableFromInline package struct PredicateKeyPath: Sendable, Hashable {
    /// The key of the object itself.
    @usableFromInline package static let selfKey = "SELF"

    /// The first field of the path; `SELF` when it starts at the object itself.
    @usableFromInline package let field: String

    /// The keys and collection operators after the field.
    @usableFromInline package let rest: [String]

    /// A path of a field and further keys.
    package init(_ field: String, _ rest: [String] = []) {
        self.field = field
        self.rest = rest
    }

    package var isSelf: Bool { field == Self.selfKey }

    private var exact: [ExactText] { [ExactText(field)] + rest.map { ExactText($0) } }

    /// Whether two paths have the same keys, byte for byte.
    @usableFromInline package static func == (first: Self, second: Self) -> Bool { first.exact == second.exact }

    @usableFromInline package func hash(into hasher: inout Hasher) { hasher.combine(exact) }
}

/// A binary arithmetic operator.
///
/// Integers are exact up to 128 bits and become reals beyond. The quotient of two integers is truncated to an integer.
/// A date plus or minus seconds is a date, the difference of two dates is seconds. The operators from ``modulus`` on
/// take whole numbers. Any other operation, including a division by zero, gives nil.
@usableFromInline package enum PredicateArithmetic: String, Sendable, Hashable, CaseIterable {
    /// The sum; a date and seconds make a date.
    case add = "+"
    /// The difference; of two dates in seconds.
    case subtract = "-"
    /// The product.
    case multiply = "*"
    /// The quotient; that of two integers is truncated.
    case divide = "/"
    /// The first to the power of the second.
    case power = "**"
    /// `modulus:by:(a, b)`: the remainder, with the sign of the first.
    case modulus = "modulus:by:"
    /// The bits that both have.
    case bitAnd = "&"
    /// The bits that one has.
    case bitOr = "|"
    /// The bits that exactly one has.
    case bitXor = "^"
    /// The bits of the first, moved up by the second.
    case shiftLeft = "<<"
    /// The bits of the first, moved down by the second; the sign stays.
    case shiftRight = ">>"

    @usableFromInline
    func apply(_ left: PropertyListValue?, _ right: PropertyListValue?) -> PropertyListValue? {
        guard let left, let right else { return nil }
        if let first = PredicateNumber(left), let second = PredicateNumber(right) {
            return apply(first, second)?.value
        }
        switch (self, left, right) {
        case (.subtract, .date(let first), .date(let second)):
            return .real(first.secondsSinceReferenceDate - second.secondsSinceReferenceDate)
        case (.add, .date(let date), let seconds), (.add, let seconds, .date(let date)):
            return PredicateNumber(seconds).flatMap { Self.shift(date, $0.asDouble) }
        case (.subtract, .date(let date), let seconds):
            return PredicateNumber(seconds).flatMap { Self.shift(date, -$0.asDouble) }
        default:
            return nil
        }
    }

    func apply(_ left: PredicateNumber, _ right: PredicateNumber) -> PredicateNumber? {
        if takesWholeNumbers {
            guard let first = left.whole, let second = right.whole else { return nil }
            return exact(first, second).map { .integer($0) }
        }
        if case .integer(let first) = left, case .integer(let second) = right {
            if self == .divide && second == 0 { return nil }
            if let exact = exact(first, second) { return .integer(exact) }
        }
        let (first, second) = (left.asDouble, right.asDouble)
        let result: Double
        switch self {
        case .add: result = first + second
        case .subtract: result = first - second
        case .multiply: result = first * second
        case .divide: result = second == 0 ? .nan : first / second
        case .power: result = pow(first, second)
        case .modulus, .bitAnd, .bitOr, .bitXor, .shiftLeft, .shiftRight: return nil
        }
        // Beyond the largest real is infinity, as in Foundation.
        return result.isNaN ? nil : .real(result)
    }

    /// The exact result; nil when it exceeds 128 bits or is not an integer.
    private func exact(_ left: Int128, _ right: Int128) -> Int128? {
        let result: (partialValue: Int128, overflow: Bool)
        switch self {
        case .add: result = left.addingReportingOverflow(right)
        case .subtract: result = left.subtractingReportingOverflow(right)
        case .multiply: result = left.multipliedReportingOverflow(by: right)
        case .divide: result = left.dividedReportingOverflow(by: right)
        case .power: return Self.power(left, right)
        case .modulus: result = left.remainderReportingOverflow(dividingBy: right)
        case .bitAnd: return left & right
        case .bitOr: return left | right
        case .bitXor: return left ^ right
        case .shiftLeft:
            guard 0...127 ~= right, (left << right) >> right == left else { return nil }
            return left << right
        case .shiftRight: return right < 0 ? nil : left >> right
        }
        return result.overflow ? nil : result.partialValue
    }

    /// Whether a number with a fraction has no result.
    var takesWholeNumbers: Bool {
        switch self {
        case .add, .subtract, .multiply, .divide, .power: false
        case .modulus, .bitAnd, .bitOr, .bitXor, .shiftLeft, .shiftRight: true
        }
    }

    /// The operator that a function of Foundation's expressions stands for.
    static let functions: [String: PredicateArithmetic] = [
        "add:to:": .add, "from:subtract:": .subtract, "multiply:by:": .multiply, "divide:by:": .divide,
        "raise:toPower:": .power, "modulus:by:": .modulus, "bitwiseAnd:with:": .bitAnd, "bitwiseOr:with:": .bitOr,
        "bitwiseXor:with:": .bitXor, "leftshift:by:": .shiftLeft, "rightshift:by:": .shiftRight,
    ]

    private static func power(_ base: Int128, _ exponent: Int128) -> Int128? {
        guard exponent >= 0 else { return nil }
        if base == 0 || base == 1 { return exponent == 0 ? 1 : base }
        if base == -1 { return exponent % 2 == 0 ? 1 : -1 }
        guard exponent <= 127 else { return nil }
        var result: Int128 = 1
        for _ in 0..<Int(exponent) {
            let (next, overflow) = result.multipliedReportingOverflow(by: base)
            if overflow { return nil }
            result = next
        }
        return result
    }

    private static func shift(_ date: PropertyListDate, _ seconds: Double) -> PropertyListValue? {
        let moved = date.secondsSinceReferenceDate + seconds
        return moved.isFinite ? .date(PropertyListDate(secondsSinceReferenceDate: moved)) : nil
    }
}
