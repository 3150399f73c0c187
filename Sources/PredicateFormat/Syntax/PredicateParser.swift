import CPlatform
import PropertyList

/// Parses tokens into a tree, by precedence climbing.
///
/// In order of precedence, lowest first: `OR`, `AND`, `NOT`, comparisons (not associative), `|`, `^`, `&`, `<< >>`,
/// `+ -`, `* /`, the signs `-` and `~`, `**` (right associative), key paths and brackets. Conditions and values share parentheses, so one function parses
/// both.
struct PredicateParser {
    typealias Level = PredicatePrinter.Level

    /// A condition or a value, its range in bytes, and its height.
    struct Parsed {
        enum Content {
            case node(PredicateNode)
            case expression(FormatExpression)
        }

        var content: Content
        var start: Int
        var height = 1
    }

    let source: String
    let variables: PropertyListFields
    private let tokens: [PredicateToken]
    private var index = 0
    private var depth = 0
    /// The element names of the enclosing `SUBQUERY`s, innermost last.
    var elementNames: [String] = []

    /// The offset of each field's first occurrence, in bytes.
    private(set) var fieldOffsets: [ExactText: Int] = [:]

    /// Maximum depth of conditions and values, in the text and in the tree, because every traversal of a tree is
    /// recursive.
    static let depthLimit = 100

    init(_ source: String, variables: PropertyListFields) throws(FormatPredicateError) {
        self.source = source
        self.variables = variables
        tokens = try PredicateLexer.tokens(of: source)
    }

    /// Parses the whole text as a condition.
    mutating func parse() throws(FormatPredicateError) -> PredicateNode {
        if token.kind == .end { throw error("the predicate is empty; TRUEPREDICATE holds for everything", at: 0) }
        let parsed = try parse(.or)
        if token.kind != .end { throw unexpectedOperator() }
        return try condition(parsed)
    }

    /// Parses the whole text as a value.
    mutating func parseExpression() throws(FormatPredicateError) -> FormatExpression {
        if token.kind == .end { throw error("the expression is empty: name a field", at: 0) }
        let parsed = try parse(.or)
        if token.kind != .end { throw unexpectedOperator() }
        return try expression(parsed)
    }

    // MARK: Tokens

    var token: PredicateToken { tokens[min(index, tokens.count - 1)] }

    var following: PredicateToken { tokens[min(index + 1, tokens.count - 1)] }

    mutating func advance() { index += 1 }

    mutating func take(_ sign: String) -> Bool {
        guard token.isSign(sign) else { return false }
        advance()
        return true
    }

    mutating func expect(_ sign: String, _ purpose: String) throws(FormatPredicateError) {
        guard take(sign) else { throw error("\(sign) \(purpose) is missing before \(token.named)", at: token.start) }
    }

    mutating func recordField(_ name: String, at offset: Int) {
        if fieldOffsets[ExactText(name)] == nil { fieldOffsets[ExactText(name)] = offset }
    }

    func error(_ message: String, at offset: Int) -> FormatPredicateError {
        error(.syntax, message, at: offset)
    }

    func error(
        _ code: FormatPredicateError.Code, _ message: String, at offset: Int, suggestions: [String] = []
    ) -> FormatPredicateError {
        FormatPredicateError(code, message, column: offset + 1, source: source, suggestions: suggestions)
    }

    /// Checks a tree's depth as it grows.
    func checked(_ height: Int, at offset: Int) throws(FormatPredicateError) -> Int {
        guard height <= Self.depthLimit else {
            throw error(.limitExceeded, "this is nested deeper than \(Self.depthLimit) levels", at: offset)
        }
        guard cubby_stack_is_short() == 0 else {
            throw error(.limitExceeded, "this is nested deeper than the thread's stack allows", at: offset)
        }
        return height
    }

    /// An expression of a height that may be too great.
    func parsed(
        _ expression: FormatExpression, at start: Int, height: Int
    ) throws(FormatPredicateError) -> Parsed {
        Parsed(content: .expression(expression), start: start, height: try checked(height, at: start))
    }

