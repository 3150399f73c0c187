import PropertyList
import Wording

/// Parses literals, key paths, functions, brackets and parentheses.
extension PredicateParser {
    /// Parses an operand and the keys and brackets after it.
    mutating func postfix() throws(FormatPredicateError) -> Parsed {
        var parsed = try primary()
        while true {
            let place = token.start
            if token.isSign(".") {
                let base = try expression(parsed)
                advance()
                let key = try self.key()
                parsed.content = .expression(Self.property(key, of: base))
            } else if token.isSign("[") {
                let base = try expression(parsed)
                advance()
                let index = try subscriptIndex()
                parsed.content = .expression(Self.element(index, of: base))
            } else {
                return parsed
            }
            parsed.height = try checked(parsed.height + 1, at: place)
        }
    }

    /// Parses a key or a collection operator after a point.
    private mutating func key() throws(FormatPredicateError) -> String {
        if token.isSign("@") {
            let start = token.start
            advance()
            guard case .word(let name, _) = token.kind else { throw error("a name must follow @", at: start) }
            advance()
            return try collectionOperator(name, at: start)
        }
        guard case .word(let name, _) = token.kind else {
            throw error("a key is missing behind the point", at: token.start)
        }
        advance()
        return name
    }

    private func collectionOperator(_ name: String, at offset: Int) throws(FormatPredicateError) -> String {
        let written = "@" + name
        if PredicateKeyValueCoding.operators.contains(written) { return written }
        let names = NearestNames.nearest(to: written, among: PredicateKeyValueCoding.operators)
        throw error(
            .unknownFunction, "\(written) is no collection operator\(NearestNames.suggestion(names))", at: offset,
            suggestions: names)
    }

    private static func property(_ key: String, of base: FormatExpression) -> FormatExpression {
        switch base {
        case .keyPath(let path) where path.isSelf && path.rest.isEmpty && !key.hasPrefix("@"):
            .keyPath(PredicateKeyPath(key))
        case .keyPath(let path):
            .keyPath(PredicateKeyPath(path.field, path.rest + [key]))
        case .property(let inner, let keys):
            .property(inner, keys + [key])
        case .constant(let value):
            .constant(PredicateKeyValueCoding.value(value, [key]) ?? .null)
        default:
            .property(base, [key])
        }
    }

    private mutating func subscriptIndex() throws(FormatPredicateError) -> PredicateSubscript {
        if case .word(let word, escaped: false) = token.kind, following.isSign("]") {
            let index: PredicateSubscript? =
                switch word.uppercased() {
                case "FIRST": .first
                case "LAST": .last
                case "SIZE": .size
                default: nil
                }
            if let index {
                advance()
                advance()
                return index
            }
        }
        let position = try parse(.sum)
        let index = try expression(position)
        try expect("]", "behind the index")
        return .index(index)
    }

    private static func element(_ index: PredicateSubscript, of base: FormatExpression)
        -> FormatExpression
    {
        guard case .constant(let value) = base else { return .element(base, index) }
        switch index {
        case .first, .last, .size:
            return .constant(PredicateEvaluator.element(of: value, index, position: nil) ?? .null)
        case .index(.constant(let position)):
            return .constant(PredicateEvaluator.element(of: value, index, position: position) ?? .null)
        case .index:
            return .element(base, index)
        }
    }

