package import PredicateFormat
import PropertyList

/// The kinds of a field's values as far as its cells tell: the values of boxes are of several kinds.
package struct KindSet: OptionSet {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    static let number = KindSet(rawValue: 1)
    static let date = KindSet(rawValue: 2)
    static let text = KindSet(rawValue: 4)
    /// Arrays, dictionaries, data, and integers beyond 64 bits.
    static let box = KindSet(rawValue: 8)
    /// Truth values, which predicates take for the numbers 0 and 1.
    static let truth = KindSet(rawValue: 16)

    /// The kinds of a mask of cells' kinds.
    init(cells: UInt16) {
        self = []
        for raw in Cell.Kind.no.rawValue...Cell.Kind.box.rawValue where cells & 1 << UInt16(raw) != 0 {
            formUnion(KindSet(Cell.Kind(rawValue: raw) ?? .absent))
        }
    }

    init(_ cell: Cell) { self.init(cell.kind) }

    private init(_ kind: Cell.Kind) {
        switch kind {
        case .absent: self = []
        case .no, .yes: self = .truth
        case .integer, .real, .single: self = .number
        case .date: self = .date
        case .shortText, .longText: self = .text
        case .box: self = .box
        }
    }

    /// The name of the one kind, for users.
    var named: String {
        switch self {
        case .number: "a number"
        case .date: "a date"
        case .text: "text"
        case .truth: "a truth value"
        default: "data or a collection"
        }
    }

    /// Whether all values are of one kind.
    var isSole: Bool { !contains(.box) && rawValue & (rawValue &- 1) == 0 }

    /// Whether all values are of one kind for predicates.
    package var isPlain: Bool { isSole || self == [.number, .truth] }

    /// The kinds, without those of boxes.
    var kinds: Set<PredicateKind> {
        var kinds: Set<PredicateKind> = []
        if contains(.number) || contains(.truth) { kinds.insert(.number) }
        if contains(.date) { kinds.insert(.date) }
        if contains(.text) { kinds.insert(.string) }
        return kinds
    }
}

extension ColumnStore {
    /// The kinds of values that a field has, or had.
    package func kindSet(_ field: ItemField) -> KindSet { KindSet(cells: cellKinds(field)) }

    /// Whether the values of a sort key are all of one kind, as far as is known before they are computed.
    func isPlain(_ key: ItemSortKey) -> Bool {
        guard case .field(let field) = key.key else { return false }
        return kindSet(field).isSole
    }

    /// The values at the end of a path in all items. O(n) after a change; O(1) for a field that never had a box.
    package func summary(of path: PredicateKeyPath) throws -> PredicatePathSummary {
        guard let field = fields.existing(path.field), !path.isSelf else { return PredicatePathSummary() }
        if let known = questions.summary(of: path, at: version) { return known }
        recordWholeRead()
        _ = materialise(field)
        var summary = PredicatePathSummary()
        var pace = InterruptionPace()
        for row in order.slots where row != ItemOrder.hole {
            if pace.isDue() { throw WorkStopped() }
            if field == table.keyField {
                summary.add(.string(""), path.rest)
                break
            }
            let cell = table.cell(row, field)
            if cell.isAbsent { continue }
            if path.rest.isEmpty, let kind = KindSet(cell).kinds.first {
                summary.record(kind)
            } else {
                summary.add(heap.value(cell), path.rest)
            }
        }
        questions.remember(summary, of: path)
        return summary
    }

    /// The kinds at the end of a path that a predicate does not take; with nil, whether a value on the way lacks the
    /// path's property.
    func failingKinds(_ path: PredicateKeyPath, _ predicate: FormatPredicate) throws -> Set<PredicateKind>? {
        guard let field = fields.existing(path.field) else { return [] }
        if !path.rest.isEmpty, referencedKind(field) != nil { return [] }
        let set = kindSet(field)
        if path.rest.isEmpty, set.isPlain, set != .text { return [] }
        if path.rest.isEmpty, !set.contains(.box) {
            return set.kinds.filter { predicate.mayRefuse($0, at: path) }
        }
        // Without boxes, and with one kind, the predicate was checked when it was made.
        if path.rest.count == 1, set.isPlain { return [] }
        let summary = try summary(of: path)
        if !summary.lacking.isEmpty { return nil }
        return summary.kinds.filter { predicate.mayRefuse($0, at: path) }
    }
}

// MARK: Checking

extension ColumnStore {
    /// The advice for a field whose values are all of a kind; the expression is what it is compared with, nil where it is
    /// computed with.
    package typealias KindAdvice = (_ field: String, PredicateKind, FormatExpression?) -> String?

