package import PredicateFormat
package import PropertyList

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
        self.condition = condition.map { Condition(predicate: $0, test: VectorPlanner(store).test($0.plan)) }
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
            throw StoreError(
                .invalidValue(field: text),
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
        guard !hasValues, let audit = key.audit, let (fault, count) = audit.all.first(where: { $0.fault.isOfKind })
        else {
            return
        }
        throw StoreError(
            .invalidValue(field: text),
            "\(text) has no value: \(fault.subject) \(fault.text) in \(count.counted("item"))")
    }

    /// The first of a field's values, which are not numbers.
    private func example(_ rows: UnsafeBufferPointer<UInt32>) -> String? {
        guard let field = store.fields.existing(text), let row = rows.first(where: { store.value($0, field) != nil })
        else { return nil }
        let value = FieldValidation.describe(store.value(row, field))
        return "\(value) of item \(store.table.keyString(row)) is not a number"
    }

    private func advice(_ kind: OtherKind) -> String {
        guard kind == .text, store.fields.existing(text) != nil else { return "" }
        return "; items:convert(\"\(text)\", \"real\") makes numbers of texts"
    }
}

extension ColumnStore {
    /// Checks a condition as that of a query: its fields are known, and its comparisons hold for some value of their
    /// kinds. An empty store knows no custom fields: it refuses only names similar to one of the domain's.
    package func checkCondition(_ predicate: FormatPredicate, advice: KindAdvice) throws(FormatPredicateError) {
        recordWholeRead()
        do throws(FormatPredicateError) { try predicate.check(knownFields: visibleFieldNames, of: "item") } catch {
            if count > 0 || !error.suggestions.isEmpty { throw error }
        }
        try check(predicate, advice: advice)
    }
}