    // MARK: Operators

    mutating func parse(_ minimum: Level) throws(FormatPredicateError) -> Parsed {
        depth += 1
        defer { depth -= 1 }
        _ = try checked(depth, at: token.start)
        if Interruption.isDueAtStep { throw error(.limitExceeded, Interruption.message, at: token.start) }
        var left = try prefix()
        while true {
            if minimum <= .power, let (operation, level) = arithmeticOperator, level >= minimum {
                left = try arithmetic(left, operation, level)
            } else if minimum <= .comparison, let operation = comparisonOperator {
                left = try comparison(left, operation)
            } else if minimum <= .and, token.keyword == .and || token.isSign("&&") {
                left = try compound(left, .and)
            } else if minimum <= .or, token.keyword == .or || token.isSign("||") {
                left = try compound(left, .or)
            } else {
                return left
            }
        }
    }

    private mutating func prefix() throws(FormatPredicateError) -> Parsed {
        let start = token.start
        if token.keyword == .not || token.isSign("!") {
            advance()
            let operand = try parse(.comparison)
            let inner = try condition(operand)
            return Parsed(content: .node(.not(inner)), start: start, height: try checked(operand.height + 1, at: start))
        }
        if let modifier = token.keyword?.modifier {
            let word = token.named
            advance()
            if comparisonOperator != nil {
                throw error("\(word) takes a collection; a field of that name is written #\(word)", at: start)
            }
            let operand = try parse(.comparison)
            guard case .node(.comparison(var comparison)) = operand.content, comparison.modifier == .direct else {
                throw error("\(word) takes a comparison, as in \(word) tags == \"gift\"", at: start)
            }
            comparison.modifier = modifier
            try check(comparison, at: operand.start)
            return Parsed(content: .node(.comparison(comparison)), start: start, height: operand.height)
        }
        if token.isSign("-") || token.isSign("+") {
            let negates = token.isSign("-")
            advance()
            let operand = try parse(.power)
            let inner = try expression(operand)
            guard negates else { return operand }
            return try parsed(negated(inner, at: start), at: start, height: operand.height + 1)
        }
        if token.isSign("~") {
            advance()
            let operand = try parse(.power)
            return try call(.onesComplement, [expression(operand)], height: operand.height + 1, at: start)
        }
        return try postfix()
    }

    private var arithmeticOperator: (PredicateArithmetic, Level)? {
        guard case .sign(let sign) = token.kind, let operation = PredicateArithmetic(rawValue: sign),
            let level = Level(of: operation)
        else { return nil }
        return (operation, level)
    }

    private mutating func arithmetic(
        _ left: Parsed, _ operation: PredicateArithmetic, _ level: Level
    ) throws(FormatPredicateError) -> Parsed {
        let place = token.start
        let first = try expression(left)
        advance()
        // The exponent may have a sign and powers of its own: 2 ** -3 ** 2.
        let right = try parse(level == .power ? level : Level(rawValue: level.rawValue + 1) ?? .negation)
        let second = try expression(right)
        let height = try checked(max(left.height, right.height) + 1, at: place)
        return try computed(first, operation, second, height: height, at: [left.start, right.start])
    }

    /// The result of an operator: a constant when both operands are.
    func computed(
        _ first: FormatExpression, _ operation: PredicateArithmetic, _ second: FormatExpression, height: Int,
        at places: [Int]
    ) throws(FormatPredicateError) -> Parsed {
        for (operand, offset) in zip([first, second], places) {
            let kind = PredicateKind(of: operand)
            guard kind.isComputable else {
                throw error(.typeMismatch, "\(operation.rawValue) takes numbers, and this is \(kind.named)", at: offset)
            }
            if operation.takesWholeNumbers, case .constant(let value) = operand, value != .null,
                PredicateNumber(value)?.whole == nil
            {
                throw error(
                    .typeMismatch, "\(operation.rawValue) takes whole numbers, and this is \(operand.excerpt)",
                    at: offset)
            }
        }
        let start = places.first ?? 0
        if case .constant(let a) = first, case .constant(let b) = second {
            return Parsed(content: .expression(.constant(operation.apply(a, b) ?? .null)), start: start)
        }
        return try parsed(.arithmetic(first, operation, second), at: start, height: height)
    }