    private mutating func primary() throws(FormatPredicateError) -> Parsed {
        let start = token.start
        func constant(_ value: PropertyListValue) -> Parsed {
            Parsed(content: .expression(.constant(value)), start: start, height: 1)
        }
        switch token.kind {
        case .string(let text):
            advance()
            return constant(.string(text))
        case .number(let number):
            advance()
            return constant(number)
        case .variable(let name):
            if elementNames.contains(name) {
                advance()
                return Parsed(content: .expression(.local(name)), start: start, height: 1)
            }
            guard let value = variables[name] else {
                let names = NearestNames.nearest(to: name, among: variables.keys.sorted()).map { "$" + $0 }
                let hint = names.isEmpty ? "; give it with the predicate" : NearestNames.suggestion(names)
                throw error(.unknownVariable, "$\(name) has no value\(hint)", at: start, suggestions: names)
            }
            advance()
            return constant(value)
        case .word(let word, let escaped):
            if !escaped, following.isSign("(") { return try call(word) }
            if !escaped, let keyword = PredicateKeyword(word) { return try literal(keyword) }
            advance()
            noteField(word, at: start)
            return Parsed(content: .expression(.keyPath(PredicateKeyPath(word))), start: start, height: 1)
        case .sign("("):
            advance()
            let inner = try parse(.or)
            if token.kind == .end { throw error("this ( is never closed", at: start) }
            if !token.isSign(")") {
                _ = try condition(inner)
                throw error(") is missing before \(token.named)", at: token.start)
            }
            advance()
            return inner
        case .sign("{"):
            return try aggregate()
        case .sign("@"):
            return try leadingOperator()
        case .end:
            throw error("a value is missing at the end", at: start)
        case .sign(let sign):
            throw error("a value is missing before \(sign)", at: start)
        }
    }

    private mutating func literal(_ keyword: PredicateKeyword) throws(FormatPredicateError) -> Parsed {
        let start = token.start
        let content: Parsed.Content
        switch keyword {
        case .null, .nil: content = .expression(.constant(.null))
        case .true, .yes: content = .expression(.constant(.boolean(true)))
        case .false, .no: content = .expression(.constant(.boolean(false)))
        case .self: content = .expression(.keyPath(PredicateKeyPath(PredicateKeyPath.selfKey)))
        case .truePredicate: content = .node(.constant(true))
        case .falsePredicate: content = .node(.constant(false))
        default:
            let word = token.named
            throw error("a value is missing before \(word); a field of that name is written #\(word)", at: start)
        }
        advance()
        // SELF.name is the field `name`.
        if keyword == .self, token.isSign("."), case .word(let name, _) = following.kind {
            noteField(name, at: following.start)
        }
        return Parsed(content: content, start: start, height: 1)
    }

    /// Parses `@sum.items.price`, which is `items.@sum.price`.
    private mutating func leadingOperator() throws(FormatPredicateError) -> Parsed {
        let start = token.start
        let name = try key()
        guard token.isSign("."), case .word(let field, _) = following.kind else {
            let path = PredicateKeyPath(PredicateKeyPath.selfKey, [name])
            return Parsed(content: .expression(.keyPath(path)), start: start, height: 1)
        }
        noteField(field, at: following.start)
        advance()
        advance()
        return Parsed(content: .expression(.keyPath(PredicateKeyPath(field, [name]))), start: start, height: 1)
    }

    /// Parses expressions separated by commas up to a closing sign. Returns them and their greatest height.
    private mutating func list(
        until closing: String, from start: Int
    ) throws(FormatPredicateError) -> (elements: [FormatExpression], height: Int) {
        var elements: [FormatExpression] = []
        var height = 0
        if take(closing) { return (elements, height) }
        while true {
            let parsed = try parse(.sum)
            elements.append(try expression(parsed))
            height = max(height, parsed.height)
            if take(closing) { return (elements, height) }
            if token.kind == .end { throw error("this list is never closed by \(closing)", at: start) }
            try expect(",", "between two values")
        }
    }

    private mutating func aggregate() throws(FormatPredicateError) -> Parsed {
        let start = token.start
        advance()
        let (elements, height) = try list(until: "}", from: start)
        var values: [PropertyListValue] = []
        for element in elements {
            guard case .constant(let value) = element else {
                let height = try checked(height + 1, at: start)
                return Parsed(content: .expression(.aggregate(elements)), start: start, height: height)
            }
            values.append(value)
        }
        return Parsed(content: .expression(.constant(.array(values))), start: start, height: 1)
    }

