import PredicateFormat

/// A function of many items, as text: `sum(price)`, `median(width * height)`, `count(price > 10)`.
///
///     let dear = try store.query().value(of: "average(price, room == 'Attic')")
///
/// | text | value |
/// | --- | --- |
/// | `count()`, `count(f)`, `count(condition)` | the number of items, of those that have a value, of those that satisfy |
/// | `sum(f)`, `average(f)`, `median(f)` | of the numbers |
/// | `percentile(f, 90)` | the number below which 90 % of the numbers are, interpolated between two of them |
/// | `stddev(f)`, `variance(f)` | of a sample: the divisor is the count of the numbers less 1 |
/// | `min(f)`, `max(f)` | the least and the greatest value, in the sort order |
///
/// `f` is a field, or an expression of the predicate language. Each of them takes a condition as its last argument, and
/// then leaves out the items that do not satisfy it: `sum(price, room == 'Attic')`.
///
/// The text is parsed when the function is computed, since a name is that of a field if there is one.
public struct ItemAggregate: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The functions' names, as scripts write them.
    package enum Name: String, Sendable, CaseIterable {
        case count, sum, average, min, max, median, percentile, stddev, variance
    }

    /// What it was made from.
    enum Form: Hashable {
        case text(String)
        case function(Name, key: String, percent: Double)
    }

    let form: Form

    /// A function's text.
    public init(_ text: String) { form = .text(text) }

    /// A function's text.
    public init(stringLiteral text: String) { form = .text(text) }

    /// A function of a key; a percentile has a percentage from 0 to 100.
    package init(_ name: Name, _ key: String, percent: Double = 50) {
        form = .function(name, key: key, percent: percent)
    }

    /// The function's text.
    public var description: String {
        switch form {
        case .text(let text): text
        case .function(.percentile, let key, let percent): "percentile(\(key), \(percent))"
        case .function(let name, let key, _): "\(name.rawValue)(\(key))"
        }
    }
}

// MARK: Parsing

/// A function of a store's items, from its text.
struct ParsedAggregate {
    let name: ItemAggregate.Name
    /// Nil for the number of items.
    var key: QueryKey?
    var percent = 50.0
    var condition: FormatPredicate?

    /// - Throws: ``StoreError`` for a text that is not a function; errors of ``ColumnStore/key(_:)``, and of the
    ///   condition.
    init(_ aggregate: ItemAggregate, of store: ColumnStore) throws {
        let text: String
        switch aggregate.form {
        case .text(let format): text = format
        case .function(let name, let key, let percent):
            self.name = name
            (self.key, self.percent) = (try store.key(key), try Self.checked(percent, "\(aggregate)"))
            return
        }
        // By bytes, which are looked at once: a name may be megabytes of marks.
        var trimmed = text.utf8.drop { $0 == UInt8(ascii: " ") }
        while trimmed.last == UInt8(ascii: " ") { trimmed.removeLast() }
        guard let open = trimmed.firstIndex(of: UInt8(ascii: "(")), trimmed.last == UInt8(ascii: ")"),
            let name = ItemAggregate.Name(exactly: String(Substring(trimmed[..<open])))
        else { throw Self.noFunction(text) }
        self.name = name
        let argument = String(Substring(trimmed[trimmed.index(after: open)...].dropLast()))
        // A field may have any name.
        if name != .percentile, let field = store.fields.existing(argument) {
            key = .field(field)
            return
        }
        var arguments = try FormatPredicate.arguments(of: argument)
        if arguments.isEmpty, name == .count { return }
        guard let first = arguments.first else {
            throw Self.error(text, "\(name.rawValue) takes a field or an expression: \(name.usage)")
        }
        arguments.removeFirst()
        if name == .count, arguments.isEmpty, (try? FormatExpression(format: first)) == nil {
            condition = try FormatPredicate(format: first)
            return
        }
        key = try store.key(first)
        if name == .percentile {
            guard let second = arguments.first, let percent = Double(second) else {
                let given = arguments.first.map { ", not \($0)" } ?? ""
                throw Self.error(text, "percentile takes a percentage behind the field\(given): \(name.usage)")
            }
            self.percent = try Self.checked(percent, text)
            arguments.removeFirst()
        }
        if let format = arguments.first { condition = try FormatPredicate(format: format) }
        if arguments.count > 1 {
            throw Self.error(
                text, "\(name.rawValue) takes one condition, and \(arguments[1]) is another: join them by AND")
        }
    }

    /// The bytes of a text that its error shows.
    private static let longestShown = 200

    private static func checked(_ percent: Double, _ text: String) throws(StoreError) -> Double {
        if percent >= 0, percent <= 100 { return percent }
        throw error(text, "a percentage is from 0 to 100, not \(percent)")
    }

    private static func error(_ text: String, _ message: String) -> StoreError {
        let text = text.shortened(to: longestShown)
        return StoreError(.invalidValue(field: text), "\(message), in \(text)")
    }

    private static func noFunction(_ text: String) -> StoreError {
        let text = text.shortened(to: longestShown)
        let word = String(text.drop { $0.is(" ") }.prefix { !$0.is("(") && !$0.is(" ") })
        let known = ItemAggregate.Name.allCases
        let hint = ItemAggregate.Name.otherNames[word.lowercased()].map { ": \($0.usage) is that" }
        let usages = known.map(\.usage).joined(separator: ", ")
        return StoreError(
            .invalidValue(field: text),
            "\(text) is not a function of items\(hint ?? NearestNames.hint(for: word, among: known.map(\.rawValue))); there are \(usages), each with a condition behind it if need be"
        )
    }
}

extension ItemAggregate.Name {
    /// How the function is written.
    var usage: String {
        switch self {
        case .count: "count()"
        case .percentile: "percentile(f, 90)"
        default: "\(rawValue)(f)"
        }
    }

    /// What the functions are called elsewhere.
    static let otherNames: [String: Self] = [
        "avg": .average, "mean": .average, "total": .sum, "minimum": .min, "maximum": .max, "std": .stddev,
        "stdev": .stddev, "stddev_samp": .stddev, "var": .variance, "var_samp": .variance, "quantile": .percentile,
        "percentile_cont": .percentile, "len": .count,
    ]

    /// What values lack of which none is a number.
    var noun: String {
        switch self {
        case .stddev: "standard deviation"
        default: rawValue
        }
    }
}
