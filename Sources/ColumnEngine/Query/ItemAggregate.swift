package import PredicateFormat
package import PropertyList

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
        if name != .percentile, let field = store.keyField(argument) {
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
            condition = try FormatPredicate(format: first).replacingPaths(store.resolved)
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
        if let format = arguments.first {
            condition = try FormatPredicate(format: format).replacingPaths(store.resolved)
        }
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
        return .invalidValue(text, "\(message), in \(text)")
    }

    private static func noFunction(_ text: String) -> StoreError {
        let text = text.shortened(to: longestShown)
        let word = String(text.drop { $0.is(" ") }.prefix { !$0.is("(") && !$0.is(" ") })
        let known = ItemAggregate.Name.allCases
        let hint = ItemAggregate.Name.otherNames[word.lowercased()].map { ": \($0.usage) is that" }
        let usages = known.map(\.usage).joined(separator: ", ")
        return .invalidValue(
            text,
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

/// A function of items, for the columns of a store: ``ItemAggregate``.
package struct ItemAggregateFunction {
    private let store: ColumnStore
    private let name: ItemAggregate.Name
    /// The key's text.
    private let text: String
    private let key: VectorKey?
    private let percent: Double
    private let condition: Condition?

    /// What the items have to satisfy.
    private struct Condition {
        let predicate: FormatPredicate
        let test: VectorTest
    }

    /// Makes the function for a store as it is.
    ///
    /// - Parameters:
    ///   - aggregate: the function.
    ///   - store: the items.
    ///   - advice: the advice where a field's values are all of another kind than the condition compares.
    /// - Throws: ``StoreError`` for a text that is not a function; errors of ``ColumnStore/key(_:)``, and of the
    ///   condition, as of a query's.
    package init(
        _ aggregate: ItemAggregate, of store: ColumnStore, advice: ColumnStore.KindAdvice = { _, _, _ in nil }
    ) throws {
        let parsed = try ParsedAggregate(aggregate, of: store)
        if let condition = parsed.condition { try store.checkCondition(condition, advice: advice) }
        try self.init(parsed.name, parsed.key, store, percent: parsed.percent, parsed.condition)
    }

    init(
        _ name: ItemAggregate.Name, _ key: QueryKey?, _ store: ColumnStore, percent: Double = 50,
        _ condition: FormatPredicate? = nil
    ) throws {
        (self.store, self.name, self.percent) = (store, name, percent)
        text = key.map(store.text(of:)) ?? ""
        self.key = try key.map { try VectorKey($0, store) }
        self.condition = condition.map { Condition(predicate: $0, test: VectorPlanner(store: store).test($0.plan)) }
    }

    /// The field that its value is one of; nil for a number of its own, and for an expression.
    package var field: ItemField? {
        guard name == .min || name == .max, case .view(_, let field)? = key else { return nil }
        return field
    }

    // MARK: Values

    /// The function's value for some rows; nil if it is undefined without values. `isPart` tells that they are one of
    /// several groups: then values that are all of another kind are counted and the result is nil; otherwise they are an
    /// error, as they are when no group has another: ``check(_:of:)``.
    package func value(of rows: UnsafeBufferPointer<UInt32>, isPart: Bool = false) throws -> PropertyListValue? {
        store.recordWholeRead()
        guard let condition else { return try value(ofAll: rows, isPart) }
        return try self.rows(rows, satisfying: condition).withUnsafeBufferPointer { try value(ofAll: $0, isPart) }
    }

    private func rows(
        _ rows: UnsafeBufferPointer<UInt32>, satisfying condition: Condition
    ) throws -> [UInt32] {
        var audit = try ConditionAudit([condition.predicate], store)
        var found: [UInt32] = []
        try store.forEachLiveBatch(rows) { batch in
            if audit != nil { for row in batch { audit?.examine(row) } }
            try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: batch.count) { selection in
                _ = selection.update(fromContentsOf: batch)
                let count = condition.test.keep(selection, store)
                // After an interruption conditions end early, with any result.
                if Interruption.isDueAtStep { throw WorkStopped() }
                found += selection.first(count)
            }
        }
        audit?.record()
        return found
    }

    private func value(ofAll rows: UnsafeBufferPointer<UInt32>, _ isPart: Bool) throws -> PropertyListValue? {
        guard let key else { return .integer(Int64(rows.count)) }
        defer { store.record(key.audit, operation) }
        switch name {
        case .count:
            var number = 0
            try store.forEachLiveBatch(rows) { batch in
                var heap = CellHeap()
                try key.withCells(batch, store, &heap) { for cell in $0 where !cell.isAbsent { number += 1 } }
            }
            return .integer(Int64(number))
        case .min, .max:
            var extreme = Extreme(wanted: name == .min ? -1 : 1)
            try extreme.add(rows, key, store)
            for (kind, count) in extreme.otherKinds { record("is " + kind, count) }
            if !isPart { try checkComputed(key, hasValues: extreme.value != nil) }
            return extreme.value
        case .sum: return try numbers(of: rows, key, isPart, NumberTotal())?.receiver.sum
        case .average:
            return try numbers(of: rows, key, isPart, NumberTotal()).flatMap {
                $0.count == 0 ? nil : .real($0.receiver.real / Double($0.count))
            }
        case .median, .percentile:
            var sample = try numbers(of: rows, key, isPart, NumberSample())?.receiver
            return try sample?.percentile(percent)
        case .variance: return try numbers(of: rows, key, isPart, Variance())?.receiver.ofSample.map { .real($0) }
        case .stddev:
            return try numbers(of: rows, key, isPart, Variance())?.receiver.standardDeviation.map { .real($0) }
        }
    }

    /// The pass over the numbers, after other values were recorded; nil for a part without numbers that has others.
    private func numbers<Receiver>(
        of rows: UnsafeBufferPointer<UInt32>, _ key: VectorKey, _ isPart: Bool, _ receiver: Receiver
    ) throws -> NumberPass<Receiver>? {
        var pass = NumberPass(receiver)
        try pass.add(rows, key, store)
        let otherKinds = OtherKind.allCases.compactMap { kind in pass.otherKinds[kind].map { (kind, $0) } }
        if pass.count == 0, !isPart, let (kind, count) = otherKinds.first {
            let problem = name == .sum || name == .average ? "cannot be added up" : "has no \(name.noun)"
            throw StoreError.invalidValue(
                text,
                "\(text) \(problem): \(example(rows) ?? "it is \(kind.rawValue) in \(count.counted("item"))")\(advice(kind))"
            )
        }
        for (kind, count) in otherKinds { record("is " + kind.rawValue, count) }
        if !isPart { try checkComputed(key, hasValues: pass.count > 0) }
        if isPart, pass.count == 0, !otherKinds.isEmpty || key.audit?.all.isEmpty == false { return nil }
        return pass
    }

    /// Refuses a function that has a value for no group, as for all items at once; `rows` are those of all groups.
    ///
    /// - Throws: as ``value(of:isPart:)``.
    package func check(_ values: some Sequence<PropertyListValue?>, of rows: () -> [UInt32]) throws {
        var isUndefined = false
        for value in values {
            if value == nil { isUndefined = true } else if name != .sum || value != .integer(0) { return }
        }
        guard isUndefined else { return }
        // The groups' own values were recorded.
        let saved = store.questions.leftOut
        defer { store.questions.leftOut = saved }
        _ = try rows().withUnsafeBufferPointer { try value(of: $0) }
    }

    // MARK: Messages

    /// The function's text.
    private var operation: String {
        let percent = name == .percentile ? ", \(Self.text(percent))" : ""
        let condition = condition.map { ", " + $0.predicate.source } ?? ""
        return "\(name.rawValue)(\(text)\(percent)\(condition))"
    }

    private static func text(_ percent: Double) -> String { Int(exactly: percent).map(String.init) ?? "\(percent)" }

    private func record(_ reason: String, _ count: Int) {
        store.questions.leftOut.record(operation, text, reason, count)
    }

    /// Refuses an expression that has a value for no item, because of the kinds of their values.
    private func checkComputed(_ key: VectorKey, hasValues: Bool) throws(StoreError) {
        guard !hasValues, let audit = key.audit, let (fault, count) = audit.all.first(where: { $0.key.isOfKind })
        else {
            return
        }
        throw .invalidValue(
            text,
            "\(text) has no value: \(fault.subject) \(fault.text) in \(count.counted("item"))")
    }

    /// The first of a field's values, which are not numbers.
    private func example(_ rows: UnsafeBufferPointer<UInt32>) -> String? {
        guard let field = store.keyField(text), let row = rows.first(where: { store.value($0, field) != nil })
        else { return nil }
        let value = FieldValidation.describe(store.value(row, field))
        return "\(value) of item \(store.table.keyString(row)) is not a number"
    }

    private func advice(_ kind: OtherKind) -> String {
        guard kind == .text, store.keyField(text) != nil else { return "" }
        return "; items:convert(\"\(text)\", \"real\") makes numbers of texts"
    }
}

extension ColumnStore {
    /// Checks a condition as that of a query: its fields are known, and its comparisons hold for some value of their
    /// kinds. An empty store knows no custom fields: it refuses only names similar to one of the domain's.
    package func checkCondition(_ predicate: FormatPredicate, advice: KindAdvice) throws(FormatPredicateError) {
        recordWholeRead()
        try checkFields(of: predicate, advice: advice)
    }

    /// Whether a condition holds for an item, the only one that counts as read. It is refused as that of a query.
    package func holds(_ predicate: FormatPredicate, _ row: UInt32, advice: KindAdvice) throws -> Bool {
        let predicate = predicate.replacingPaths(resolved)
        try checkFields(of: predicate, advice: advice)
        return compiler.condition(predicate.plan)(row)
    }

    private func checkFields(of predicate: FormatPredicate, advice: KindAdvice) throws(FormatPredicateError) {
        do throws(FormatPredicateError) { try predicate.check(knownFields: visibleFieldNames, of: "item") } catch {
            if count > 0 || !error.suggestions.isEmpty { throw error }
        }
        try check(predicate, advice: advice)
    }
}
