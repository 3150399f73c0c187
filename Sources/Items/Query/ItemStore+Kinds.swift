import ColumnEngine
import PredicateFormat
import PropertyList

/// Detects comparisons of fields with operands that none of their values is comparable with.
extension ItemStore {
    private static let domainKinds: [String: PredicateKind] = [
        "name": .string, "serialNumber": .string, "valueInDollars": .number, "dateCreated": .date, "itemKey": .string,
    ]

    /// Checks a predicate against the kinds of fields whose values are all of one kind.
    func checkKinds(of predicate: FormatPredicate) throws(FormatPredicateError) {
        var kinds = Self.domainKinds
        for field in ItemField.domain where columns.hasMisfits(field) { kinds[columns.name(of: field)] = .unknown }
        for name in predicate.fields where kinds[name] == nil {
            kinds[name] = columns.existingField(named: name).map(kind(of:))
        }
        do throws(FormatPredicateError) { return try predicate.check(kinds: kinds) } catch {
            // A field without values is comparable with everything. Checked last, since it may examine all items.
            for name in predicate.fields where Self.domainKinds[name] == nil {
                if let field = columns.existingField(named: name), !columns.isInUse(field) { kinds[name] = .unknown }
            }
        }
        try predicate.check(kinds: kinds) { name, other in
            guard Self.domainKinds[name] == nil, let kind = kinds[name], kind != .unknown else { return nil }
            let fact = "every \(name) is \(kind.named)"
            guard let wanted = ItemFieldKind(for: other) else { return fact }
            return "\(fact): items:convert(\"\(name)\", \"\(wanted.rawValue)\") makes it comparable"
        }
    }

    /// The kind of a custom field's values; unknown for several kinds, and for arrays and dictionaries.
    private func kind(of field: ItemField) -> PredicateKind {
        var found: PredicateKind?
        let kinds = columns.kinds(field)
        for raw in Cell.Kind.absent.rawValue...Cell.Kind.box.rawValue where kinds & 1 << UInt16(raw) != 0 {
            let kind: PredicateKind =
                switch Cell.Kind(rawValue: raw) {
                case .no, .yes, .integer, .real, .single: .number
                case .date: .date
                case .shortText, .longText: .string
                default: .unknown
                }
            if let found, found != kind { return .unknown }
            found = kind
        }
        return found ?? .unknown
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
