import Glibc

/// The number of a field within one store: what a field's name is looked up as, once, for access without hashing.
public struct ItemField: Hashable, Sendable {
    public let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    public static var name: ItemField { ItemField(rawValue: 0) }
    public static var serialNumber: ItemField { ItemField(rawValue: 1) }
    public static var valueInDollars: ItemField { ItemField(rawValue: 2) }
    public static var dateCreated: ItemField { ItemField(rawValue: 3) }
    public static var itemKey: ItemField { ItemField(rawValue: 4) }

    /// The fields that every item has.
    public static let domain: [ItemField] = [.name, .serialNumber, .valueInDollars, .dateCreated, .itemKey]

    /// A field of the domain by its name's bytes; nil for any other name. No two names are of one length.
    public init?(domain name: UnsafeBufferPointer<UInt8>) {
        let field: ItemField
        let expected: StaticString
        switch name.count {
        case 4: (field, expected) = (.name, "name")
        case 7: (field, expected) = (.itemKey, "itemKey")
        case 11: (field, expected) = (.dateCreated, "dateCreated")
        case 12: (field, expected) = (.serialNumber, "serialNumber")
        case 14: (field, expected) = (.valueInDollars, "valueInDollars")
        default: return nil
        }
        guard let bytes = name.baseAddress, memcmp(bytes, expected.utf8Start, name.count) == 0 else { return nil }
        self = field
    }

    /// Whether the field is one of a user's own.
    public var isCustom: Bool { rawValue > Self.itemKey.rawValue }
}