    private func negated(
        _ operand: FormatExpression, at offset: Int
    ) throws(FormatPredicateError) -> FormatExpression {
        guard case .constant(let value) = operand else { return .negated(operand) }
        if value == .null { return operand }
        guard PredicateNumber(value) != nil else {
            throw error(.typeMismatch, "- takes a number, and this is \(PredicateKind(of: operand).named)", at: offset)
        }
        return .constant(PredicateArithmetic.negated(value) ?? .null)
    }

    private var comparisonOperator: PredicateOperator? {
        guard case .sign(let sign) = token.kind else { return token.keyword?.comparison }
        return switch sign {
        case "=": .equal
        case "<>": .notEqual
        case "=<": .lessThanOrEqual
        case "=>": .greaterThanOrEqual
        default: PredicateOperator(rawValue: sign)
        }
    }

    private mutating func comparison(
        _ left: Parsed, _ operation: PredicateOperator
    ) throws(FormatPredicateError) -> Parsed {
        let place = token.start
        let word = token.named
        if case .node(let node) = left.content {
            if let mistaken = joinedByBits(node, before: place) { throw mistaken }
            throw error(
                "a comparison has no value to compare; comparisons are joined by AND, as in 1 < x AND x < 5", at: place)
        }
        let first = try expression(left)
        advance()
        let options = try self.options(of: operation)
        if token.kind == .end { throw error("a value is missing behind \(word)", at: token.start) }
        let right = try parse(.bitOr)
        let second = try expression(right)
        let comparison = PredicateComparison(first, operation, second, options: options)
        // The elements of a modified comparison are checked at evaluation.
        if !isModified(before: left.start) { try check(comparison, at: left.start, right: right.start) }
        let height = try checked(max(left.height, right.height) + 1, at: place)
        return Parsed(content: .node(.comparison(comparison)), start: left.start, height: height)
    }

    /// The error for `a == 1 & b == 2`, where & or | is meant to join two comparisons.
    private func joinedByBits(_ node: PredicateNode, before place: Int) -> FormatPredicateError? {
        guard case .comparison(let comparison) = node, case .arithmetic(_, let operation, _) = comparison.right,
            operation == .bitAnd || operation == .bitOr,
            let sign = tokens.last(where: { $0.start < place && $0.isSign(operation.rawValue) })
        else { return nil }
        let meant = operation.rawValue + operation.rawValue
        return error(
            .unknownOperator, "\(operation.rawValue) joins the bits of two numbers; did you mean \(meant)?",
            at: sign.start, suggestions: [meant])
    }

    /// Whether a modifier such as `ANY` precedes an offset, parentheses aside.
    private func isModified(before offset: Int) -> Bool {
        var position = min(index, tokens.count - 1)
        while position > 0 && tokens[position].start >= offset { position -= 1 }
        while position > 0 && tokens[position].isSign("(") { position -= 1 }
        return tokens[position].end <= offset && tokens[position].keyword?.modifier != nil
    }

    /// Parses the options after an operator, as `[cd]`.
    private mutating func options(of operation: PredicateOperator) throws(FormatPredicateError) -> PredicateOptions {
        guard take("[") else { return [] }
        guard case .word(let letters, _) = token.kind else {
            throw error("[c], [d], [n], [l] or several, as [cd], are missing behind the operator", at: token.start)
        }
        var options: PredicateOptions = []
        for letter in letters.lowercased() {
            guard let option = PredicateOptions(letter: letter) else {
                throw error(
                    "[\(letters)] is not an option; there are [c], [d] and [cd], and [n] and [l]", at: token.start)
            }
            options.insert(option)
        }
        if options.contains(.localeSensitive), operation.isOrdering || operation == .between || operation == .matches {
            throw error(
                "\(operation.rawValue)[\(letters)] needs the rules of a locale, which predicates leave out; without l, text is compared by its characters",
                at: token.start)
        }
        advance()
        try expect("]", "behind the option")
        return options
    }

