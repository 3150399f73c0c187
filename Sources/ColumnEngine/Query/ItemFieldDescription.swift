package import PropertyList

/// Statistics of a field over the items.
package struct ItemFieldDescription: Sendable {
    /// The field's name.
    package let field: String
    /// The kind of its values; integers mixed with reals count as reals. Nil for several that are not comparable.
    package let kind: FieldDeclaration.Kind?
    /// The number of items with a value.
    package let count: Int
    /// The number of different values.
    package let distinct: Int
    /// The least value, in the order of `ItemQuery.sorted`; nil if values have no order.
    package let min: PropertyListValue?
    /// The greatest value.
    package let max: PropertyListValue?
    /// The most frequent values, at most three.
    package let examples: [PropertyListValue]

    /// The kind in words: `mixed` for several.
    package var kindName: String { kind?.rawValue ?? "mixed" }
}

extension FieldDeclaration.Kind {
    fileprivate init?(_ kinds: Set<Cell.Kind>, _ examples: [PropertyListValue]) {
        switch kinds {
        case let kinds where kinds.isSubset(of: [.shortText, .longText]): self = .string
        case let kinds where kinds.isSubset(of: [.no, .yes]): self = .boolean
        case [.integer]: self = .integer
        case let kinds where kinds.isSubset(of: [.integer, .real, .single]): self = .real
        case [.date]: self = .date
        case [.box]:
            guard let first = examples.first.flatMap(Self.init(of:)),
                examples.allSatisfy({ Self(of: $0) == first })
            else { return nil }
            self = first
        default: return nil
        }
    }
}

extension ItemQuery {
    /// Describes each field that some item has, in the order in which fields were added. O(n) per field.
    package func describe() throws -> [ItemFieldDescription] {
        try columns.pinningRows {
            let rows = try rows()
            return try columns.fieldNames.indices.compactMap { number in
                let field = ItemField(rawValue: UInt32(number))
                return field == columns.fields.attachment ? nil : try description(of: field, rows)
            }
        }
    }

    private func description(of field: ItemField, _ rows: [UInt32]) throws -> ItemFieldDescription? {
        var grouper = try ItemGrouper(columns, .field(field))
        let groups = try grouper.counts(of: rows).filter { !$0.cell.isAbsent }
        if groups.isEmpty { return nil }
        let kinds = Set(groups.map(\.cell.kind))
        let examples = Self.mostFrequent(groups).compactMap { grouper.value($0) }
        let kind = FieldDeclaration.Kind(kinds, examples)
        let ordered = kinds.contains(.box) || kind == nil ? [] : groups.map(\.cell)
        func isBefore(_ first: Cell, _ second: Cell) -> Bool { CellOrder.compare(first, second) < 0 }
        return ItemFieldDescription(
            field: columns.name(of: field), kind: kind, count: groups.reduce(0) { $0 + $1.count },
            distinct: groups.count, min: ordered.min(by: isBefore).flatMap { grouper.value($0) },
            max: ordered.max(by: isBefore).flatMap { grouper.value($0) }, examples: examples)
    }

    private static let exampleCount = 3

    private static func mostFrequent(_ groups: [(cell: Cell, count: Int)]) -> [Cell] {
        var found: [(cell: Cell, count: Int)] = []
        for group in groups {
            let place = found.firstIndex { $0.count < group.count } ?? found.count
            guard place < exampleCount else { continue }
            found.insert(group, at: place)
            if found.count > exampleCount { found.removeLast() }
        }
        return found.map(\.cell)
    }
}
