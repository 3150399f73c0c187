package import PropertyList

/// A summary of a field's values in some rows.
package struct FieldSummary {
    package let field: ItemField
    /// The distinct kinds of its values.
    package let kinds: Set<Cell.Kind>
    /// The number of rows with a value, and the number of distinct values.
    package let count: Int, distinct: Int
    /// The least and the greatest value in the order of queries; nil if a value has no order.
    package let least: PropertyListValue?, greatest: PropertyListValue?
    /// The most frequent values; of equally frequent ones, the first to appear.
    package let examples: [PropertyListValue]

    static let exampleCount = 3
}

extension RowQuery {
    /// Summarises each field that one of the rows has. O(n) per field.
    package func summaries() throws -> [FieldSummary] {
        try store.pinningRows {
            let rows = try rows()
            return try store.fieldNames.indices.compactMap { number in
                let field = ItemField(rawValue: UInt32(number))
                return field == store.fields.attachment ? nil : try summary(of: field, rows)
            }
        }
    }

    private func summary(of field: ItemField, _ rows: [UInt32]) throws -> FieldSummary? {
        var grouper = try ItemGrouper(self, .field(field))
        let groups = try grouper.counts(of: rows).filter { !$0.cell.isAbsent }
        if groups.isEmpty { return nil }
        let kinds = Set(groups.map(\.cell.kind))
        let ends = kinds.contains(.box) ? nil : Self.ends(groups.map(\.cell))
        return FieldSummary(
            field: field, kinds: kinds, count: groups.reduce(0) { $0 + $1.count }, distinct: groups.count,
            least: ends.flatMap { grouper.value($0.least) }, greatest: ends.flatMap { grouper.value($0.greatest) },
            examples: Self.mostFrequent(groups).compactMap { grouper.value($0) })
    }

    private static func ends(_ cells: [Cell]) -> (least: Cell, greatest: Cell)? {
        guard var least = cells.first else { return nil }
        var greatest = least
        for cell in cells.dropFirst() {
            if CellOrder.compare(cell, least) < 0 { least = cell }
            if CellOrder.compare(cell, greatest) > 0 { greatest = cell }
        }
        return (least, greatest)
    }

    private static func mostFrequent(_ groups: [(cell: Cell, count: Int)]) -> [Cell] {
        var found: [(cell: Cell, count: Int)] = []
        for group in groups {
            let place = found.firstIndex { $0.count < group.count } ?? found.count
            guard place < FieldSummary.exampleCount else { continue }
            found.insert(group, at: place)
            if found.count > FieldSummary.exampleCount { found.removeLast() }
        }
        return found.map(\.cell)
    }
}
