import PropertyList

/// Writes a tree as canonical format text: keywords in capitals, text in double quotes, parentheses only where needed.
struct PredicatePrinter {
    /// The precedence of an operator, lowest first.
    enum Level: Int, Comparable {
        case none, or, and, not, comparison, bitOr, bitXor, bitAnd, shift, sum, product, negation, power, postfix

        static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }

        /// Nil for an operation that is written as a function.
        init?(of operation: PredicateArithmetic) {
            switch operation {
            case .add, .subtract: self = .sum
            case .multiply, .divide: self = .product
            case .power: self = .power
            case .shiftLeft, .shiftRight: self = .shift
            case .bitAnd: self = .bitAnd
            case .bitXor: self = .bitXor
            case .bitOr: self = .bitOr
            case .modulus: return nil
            }
        }
    }

    private var text = ""
    /// The bytes after which the rest is left out: a value of a variable may have megabytes.
    private let limit: Int

    private init(limit: Int) { self.limit = limit }

    /// What is printed, with a sign where the rest is left out.
    static func text(limit: Int = .max, _ print: (inout Self) -> Void) -> String {
        var printer = PredicatePrinter(limit: limit)
        print(&printer)
        guard printer.isFull else { return printer.text }
        return String(decoding: printer.text.utf8.prefix(limit), as: UTF8.self) + "…"
    }

    private var isFull: Bool { text.utf8.count > limit }

    /// Prints in parentheses if `needed`.
    private mutating func parenthesise(_ needed: Bool, _ body: (inout Self) -> Void) {
        if needed { text += "(" }
        body(&self)
        if needed { text += ")" }
    }

    // MARK: Conditions

    mutating func print(_ node: PredicateNode, within level: Level) {
        switch node {
        case .constant(let value):
            text += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let comparison):
            parenthesise(level >= .comparison) { $0.print(comparison) }
        case .not(let inner):
            parenthesise(level >= .comparison) {
                $0.text += "NOT "
                $0.print(inner, within: .not)
            }
        case .and(let parts):
            list(parts, " AND ", .and, within: level, empty: true)
        case .or(let parts):
            list(parts, " OR ", .or, within: level, empty: false)
        }
    }

    private mutating func list(
        _ parts: [PredicateNode], _ separator: String, _ own: Level, within level: Level, empty: Bool
    ) {
        guard let first = parts.first else { return print(.constant(empty), within: level) }
        if parts.count == 1 { return print(first, within: level) }
        parenthesise(level >= own) { printer in
            for (index, part) in parts.enumerated() where !printer.isFull {
                if index > 0 { printer.text += separator }
                printer.print(part, within: own)
            }
        }
    }

    private mutating func print(_ comparison: PredicateComparison) {
        if comparison.modifier != .direct { text += comparison.modifier.rawValue + " " }
        print(comparison.left, within: .comparison)
        text += " \(comparison.operation.rawValue)\(comparison.options) "
        print(comparison.right, within: .comparison)
    }

    // MARK: Expressions

    mutating func print(_ expression: FormatExpression, within level: Level) {
        switch expression {
        case .constant(let value):
            let isNegative = PredicateNumber(value).map { $0.asDouble < 0 } ?? false
            parenthesise(isNegative && level > .comparison) { $0.print(value) }
        case .keyPath(let path):
            text += path.isSelf ? PredicateKeyPath.selfKey : Self.name(path.field)
            printKeys(path.rest)
        case .property(let base, let keys):
            print(base, within: .postfix)
            printKeys(keys)
        case .aggregate(let elements): commas(elements, open: "{", close: "}")
        case .negated(let operand):
            parenthesise(level >= .negation) {
                $0.text += "-"
                $0.print(operand, within: .negation)
            }
        case .arithmetic(let left, let operation, let right):
            print(left, operation, right, within: level)
        case .element(let base, let index):
            print(base, within: .postfix)
            text += "["
            switch index {
            case .index(let position): print(position, within: .none)
            case .first: text += "FIRST"
            case .last: text += "LAST"
            case .size: text += "SIZE"
            }
            text += "]"
        case .function(let function, let arguments):
            commas(arguments, open: function.rawValue + "(", close: ")")
        case .conditional(let condition, let first, let second):
            text += "TERNARY("
            print(condition, within: .none)
            commas([first, second], open: ", ", close: ")")
        case .subquery(let collection, let name, let condition):
            text += "SUBQUERY("
            print(collection, within: .none)
            text += ", $\(name), "
            print(condition, within: .none)
            text += ")"
        case .local(let name):
            text += "$" + name
        }
    }

    private mutating func print(
        _ left: FormatExpression, _ operation: PredicateArithmetic, _ right: FormatExpression,
        within level: Level
    ) {
        guard let own = Level(of: operation) else {
            return commas([left, right], open: operation.rawValue + "(", close: ")")
        }
        parenthesise(level >= own) {
            // Chains are left associative, chains of powers right associative.
            $0.print(left, within: Level(rawValue: own.rawValue - (operation == .power ? 0 : 1)) ?? own)
            $0.text += " \(operation.rawValue) "
            $0.print(right, within: Level(rawValue: own.rawValue - (operation == .power ? 1 : 0)) ?? own)
        }
    }

    private mutating func commas(_ expressions: [FormatExpression], open: String, close: String) {
        text += open
        for (index, expression) in expressions.enumerated() where !isFull {
            if index > 0 { text += ", " }
            print(expression, within: .none)
        }
        text += close
    }

    private mutating func printKeys(_ keys: [String]) {
        for key in keys {
            text += "." + (key.hasPrefix("@") || Self.isWord(key) ? key : "#" + key.quoted())
        }
    }

    // MARK: Values

    private mutating func print(_ value: PropertyListValue) {
        switch value {
        case .null: text += "nil"
        case .boolean(let flag): text += flag ? "TRUE" : "FALSE"
        case .integer(let number): text += String(number)
        case .wideInteger(let number): text += String(number)
        case .uid(let number): text += String(number)
        case .real(let number): print(number)
        case .single(let number): print(Double(number))
        case .string(let string): text += string.shortened(to: limit).quoted()
        case .utf16: text += (value.text ?? "").shortened(to: limit).quoted()
        case .date(let date):
            text += "CAST("
            if let iso = date.wholeSecondText {
                text += iso.quoted()
            } else {
                print(date.secondsSinceReferenceDate)
            }
            text += ", \"NSDate\")"
        case .data(let bytes):
            text += "CAST(\"\(PredicateText.hexadecimal(bytes.prefix(limit)))\", \"NSData\")"
        case .array(let elements), .set(let elements):
            commas(elements.prefix(limit).map { .constant($0) }, open: "{", close: "}")
        case .dictionary(let fields):
            // The language has no literal for this value; the text is for display only.
            if fields.count > limit {
                text += "{\(fields.count.counted("entry", "entries"))}"
                return
            }
            text += "{"
            for (index, entry) in fields.sortedEntries.enumerated() where !isFull {
                if index > 0 { text += ", " }
                print(entry.key)
                text += ": "
                print(entry.value)
            }
            text += "}"
        }
    }

    private mutating func print(_ number: Double) {
        text += number.isFinite ? String(number) : "CAST(\"\(number)\", \"NSNumber\")"
    }

    private static func name(_ field: String) -> String {
        if !isWord(field) { return "#" + field.quoted() }
        return PredicateKeyword(field) == nil ? field : "#" + field
    }

    private static func isWord(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first == "_" || first.properties.isXIDStart else { return false }
        return name.unicodeScalars.dropFirst().allSatisfy { $0.properties.isXIDContinue }
    }
}

extension PropertyListDate {
    /// The ISO 8601 text of a date in whole seconds; nil for any other.
    var wholeSecondText: String? {
        secondsSinceReferenceDate == secondsSinceReferenceDate.rounded() ? iso8601Text : nil
    }
}
