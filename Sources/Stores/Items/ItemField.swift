/// The number of a field within one store: what a field's name is looked up as, once, for access without hashing.
public struct ItemField: Hashable, Sendable {
    public let rawValue: UInt32

    init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    public static let name = ItemField(rawValue: 0)
    public static let serialNumber = ItemField(rawValue: 1)
    public static let valueInDollars = ItemField(rawValue: 2)
    public static let dateCreated = ItemField(rawValue: 3)
    public static let itemKey = ItemField(rawValue: 4)

    /// The fields that every item has.
    public static let domain: [ItemField] = [.name, .serialNumber, .valueInDollars, .dateCreated, .itemKey]

    /// Whether the field is one of a user's own.
    public var isCustom: Bool { rawValue >= UInt32(Self.domain.count) }
}
