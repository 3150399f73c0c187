import PredicateFormat
import PropertyList

/// Counts the items that the predicates of a query can't decide, because their values are of other kinds than those
/// compared. The count does not depend on how the query is run: it follows from the items and the predicates alone.
///
/// Fields with values of one kind cost nothing, texts that are compared with dates aside: their comparisons are checked
/// when the query is made.
extension ItemQuery {
    /// Counts what the conditions leave out, in the store's tally. A condition that is a function counts as satisfied: it
    /// is not called for the count.
    func auditConditions(_ access: ItemAccess) throws {
        guard hasConditions else { return }
        let predicates = conditions.compactMap { if case .predicate(let predicate) = $0 { predicate } else { nil } }
        guard var audit = try ConditionAudit(predicates, columns) else { return }
        var pace = InterruptionPace()
        let scan = RowScan(self, access)
        while let row = scan.nextRow() {
            if pace.isDue() { throw WorkStopped() }
            audit.examine(row)
        }
        audit.record()
    }
}

/// Counts the rows for which predicates that are joined by AND are undecided.
struct ConditionAudit {
    private let store: ColumnStore
    private let nodes: [PredicateNode]
    /// The fields with the kinds of values that may not be decided; nil if any row may be undecided.
    private var suspects: [(field: ItemField, kinds: KindSet)]? = []
    private struct Undecided: Hashable {
        let comparison: PredicateComparison, fault: PredicateFault
    }

    private var undecided = Tally<Undecided>()

    /// Nil if they are decided for each row, and if nobody asks.
    init?(_ predicates: [FormatPredicate], _ store: ColumnStore) throws {
        guard store.questions.onLeftOut != nil, predicates.contains(where: store.maySuspect) else { return nil }
        (self.store, nodes) = (store, predicates.map(\.node))
        var isSuspect = false
        for predicate in predicates where store.maySuspect(predicate) {
            if predicate.isPartial { (isSuspect, suspects) = (true, nil) }
            for path in FormatPredicate.paths(of: predicate.node) {
                guard let failing = try store.failingKinds(path, predicate) else {
                    (isSuspect, suspects) = (true, nil)
                    continue
                }
                if failing.isEmpty { continue }
                isSuspect = true
                guard path.rest.isEmpty, let field = store.fields.existing(path.field) else {
                    suspects = nil
                    continue
                }
                suspects?.append((field, KindSet(failing)))
            }
        }
        guard isSuspect else { return nil }
        for suspect in suspects ?? [] { _ = store.materialise(suspect.field) }
    }

    /// Evaluates the predicates in three values, if the row's field is of a suspect kind.
    mutating func examine(_ row: UInt32) {
        if let suspects {
            let isSuspect = suspects.contains {
                !KindSet(store.table.cell(row, $0.field)).isDisjoint(with: $0.kinds)
            }
            guard isSuspect else { return }
        }
        var audit = store.audit(row)
        guard audit.joined(nodes, decisive: false) == nil else { return }
        var seen: Set<PredicateComparison> = []
        for (comparison, fault) in audit.undecided where seen.insert(comparison).inserted {
            undecided.add(Undecided(comparison: comparison, fault: fault))
        }
    }

    /// Records what was counted in the store's tally.
    func record() {
        for (key, count) in undecided.all {
            store.questions.leftOut.record(
                PredicateNode.comparison(key.comparison).excerpt, key.fault.subject, key.fault.text, count)
        }
    }
}

extension KindSet {
    /// The cells in which values of some kinds are.
    fileprivate init(_ kinds: Set<PredicateKind>) {
        self = []
        for kind in kinds {
            switch kind {
            // An integer beyond 64 bits is in a box.
            case .number: formUnion([.number, .truth, .box])
            case .date: insert(.date)
            case .string: insert(.text)
            default: insert(.box)
            }
        }
    }
}

extension ColumnStore {
    /// Whether a predicate may be undecided for some item: a field of it has values of several kinds, or in boxes, or
    /// texts that are compared with dates, or a part of it may have no value.
    fileprivate func maySuspect(_ predicate: FormatPredicate) -> Bool {
        if predicate.isPartial { return true }
        return predicate.fieldNames.contains { name in
            guard let field = fields.existing(name) else { return false }
            let set = kindSet(field)
            return !set.isPlain || set == .text && predicate.mayRefuse(.string, at: PredicateKeyPath(name))
        }
    }

    /// The audit of predicates and expressions for one item.
    fileprivate func audit(_ row: UInt32) -> PredicateAudit {
        PredicateAudit(references: compiler.references) { [self] in value(of: row, named: $0) }
    }

    /// A field's value by its name; for `SELF`, the item's fields.
    func value(of row: UInt32, named name: String) -> PropertyListValue? {
        if name == PredicateKeyPath.selfKey { return .fields(dictionary(of: row)) }
        return fields.existing(name).flatMap { value(row, $0) }
    }
}

/// Counts the values of a key that are missing because the expression has none for an item.
final class KeyAudit {
    private let expression: FormatExpression
    private let store: ColumnStore
    private var faults = Tally<PredicateFault>()

