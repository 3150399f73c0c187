import ColumnEngine
import PropertyList

/// The kinds of values that records, databases and sheets bring: they have their own, value by value.
extension ItemMerger {
    /// Says which fields have got values of another kind than they had, and which new ones have several kinds.
    ///
    /// - Throws: `WorkStopped`.
    func remarkKinds(_ row: ImportedRow) throws {
        for column in row.columns {
            guard let before = column.priorKinds else { continue }
            let after = FieldKinds(store.columns, column.field)
            if let kind = before.kind {
                guard after.kind != kind, kind != .integer || after.kind != .real else { continue }
                let counts = try KindCounts(store.columns, column.field)
                let misfits = counts.description(without: kind)
                remark(
                    .formerKinds, misfits.isEmpty ? 0 : 1, "\(column.fieldName): \(misfits); it was \(kind.rawValue)")
            } else if before.isEmpty, after.kind == nil {
                let counts = try KindCounts(store.columns, column.field)
                remark(
                    .mixedKinds, counts.isMixed ? 1 : 0,
                    "\(column.fieldName): \(counts): values of several kinds, which comparisons and sums leave out")
            }
        }
    }
}

/// The values of a field, counted by their kinds. Whole numbers count as numbers.
private struct KindCounts: CustomStringConvertible {
    private var counts: [(kind: ItemFieldKind, count: Int, example: String)] = []
    private var total = 0

    /// - Throws: `WorkStopped`.
    init(_ columns: ColumnStore, _ field: ItemField) throws {
        var pace = InterruptionPace()
        for row in columns.slots where row != ItemOrder.hole {
            if pace.isDue() { throw WorkStopped() }
            let cell = columns.cell(row, field)
            if cell.isAbsent { continue }
            total += 1
            let kind: ItemFieldKind
            switch cell.kind {
            case .integer, .real, .single: kind = .number
            case .yes, .no: kind = .boolean
            case .date: kind = .date
            case .shortText, .longText: kind = .string
            default: continue
            }
            if let place = counts.firstIndex(where: { $0.kind == kind }) {
                counts[place].count += 1
            } else {
                let example = columns.value(cell).flatMap(ImportKeys.text) ?? ""
                counts.append((kind, 1, kind == .string ? example.shortened(to: 40).quoted() : example))
            }
        }
        counts.sort { $0.count > $1.count }
    }

    var isMixed: Bool { counts.count > 1 }

    /// `3 numbers, 1 text ("n/a")`.
    var description: String {
        counts.map { "\($0.count.counted($0.kind.one)) (\($0.example))" }.joined(separator: ", ")
    }

    /// What is not of a kind: `2 of 43 values are texts ("n/a")`; empty for nothing.
    func description(without kind: ItemFieldKind) -> String {
        let kind = kind == .integer || kind == .real ? ItemFieldKind.number : kind
        return counts.filter { $0.kind != kind }.map { other in
            let what = other.count == 1 ? "is \(other.kind.one.withArticle)" : "are \(other.kind.plural)"
            return "\(other.count.grouped) of \(total.counted("value")) \(what) (\(other.example))"
        }.joined(separator: ", ")
    }
}

extension ItemFieldKind {
    /// A value of the kind in messages, without its article.
    fileprivate var one: String {
        switch self {
        case .string: "text"
        case .integer, .real, .number: "number"
        case .boolean: "boolean"
        case .date: "date"
        }
    }
}
