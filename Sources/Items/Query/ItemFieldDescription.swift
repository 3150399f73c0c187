import ColumnEngine
public import ItemArchive
import PredicateFormat
public import PropertyList

/// Statistics of a field over the items.
public struct ItemFieldDescription: Sendable {
    /// The kind of a field's values.
    public enum Kind: String, Sendable {
        /// Text.
        case string
        /// Whole numbers.
        case integer
        /// Numbers that are not all whole.
        case real
        /// Truth values.
        case boolean
        /// Dates.
        case date
        /// Bytes.
        case data
        /// Arrays.
        case array
        /// Dictionaries.
        case dictionary
        /// Several kinds that are not comparable.
        case mixed
    }

    /// The field's name.
    public let field: String
    /// The kind of its values; integers mixed with reals count as reals.
    public let kind: Kind
    /// The number of items with a value.
    public let count: Int
    /// The number of different values.
    public let distinct: Int
    /// The least value, in the order of ``ItemQuery/sorted(_:descending:)-(String,_)``; nil if values have no order.
    public let min: PropertyListValue?
    /// The greatest value.
    public let max: PropertyListValue?
    /// The most frequent values, at most three.
    public let examples: [PropertyListValue]

    init(_ summary: FieldSummary, of store: ItemStore) {
        field = store.columns.name(of: summary.field)
        kind = Self.kind(summary)
        (count, distinct, examples) = (summary.count, summary.distinct, summary.examples)
        (min, max) = kind == .mixed ? (nil, nil) : (summary.least, summary.greatest)
    }

    private static func kind(_ summary: FieldSummary) -> Kind {
        switch summary.kinds {
        case let kinds where kinds.isSubset(of: [.shortText, .longText]): .string
        case let kinds where kinds.isSubset(of: [.no, .yes]): .boolean
        case [.integer]: .integer
        case let kinds where kinds.isSubset(of: [.integer, .real, .single]): .real
        case [.date]: .date
        case [.box]: Self.kind(ofBoxes: summary.examples)
        default: .mixed
        }
    }

    private static func kind(ofBoxes values: [PropertyListValue]) -> Kind {
        let kinds = Set(values.map(Self.kind(ofBox:)))
        return kinds.count == 1 ? kinds.first ?? .mixed : .mixed
    }

    private static func kind(ofBox value: PropertyListValue) -> Kind {
        switch value {
        case .data: .data
        case .array, .set: .array
        case .dictionary: .dictionary
        case .wideInteger: .integer
        case .utf16: .string
        default: .mixed
        }
    }
}

extension ItemQuery {
    /// Describes each field that some item has, in the order in which fields were added. O(n) per field.
    public func describe() throws -> [ItemFieldDescription] {
        try summaries().map { ItemFieldDescription($0, of: store) }
    }
}

/// Detects comparisons of fields with operands that none of their values is comparable with.
extension ItemStore {
    /// Checks a predicate against the kinds of the fields' values.
    func checkKinds(of predicate: FormatPredicate) throws(FormatPredicateError) {
        try columns.check(predicate) { name, kind, other in
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
    public func misfits() -> [FieldMisfits] { columns.misfits() }

    /// What is carried as the archive has it, and read otherwise or not at all by the application, in a line each, for
    /// the user.
    public var carriedNotices: [String] {
        misfits().map { "\($0): carried as it is, until it is changed" } + loadReport.remarks
    }

    /// The same for the items of an export, and the fields in it.
    ///
    /// - Parameters:
    ///   - query: the items; all if nil.
    ///   - names: the fields; all if nil.
    /// - Returns: the lines.
    /// - Throws: errors of the query's conditions.
    package func carriedNotices(exporting query: ItemQuery?, _ names: [String]?) throws -> [String] {
        let fields = columns.schema.numbers.filter { field in
            columns.hasMisfits(field) && names?.contains(columns.name(of: field)) ?? true
        }
        if fields.isEmpty { return loadReport.remarks }
        return columns.misfits(among: try query?.rows(), in: fields).map { "\($0): exported as it is" }
            + loadReport.remarks
    }
}