    /// Refuses comparisons and computations that no item has a value for: because all values of a field, or of each of
    /// the kinds that it has, are of another kind, or because no item has the path. A field without values, and so an
    /// empty store, is refused nothing.
    ///
    /// - Parameters:
    ///   - predicate: the condition, or the key of one.
    ///   - isKey: whether it is a key, whose comparison with nil is not the user's.
    ///   - advice: for fields of another kind.
    /// - Throws: the error of such a comparison, computation or path.
    package func check(
        _ predicate: FormatPredicate, isKey: Bool = false, advice: KindAdvice
    ) throws(FormatPredicateError) {
        var kinds: NameTable<PredicateKind> = [:]
        var mixed: [String] = []
        let followed = followedReferences(of: predicate)
        for name in predicate.fieldNames {
            guard let field = fields.existing(name), !followed.contains(name) else { continue }
            let set = kindSet(field)
            if set.isPlain { kinds[name] = set.kinds.first } else { mixed.append(name) }
        }
        do throws(FormatPredicateError) { try predicate.check(kinds: kinds, advice: { _, _ in nil }) } catch {
            // Checked last, since it may examine all items.
            for name in kinds.keys {
                if let field = fields.existing(name), !isInUse(field) { kinds[name] = .unknown }
            }
            try check(predicate, kinds, advice)
        }
        for name in mixed.sorted() {
            let path = PredicateKeyPath(name)
            guard let found = try? summary(of: path).kinds, found.count > 1,
                let part = predicate.comparison(refusing: found, at: path)
            else { continue }
            let first = found.contains(.string) ? PredicateKind.string : found.first ?? .unknown
            var chosen = kinds
            chosen[name] = first
            try check(predicate, chosen, in: part, { _, _, _ in nil })
        }
        try checkPaths(of: predicate, isKey)
    }

    /// The references that a path follows into another item: what comes next is a field of that item, not a property of the id.
    private func followedReferences(of predicate: FormatPredicate) -> NameSet {
        NameSet(FormatPredicate.paths(of: predicate.node).filter { followedReference(of: $0) != nil }.map(\.field))
    }

    private func check(
        _ predicate: FormatPredicate, _ kinds: NameTable<PredicateKind>, in part: PredicateNode? = nil,
        _ advice: KindAdvice
    ) throws(FormatPredicateError) {
        try predicate.check(kinds: kinds, in: part) { name, other in
            guard let kind = kinds[name], kind != .unknown else { return nil }
            return advice(name, kind, other)
        }
    }

    private func checkPaths(of predicate: FormatPredicate, _ isKey: Bool) throws(FormatPredicateError) {
        let paths = FormatPredicate.paths(of: predicate.node).filter { !$0.rest.isEmpty && !$0.isSelf }
        for path in paths.sorted(by: { ($0.field, $0.rest.count) < ($1.field, $1.rest.count) }) {
            if let reference = followedReference(of: path) {
                try checkSteps(of: path, from: reference, of: predicate)
                continue
            }
            guard let field = fields.existing(path.field), path.rest.count > 1 || !kindSet(field).isPlain,
                let summary = try? summary(of: path), !summary.exists
            else { continue }
            if !isKey, predicate.asksOnlyForNil({ $0 == path }) { continue }
            if summary.isMissing {
                throw Self.unknown(
                    path, path.rest.last ?? "", among: summary.otherNames.sorted().map(\.string), of: predicate)
            }
            guard let (kind, key) = summary.lacking.min(by: { $0.value < $1.value }) else { continue }
            let text = FormatExpression.keyPath(path).description
            throw predicate.error(
                .unknownField, "\(kind.named) has no property \(key), in \(text)", at: [path.field])
        }
    }

    private static func unknown(
        _ path: PredicateKeyPath, _ step: String, among known: some Sequence<String>, of predicate: FormatPredicate
    ) -> FormatPredicateError {
        let names = NearestNames.nearest(to: step, among: known)
        let text = FormatExpression.keyPath(path).description
        return predicate.error(
            .unknownField, "no item has \(text)\(NearestNames.suggestion(names))", at: [path.field],
            suggestions: names)
    }

    /// Refuses a field that no item has, at any step of a path that leads to other items.
    private func checkSteps(
        of path: PredicateKeyPath, from reference: ItemField, of predicate: FormatPredicate
    ) throws(FormatPredicateError) {
        var field = reference
        for name in path.rest where !name.hasPrefix("@") {
            // Behind a field that is not a reference come properties of its values.
            if referencedKind(field) == nil { return }
            guard let next = fields.existing(name) else {
                throw Self.unknown(path, name, among: visibleFieldNames, of: predicate)
            }
            field = next
        }
    }

    /// Checks an expression by which a query sorts, groups or aggregates.
    func check(_ expression: FormatExpression, text: String) throws {
        try check(FormatPredicate(checking: expression, text: text), isKey: true) { [self] name, kind, _ in
            guard let field = fields.existing(name), field.rawValue > table.keyField.rawValue else { return nil }
            let fact = "every \(name) is \(kind.named)"
            return kind == .string ? fact + ": items:convert(\"\(name)\", \"real\") makes numbers of them" : fact
        }
    }
}