    private mutating func compound(_ left: Parsed, _ level: Level) throws(FormatPredicateError) -> Parsed {
        let place = token.start
        var parts = [try condition(left)]
        var height = left.height
        let (word, sign) = level == .and ? (PredicateKeyword.and, "&&") : (.or, "||")
        while token.keyword == word || token.isSign(sign) {
            advance()
            let right = try parse(level == .and ? .not : .and)
            parts.append(try condition(right))
            height = max(height, right.height)
        }
        height = try checked(height + 1, at: place)
        let flat = parts.flatMap { part in
            switch part {
            case .and(let inner) where level == .and: inner
            case .or(let inner) where level == .or: inner
            default: [part]
            }
        }
        return Parsed(content: .node(level == .and ? .and(flat) : .or(flat)), start: left.start, height: height)
    }

    // MARK: Kinds

    func condition(_ parsed: Parsed) throws(FormatPredicateError) -> PredicateNode {
        switch parsed.content {
        case .node(let node):
            return node
        case .expression(.constant(.boolean(let value))):
            return .constant(value)
        case .expression(let expression):
            if token.kind != .end, !token.isSign(")"), !token.isSign(","), token.keyword != .and, token.keyword != .or {
                throw unexpectedOperator()
            }
            throw error(
                "\(expression.excerpt) is a value, not a condition; compare it, as in \(expression.excerpt) == TRUE",
                at: parsed.start)
        }
    }

    func expression(_ parsed: Parsed) throws(FormatPredicateError) -> FormatExpression {
        guard case .expression(let expression) = parsed.content else {
            throw error("a value must stand here, and this is a condition", at: parsed.start)
        }
        return expression
    }

    private func check(_ comparison: PredicateComparison, at left: Int, right: Int? = nil) throws(FormatPredicateError)
    {
        let checker = PredicateChecker(kindOfPath: { _ in .unknown })
        if let problem = checker.problem(in: comparison) {
            throw error(problem.code, problem.message, at: problem.isRight ? right ?? left : left)
        }
    }

    /// The error for a token after a complete operand.
    private func unexpectedOperator() -> FormatPredicateError {
        let offset = token.start
        switch token.kind {
        case .word(let word, _):
            let upper = word.uppercased()
            if upper == "IS" {
                return error(
                    .unknownOperator, "IS is not an operator; write == nil or != nil", at: offset, suggestions: ["=="])
            }
            if upper == "NOT" {
                return error("NOT stands before the whole comparison, as in NOT name IN {\"a\", \"b\"}", at: offset)
            }
            var names = NearestNames.nearest(to: upper, among: PredicateKeyword.operators.map(\.rawValue))
            let aliases = [
                "EQUALS": "==", "EQ": "==", "STARTSWITH": "BEGINSWITH", "HAS": "CONTAINS", "REGEX": "MATCHES",
            ]
            if let alias = aliases[upper] { names = [alias] }
            if upper == "AND" || upper == "OR" { break }
            return error(
                .unknownOperator, "\(word) is not an operator\(NearestNames.suggestion(names))", at: offset,
                suggestions: names)
        case .sign("~"):
            return error(
                .unknownOperator,
                "~ inverts the bits of the number behind it and is not an operator between values; did you mean LIKE?",
                at: offset, suggestions: ["LIKE"])
        case .sign(")"):
            return error("this ) closes nothing", at: offset)
        default:
            break
        }
        return error("an operator is missing before \(token.named)", at: offset)
    }
}
