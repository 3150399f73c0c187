import ColumnEngine
package import ItemArchive
import PredicateFormat
import PropertyList

/// Detects comparisons of fields with operands that none of their values is comparable with.
extension ItemStore {
    /// What to do about a field whose values are all of another kind.
    var kindAdvice: ColumnStore.KindAdvice {
        { [columns] name, kind, other in
            guard columns.existingField(named: name).map(columns.isCustom) ?? true else { return nil }
            let fact = "every \(name) is \(kind.named)"
            guard let other else {
                return kind == .string ? fact + ": items:convert(\"\(name)\", \"real\") makes numbers of them" : fact
            }
            guard let wanted = ItemFieldKind(for: other) else { return fact }
            return "\(fact): items:convert(\"\(name)\", \"\(wanted.rawValue)\") makes it comparable"
        }
    }
}

extension ItemFieldKind {
    /// The conversion that makes values comparable with an operand; nil if there is none.
    fileprivate init?(for operand: FormatExpression) {
        switch operand {
        case .constant(.array(let values)):
            guard let first = values.first else { return nil }
            self.init(for: .constant(first))
        case .constant(.boolean): self = .boolean
        case .constant(.integer): self = .integer
        case .constant(.string): self = .string
        default:
            switch PredicateKind(of: operand) {
            case .number: self = .real
            case .date: self = .date
            case .string: self = .string
            default: return nil
            }
        }
    }
}

extension ItemStore {
    /// The fields of every item with values that are not of their kinds, as an application's archive has them: how many
    /// items, and the first three. O(1) if there are none.
    package func misfits() -> [FieldMisfits] { columns.misfits() }

    /// What is carried as the archive has it, and read otherwise or not at all by the application, in a line each, for
    /// the user.
    package var carriedNotices: [String] {
        misfits().map { "\($0): carried as it is, until it is changed" } + loadReport.remarks
    }
}

extension ItemQuery {
    /// The same for the items of an export, and the fields in it.
    ///
    /// - Parameter names: the fields; all if nil.
    /// - Returns: the lines.
    /// - Throws: errors of the query's conditions.
    package func carriedNotices(exporting names: [String]?) throws -> [String] {
        let columns = store.columns
        columns.recordWholeRead()
        let fields = columns.schema.numbers.filter { field in
            columns.hasMisfits(field) && names?.contains(columns.name(of: field)) ?? true
        }
        if fields.isEmpty { return store.loadReport.remarks }
        return columns.misfits(among: try rows(), in: fields).map { "\($0): exported as it is" }
            + store.loadReport.remarks
    }
}
