import PropertyList
import TimeZones

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
                let start = token.start
                let key = try self.key()
                parsed.content = .expression(try property(key, of: base, at: start))
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
            .unknownFunction, "\(written) is not a collection operator\(NearestNames.suggestion(names))", at: offset,
            suggestions: names)
    }

    /// A key of an expression: a constant's property is read now.
    private func property(
        _ key: String, of base: FormatExpression, at offset: Int
    ) throws(FormatPredicateError) -> FormatExpression {
        switch base {
        case .keyPath(let path) where path.isSelf && path.rest.isEmpty && !key.hasPrefix("@"):
            return .keyPath(PredicateKeyPath(key))
        case .keyPath(let path):
            return .keyPath(PredicateKeyPath(path.field, path.rest + [key]))
        case .property(let inner, let keys):
            return .property(inner, keys + [key])
        case .constant(let value):
            let kind = PredicateKind(of: value)
            if let problem = PredicateChecker.propertyProblem(key, of: kind) {
                throw error(.unknownField, problem.message, at: offset, suggestions: problem.suggestions)
            }
            return .constant(PredicateKeyValueCoding.value(value, [key]) ?? .null)
        default:
            return .property(base, [key])
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
        let position = try parse(.bitOr)
        let index = try expression(position)
        try expect("]", "behind the index")
        return .index(index)
    }

    private static func element(_ index: PredicateSubscript, of base: FormatExpression) -> FormatExpression {
        guard case .constant(let value) = base, let position = constants(index.position.map { [$0] } ?? []) else {
            return .element(base, index)
        }
        return .constant(PredicateEvaluator.element(of: value, index, position: position.first) ?? .null)
    }

    private mutating func primary() throws(FormatPredicateError) -> Parsed {
        let start = token.start
        func constant(_ value: PropertyListValue) -> Parsed {
            Parsed(content: .expression(.constant(value)), start: start)
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
                return Parsed(content: .expression(.local(name)), start: start)
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
            recordField(word, at: start)
            return Parsed(content: .expression(.keyPath(PredicateKeyPath(word))), start: start)
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
            recordField(name, at: following.start)
        }
        return Parsed(content: content, start: start)
    }

    /// Parses `@sum.items.price`, which is `items.@sum.price`.
    private mutating func leadingOperator() throws(FormatPredicateError) -> Parsed {
        let start = token.start
        let name = try key()
        guard token.isSign("."), case .word(let field, _) = following.kind else {
            let path = PredicateKeyPath(PredicateKeyPath.selfKey, [name])
            return Parsed(content: .expression(.keyPath(path)), start: start)
        }
        recordField(field, at: following.start)
        advance()
        advance()
        return Parsed(content: .expression(.keyPath(PredicateKeyPath(field, [name]))), start: start)
    }

    /// Parses expressions separated by commas up to a closing sign. Returns them and their greatest height.
    private mutating func list(
        until closing: String, from start: Int
    ) throws(FormatPredicateError) -> (elements: [FormatExpression], height: Int) {
        var elements: [FormatExpression] = []
        var height = 0
        if take(closing) { return (elements, height) }
        while true {
            let parsed = try parse(.bitOr)
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
        guard let values = Self.constants(elements) else {
            return try parsed(.aggregate(elements), at: start, height: height + 1)
        }
        return Parsed(content: .expression(.constant(.array(values))), start: start)
    }

    /// The values of expressions that are all constants; nil of others.
    private static func constants(_ expressions: [FormatExpression]) -> [PropertyListValue]? {
        let values = expressions.compactMap { if case .constant(let value) = $0 { value } else { nil } }
        return values.count == expressions.count ? values : nil
    }

    private mutating func call(_ name: String) throws(FormatPredicateError) -> Parsed {
        let start = token.start
        // NOT(…) and `a AND(…)` are not calls: keywords take precedence.
        if PredicateKeyword(name) != nil {
            throw error("a value is missing before \(name); a field of that name is written #\(name)", at: start)
        }
        let upper = name.uppercased()
        if upper == "SUBQUERY" { return try subquery() }
        if upper == "TERNARY" { return try conditional() }
        guard PredicateArithmetic.functions[name] != nil || PredicateFunction(named: name) != nil else {
            throw unknownFunction(name, at: start)
        }
        advance()
        advance()
        let (arguments, height) = try list(until: ")", from: start)
        if upper == "FUNCTION" || upper == "FUNCTION:" { return try message(arguments, height: height + 1, at: start) }
        return try call(named: name, arguments, height: height + 1, at: start)
    }

    /// Functions of Foundation that the language leaves out, and why.
    private static let leftOut: [String: String] = [
        "distanceToLocation:fromLocation:": "there are no locations", "noindex:": "indexes are chosen by themselves",
        "objectFrom:withIndex:": "write an index in brackets, as tags[0]",
        "inverseOrderKey:": "sort with \"descending\"", "FETCH": "there are no fetch requests",
        "BLOCK": "write the function as a condition of its own",
    ]

    private func unknownFunction(_ name: String, at start: Int) -> FormatPredicateError {
        if let reason = Self.leftOut[name] {
            return error(.unknownFunction, "\(name) is a function that predicates leave out: \(reason)", at: start)
        }
        let known =
            PredicateFunction.allCases.map(\.rawValue) + PredicateArithmetic.functions.keys.sorted()
            + ["SUBQUERY", "TERNARY"]
        let names = NearestNames.nearest(to: name, among: known)
        return error(
            .unknownFunction, "\(name) is not a function\(NearestNames.suggestion(names))", at: start,
            suggestions: names)
    }

    /// A call of a known function.
    private func call(
        named name: String, _ arguments: [FormatExpression], height: Int, at start: Int
    ) throws(FormatPredicateError) -> Parsed {
        if let operation = PredicateArithmetic.functions[name] {
            guard arguments.count == 2 else { throw error("\(name) takes 2 arguments", at: start) }
            return try computed(arguments[0], operation, arguments[1], height: height, at: [start, start])
        }
        guard let function = PredicateFunction(named: name) else { throw unknownFunction(name, at: start) }
        let counts = function.argumentCounts
        guard counts.contains(arguments.count) else {
            let wanted = counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
            throw error("\(function.rawValue) takes \(wanted) argument\(wanted == "1" ? "" : "s")", at: start)
        }
        if function == .inZone, case .constant(.string(let name)) = arguments[1] {
            do throws(ZoneError) { _ = try Zone.named(name) } catch { throw self.error(error.description, at: start) }
        }
        return try call(function, arguments, height: height, at: start)
    }

    /// `FUNCTION(receiver, "selector", …)`: a property, a method, or a function of the receiver and the arguments.
    private func message(
        _ arguments: [FormatExpression], height: Int, at start: Int
    ) throws(FormatPredicateError) -> Parsed {
        guard arguments.count >= 2, case .constant(.string(let selector)) = arguments[1] else {
            throw error("FUNCTION takes a receiver, a selector as text, and its arguments", at: start)
        }
        let receiver = arguments[0]
        let rest = Array(arguments.dropFirst(2))
        let colons = selector.utf8.count { $0 == UInt8(ascii: ":") }
        if colons == 0, rest.isEmpty,
            let index = ["firstObject": PredicateSubscript.first, "lastObject": .last][selector]
        {
            return try parsed(Self.element(index, of: receiver), at: start, height: height)
        }
        if colons == 0, rest.isEmpty {
            let key = selector == "count" ? "@count" : selector
            guard key == "@count" || PredicateProperty(exactly: key) != nil else {
                throw unknownSelector(selector, at: start)
            }
            return try parsed(property(key, of: receiver, at: start), at: start, height: height)
        }
        if let method = PredicateMethod(exactly: selector) {
            guard rest.count == colons else {
                throw error("\(selector) takes \(colons) argument\(colons == 1 ? "" : "s")", at: start)
            }
            for (argument, kind) in zip([receiver] + rest, method.signature.kinds) {
                let found = PredicateKind(of: argument)
                guard [kind, .unknown, .absent].contains(found) || kind == .unknown else {
                    throw error(.typeMismatch, "\(selector) takes \(kind.named), and this is \(found.named)", at: start)
                }
            }
            return try call(.method, arguments, height: height, at: start)
        }
        let isKnown = PredicateArithmetic.functions[selector] != nil || PredicateFunction(named: selector) != nil
        guard isKnown, colons == 0 || colons == arguments.count - 1 else { throw unknownSelector(selector, at: start) }
        return try call(named: selector, [receiver] + rest, height: height, at: start)
    }

    private func unknownSelector(_ selector: String, at start: Int) -> FormatPredicateError {
        let known = PredicateProperty.allCases.map(\.rawValue) + PredicateMethod.allCases.map(\.rawValue)
        let names = NearestNames.nearest(to: selector, among: known)
        return error(
            .unknownFunction,
            "FUNCTION calls no method \(selector) of Foundation's classes: predicates leave it out\(NearestNames.suggestion(names))",
            at: start, suggestions: names)
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
        return try parsed(
            .conditional(condition, values[0], values[1]), at: start, height: max(judged.height, height) + 1)
    }

    /// Parses `SUBQUERY(collection, $element, condition)`.
    private mutating func subquery() throws(FormatPredicateError) -> Parsed {
        let start = token.start
        advance()
        advance()
        let source = try parse(.bitOr)
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
        return try parsed(
            .subquery(collection, element: name, condition), at: start, height: max(source.height, judged.height) + 1)
    }

    /// A call, or its value when all arguments are constants.
    func call(
        _ function: PredicateFunction, _ arguments: [FormatExpression], height: Int, at start: Int
    ) throws(FormatPredicateError) -> Parsed {
        if function == .cast {
            guard case .constant(.string(let type)) = arguments[1], PredicateFunction.castTypes.contains(type) else {
                let types = PredicateFunction.castTypes.map { "\"\($0)\"" }.joined(separator: ", ")
                throw error("the second argument of CAST is one of \(types)", at: start)
            }
        }
        guard function.isPure, let constants = Self.constants(arguments) else {
            return try parsed(.function(function, arguments), at: start, height: height)
        }
        let values = constants.map { $0 == .null ? nil : $0 }
        for (index, value) in values.enumerated() {
            guard let value, !function.takes(PredicateKind(of: value), at: index) else { continue }
            throw error(
                .typeMismatch, "\(function.rawValue) does not take \(PredicateKind(of: value).named)", at: start)
        }
        let value = function.apply(values)
        if value == nil, function == .cast, let argument = values[0] {
            throw error(
                .typeMismatch, "\(FormatExpression.constant(argument)) can't be cast to \(arguments[1])",
                at: start)
        }
        return Parsed(content: .expression(.constant(value ?? .null)), start: start)
    }
}