    /// Nil for an expression that has a value for each item that has its fields.
    init?(_ expression: FormatExpression, _ text: String, _ store: ColumnStore) throws {
        let predicate = FormatPredicate(checking: expression, text: text)
        var mayFail = predicate.isPartial || expression.mayDivideByZero
        for path in FormatPredicate.paths(of: predicate.node) where !mayFail {
            mayFail = try store.failingKinds(path, predicate).map { !$0.isEmpty } ?? true
        }
        guard mayFail else { return nil }
        (self.expression, self.store) = (expression, store)
    }

    /// Records a row for which the expression has no value.
    func record(_ row: UInt32) {
        var audit = store.audit(row)
        do throws(PredicateFault) { _ = try audit.value(expression) } catch {
            faults.add(error)
        }
    }

    /// What was recorded.
    var all: [(key: PredicateFault, count: Int)] { faults.all }

    /// What was recorded, and forgets it.
    func take() -> [(key: PredicateFault, count: Int)] {
        defer { faults = Tally() }
        return faults.all
    }
}

extension ColumnStore {
    /// Records the rows for which a key has no value.
    func record(_ audit: KeyAudit?, _ operation: String) {
        guard let audit else { return }
        for (fault, count) in audit.take() { questions.leftOut.record(operation, fault.subject, fault.text, count) }
    }
}

/// Counts by key, in the order in which the keys came.
struct Tally<Key: Hashable> {
    private var keys: [Key] = []
    private var counts: [Key: Int] = [:]

    var all: [(key: Key, count: Int)] { keys.map { ($0, counts[$0] ?? 0) } }

    mutating func add(_ key: Key, _ count: Int = 1) {
        if counts[key] == nil { keys.append(key) }
        counts[key, default: 0] += count
    }
}

/// Items that an answer of a query left out, because a value was of a kind that a comparison or a computation does not
/// take: `n > 5 left out 2 items whose n is text`.
///
/// `onLeftOut` of the store above is called with them, once for each answer.
public struct ItemsLeftOut: Sendable, Hashable, CustomStringConvertible {
    /// The comparison, the aggregate or the sort: `n > 5`, `sum(n)`, `sorted(n)`.
    package let operation: String
    /// The value at fault: a field, a key path, or an expression.
    package let subject: String
    /// What is wrong with it: `is text`.
    package let reason: String
    /// Whether the items are in the answer, apart from those that could be compared: in a sort.
    package let areIncluded: Bool
    /// The number of items.
    package fileprivate(set) var count = 0

    public var description: String {
        "\(operation) \(areIncluded ? "kept apart" : "left out") \(count.counted("item")) whose \(subject) \(reason)"
    }
}

/// The items left out by one answer.
struct LeftOutTally {
    private var tally = Tally<ItemsLeftOut>()

    var isEmpty: Bool { tally.all.isEmpty }

    /// In the order in which they were recorded.
    var all: [ItemsLeftOut] {
        tally.all.map { items, count in
            var items = items
            items.count = count
            return items
        }
    }

    mutating func record(
        _ operation: String, _ subject: String, _ reason: String, _ count: Int, areIncluded: Bool = false
    ) {
        if count == 0 { return }
        tally.add(
            ItemsLeftOut(operation: operation, subject: subject, reason: reason, areIncluded: areIncluded), count)
    }
}

/// What questions leave behind in their store.
package struct QuestionRecord {
    /// Called with the items that an answer left out, at its end; an error it throws is the answer's. Nil: they are not
    /// counted.
    package var onLeftOut: (([ItemsLeftOut]) throws -> Void)?
    /// The items that the current answer has left out so far.
    var leftOut = LeftOutTally()
    /// What is known about the ends of key paths, as long as the store has that version.
    private var summaries: [PredicateKeyPath: PredicatePathSummary] = [:]
    private var version: UInt64 = 0

    /// What is known about the end of a path in all items of the store, which is of a version.
    mutating func summary(of path: PredicateKeyPath, at version: UInt64) -> PredicatePathSummary? {
        if self.version != version { (summaries, self.version) = ([:], version) }
        return summaries[path]
    }

    mutating func remember(_ summary: PredicatePathSummary, of path: PredicateKeyPath) { summaries[path] = summary }

    /// Begins an answer.
    ///
    /// - Returns: what an answer around it has left out so far, for ``endAnswer(_:)``: a function of a query may ask
    ///   questions of its own.
    mutating func beginAnswer() -> LeftOutTally {
        defer { leftOut = LeftOutTally() }
        return leftOut
    }

    mutating func endAnswer(_ outer: LeftOutTally) { leftOut = outer }
}

extension ColumnStore {
    /// Runs a body that answers a question, and reports the items that the answer left out.
    ///
    /// - Throws: errors of the body, and of `onLeftOut`, as the store's.
    package func reporting<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
        let outer = questions.beginAnswer()
        defer { questions.endAnswer(outer) }
        do {
            let result = try body()
            try reportLeftOut()
            return result
        } catch { throw StoreError(error) }
    }

    /// Reports the items that the answer left out, at its end.
    func reportLeftOut() throws {
        if let onLeftOut = questions.onLeftOut, !questions.leftOut.isEmpty { try onLeftOut(questions.leftOut.all) }
    }
}