    private mutating func call(_ name: String) throws(FormatPredicateError) -> Parsed {
        let start = token.start
        // NOT(…) and `a AND(…)` are not calls: keywords take precedence.
        if PredicateKeyword(name) != nil {
            throw error("a value is missing before \(name); a field of that name is written #\(name)", at: start)
        }
        guard let function = PredicateFunction(named: name) else {
            if name.uppercased() == "SUBQUERY" { return try subquery() }
            if name.uppercased() == "TERNARY" { return try conditional() }
            let known = PredicateFunction.allCases.map(\.rawValue) + ["SUBQUERY", "TERNARY"]
            let names = NearestNames.nearest(to: name, among: known)
            throw error(
                .unknownFunction, "\(name) is no function\(NearestNames.suggestion(names))", at: start,
                suggestions: names)
        }
        advance()
        advance()
        let (arguments, height) = try list(until: ")", from: start)
        let counts = function.argumentCounts
        guard counts.contains(arguments.count) else {
            let wanted = counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
            throw error("\(function.rawValue) takes \(wanted) argument\(wanted == "1" ? "" : "s")", at: start)
        }
        return try result(of: function, arguments, height: height + 1, at: start)
    }

    /// Parses `TERNARY(condition, first, second)`.
    private mutating func conditional() throws(FormatPredicateError) -> Parsed {
        let start = token.start
        advance()
        advance()
        let judged = try parse(.or)
        let condition = try condition(judged)
        try expect(",", "behind the condition of TERNARY")
        let (values, height) = try list(until: ")", from: start)
        guard values.count == 2 else {
            throw error("TERNARY takes a condition and two values", at: start)
        }
        return Parsed(
            content: .expression(.conditional(condition, values[0], values[1])), start: start,
            height: try checked(max(judged.height, height) + 1, at: start))
    }

    /// Parses `SUBQUERY(collection, $element, condition)`.
    private mutating func subquery() throws(FormatPredicateError) -> Parsed {
        let start = token.start
        advance()
        advance()
        let source = try parse(.sum)
        let collection = try expression(source)
        try expect(",", "behind the collection of SUBQUERY")
        guard case .variable(let name) = token.kind else {
            throw error("SUBQUERY takes a collection, a $name for its elements, and a condition", at: token.start)
        }
        advance()
        try expect(",", "behind the element's name")
        elementNames.append(name)
        let judged = try parse(.or)
        let condition = try condition(judged)
        elementNames.removeLast()
        try expect(")", "behind the condition of SUBQUERY")
        let kind = PredicateKind(of: collection)
        guard [.collection, .unknown, .absent].contains(kind) else {
            throw error(.typeMismatch, "SUBQUERY takes a collection, and this is \(kind.named)", at: source.start)
        }
        return Parsed(
            content: .expression(.subquery(collection, element: name, condition)), start: start,
            height: try checked(max(source.height, judged.height) + 1, at: start))
    }

    /// A call, or its value when all arguments are constants.
    private func result(
        of function: PredicateFunction, _ arguments: [FormatExpression], height: Int, at start: Int
    ) throws(FormatPredicateError) -> Parsed {
        if function == .cast {
            guard case .constant(.string(let type)) = arguments[1], PredicateFunction.castTypes.contains(type) else {
                let types = PredicateFunction.castTypes.map { "\"\($0)\"" }.joined(separator: ", ")
                throw error("the second argument of CAST is one of \(types)", at: start)
            }
        }
        guard function.isPure else {
            let call = FormatExpression.function(function, arguments)
            return Parsed(content: .expression(call), start: start, height: try checked(height, at: start))
        }
        var values: [PropertyListValue?] = []
        for argument in arguments {
            guard case .constant(let value) = argument else {
                let call = FormatExpression.function(function, arguments)
                return Parsed(content: .expression(call), start: start, height: try checked(height, at: start))
            }
            values.append(value == .null ? nil : value)
        }
        let value = function.apply(values)
        if value == nil, function == .cast, let argument = values[0] {
            throw error(
                .typeMismatch, "\(FormatExpression.constant(argument)) can't be cast to \(arguments[1])",
                at: start)
        }
        return Parsed(content: .expression(.constant(value ?? .null)), start: start, height: 1)
    }
}
