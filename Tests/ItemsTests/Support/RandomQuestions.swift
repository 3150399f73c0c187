import PredicateFormat
import PropertyList
import TestSupport

/// Random keys and predicates over some fields.
struct RandomQuestions {
    let fields: [String]
    var random: TestGenerator

    private mutating func field() -> String { fields[random.number(fields.count)] }

    private mutating func number() -> String { random.number(3) == 0 ? "valueInDollars" : field() }

    /// A field, a key path or an expression.
    mutating func key() -> String {
        switch random.number(12) {
        case 0: "\(field()).w"
        case 1: "\(field()).pathExtension"
        case 2: "\(field()).length"
        case 3, 4: expression()
        case 5: "name"
        case 6: "\(field()).w + \(number())"
        default: field()
        }
    }

    mutating func expression() -> String {
        let operation = ["+", "-", "*", "/", "/"][random.number(5)]
        return switch random.number(6) {
        case 0: "\(number()) \(operation) \(["0", "2", "0.5", "9007199254740993", "-3"][random.number(5)])"
        case 1: "(\(number()) \(operation) \(number())) * \(number())"
        case 2: "-\(field()) \(operation) \(number())"
        default: "\(number()) \(operation) \(number())"
        }
    }

    /// Nil for one that the language refuses.
    mutating func predicate() -> FormatPredicate? {
        var variables: PropertyListFields = [:]
        let format = condition(depth: 2, &variables)
        return try? FormatPredicate(format: format, variables: variables)
    }

    private mutating func condition(depth: Int, _ variables: inout PropertyListFields) -> String {
        if depth > 0 {
            switch random.number(8) {
            case 0, 1:
                return "(\(condition(depth: depth - 1, &variables)) AND \(condition(depth: depth - 1, &variables)))"
            case 2, 3:
                return "(\(condition(depth: depth - 1, &variables)) OR \(condition(depth: depth - 1, &variables)))"
            case 4: return "NOT (\(condition(depth: depth - 1, &variables)))"
            default: break
            }
        }
        return comparison(&variables)
    }

    private mutating func comparison(_ variables: inout PropertyListFields) -> String {
        func variable(_ value: PropertyListValue) -> String {
            let name = "v\(variables.count)"
            variables[name] = value
            return "$\(name)"
        }
        let order = ["==", "!=", "<", "<=", ">", ">="][random.number(6)]
        switch random.number(13) {
        case 0: return "\(field()) \(random.number(2) == 0 ? "==" : "!=") nil"
        case 1:
            let values = (0..<1 + random.number(5)).map { _ in constant() }
            return "\(field()) IN \(variable(.array(values)))"
        case 2, 3:
            let kind = constantKind()
            let bounds = PropertyListValue.array([kind.value(&random), kind.value(&random)])
            return "\(field()) BETWEEN \(variable(bounds))"
        case 4: return "\(expression()) \(order) \(variable(numericConstant()))"
        case 5: return "\(expression()) BETWEEN \(variable(.array([numericConstant(), numericConstant()])))"
        case 6: return "\(field()).w \(order) \(variable(constant()))"
        case 7: return "\(field()) \(order) \(number())"
        case 8:
            let operation = ["CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "=="][random.number(5)]
            let text = ["s", "Study", "te*", "ä", "a text that no", "7", "*o"][random.number(7)]
            let options = ["", "[c]", "[cd]"][random.number(3)]
            return "\(field()) \(operation)\(options) \(variable(.string(text)))"
        case 9: return "\(field()).length \(order) \(variable(.integer(Int64(random.number(12)))))"
        default: return "\(field()) \(order) \(variable(constant()))"
        }
    }

    private mutating func constantKind() -> FieldKind {
        FieldKind.allCases[random.number(FieldKind.allCases.count)]
    }

    private mutating func constant() -> PropertyListValue { constantKind().value(&random) }

    private mutating func numericConstant() -> PropertyListValue {
        [FieldKind.smallIntegers, .largeIntegers, .reals, .numbers][random.number(4)].value(&random)
    }
}
