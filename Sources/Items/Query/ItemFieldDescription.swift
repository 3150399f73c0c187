import ColumnEngine
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
        try rows.summaries().map { ItemFieldDescription($0, of: store) }
    }
}
