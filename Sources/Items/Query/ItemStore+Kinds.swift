import ColumnEngine
import PredicateFormat
import PropertyList

/// Detects comparisons of fields with operands that none of their values is comparable with.
extension ItemStore {
    private static let domainFields: Set<String> = ["name", "serialNumber", "valueInDollars", "dateCreated", "itemKey"]

    /// Checks a predicate against the kinds of the fields' values.
    func checkKinds(of predicate: FormatPredicate) throws(FormatPredicateError) {
        try columns.check(predicate) { name, kind, other in
            guard !Self.domainFields.contains(name) else { return nil }
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
