public import ColumnEngine
import Glibc

/// The fields of every item, with their names in the archive; the numbers follow the order of the declarations.
extension ItemField {
    /// An item's name.
    @inlinable public static var name: ItemField { ItemField(rawValue: 0) }
    /// Its serial number.
    @inlinable public static var serialNumber: ItemField { ItemField(rawValue: 1) }
    /// Its value in dollars.
    @inlinable public static var valueInDollars: ItemField { ItemField(rawValue: 2) }
    /// The time of its creation.
    @inlinable public static var dateCreated: ItemField { ItemField(rawValue: 3) }
    /// Its key, which is unique.
    @inlinable public static var itemKey: ItemField { ItemField(rawValue: 4) }

    /// The fields of every item.
    public static let domain: [ItemField] = [.name, .serialNumber, .valueInDollars, .dateCreated, .itemKey]

    /// A field of the domain by its name's bytes; nil for any other name. All names differ in length.
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

    /// Whether the field is a custom one.
    public var isCustom: Bool { rawValue > Self.itemKey.rawValue }
}

extension [FieldDeclaration] {
    /// The fields of the domain that have columns, in the order of their numbers.
    package static let domain = [
        FieldDeclaration(name: "name", kind: .text, unset: Cell(.shortText)),
        FieldDeclaration(name: "serialNumber", kind: .text, unset: .absent),
        FieldDeclaration(name: "valueInDollars", kind: .integer, unset: .integer(0)),
        FieldDeclaration(name: "dateCreated", kind: .date, unset: .date(0), isStamped: true),
    ]
}
