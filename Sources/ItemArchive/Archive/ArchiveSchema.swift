public import ColumnEngine
import Glibc
public import PropertyList

/// The form of an archive's items: class and keys, as the application that owns the archive knows them.
///
/// A new store has the schema of this application. A store opened from another application's archive keeps that schema,
/// so that the other can open the archive again.
public struct ArchiveSchema: Sendable, Hashable {
    /// The format of the file.
    public enum Form: Sendable, Hashable {
        /// A keyed archive with an array of items as root.
        case keyedArchive
        /// A property list, an array of dictionaries.
        case propertyList
    }

    /// How the items are stored.
    public var form = Form.keyedArchive
    /// The items' class, for example `Item` or `Homepwner.Item`.
    public var className = "Item"
    /// Its superclasses.
    public var superclasses = ["NSObject"]
    /// Whether the root is an NSMutableArray.
    public var isMutableArray = false

    /// The key of an item's name.
    public var nameKey = "name"
    /// The key of its serial number.
    public var serialNumberKey = "serialNumber"
    /// The key of its value.
    public var valueKey = "valueInDollars"
    /// The key of its date.
    public var dateKey = "dateCreated"
    /// The key of its item key.
    public var itemKeyKey = "itemKey"
    /// Whether the value is an NSNumber object and not an inline integer.
    public var valueIsObject = false
    /// The fields that are nil in items that lack them. For items that lack another field there is no key.
    var nilFields: Set<ItemField> = []
    /// Custom fields that are inline in the item and not objects.
    public var inlineFields: Set<ExactText> = []
    /// The keys of items without a key under `itemKeyKey`: nil there means that the item has no image.
    public var keylessItems: Set<ExactText> = []
    /// The items' objects of the application's own classes.
    public internal(set) var foreignFields = ForeignFields()
    /// The archive as opened, if it has content beyond the fields of its items.
    public internal(set) var original: OriginalArchive?

    /// Creates the usual schema for items of a class.
    public init(className: String = "Item") {
        self.className = className
    }

    static let nameKeys = ["name", "itemName", "possessionName"]
    static let serialNumberKeys = ["serialNumber", "serialnumber", "serialName"]
    static let valueKeys = ["valueInDollars", "valueDollars", "value"]
    static let dateKeys = ["dateCreated"]
    static let itemKeyKeys = ["itemKey", "imageKey", "itemUUIDKey"]

    /// The fields of the domain in the order of their numbers: name, key in this archive, and all known keys.
    var fields: [(name: String, key: String, aliases: [String])] {
        [
            ("name", nameKey, Self.nameKeys), ("serialNumber", serialNumberKey, Self.serialNumberKeys),
            ("valueInDollars", valueKey, Self.valueKeys), ("dateCreated", dateKey, Self.dateKeys),
            ("itemKey", itemKeyKey, Self.itemKeyKeys),
        ]
    }

    /// The prefix for a custom field's name that would be read as a field of the domain.
    private static let escape = "custom."

    /// The key of a custom field in the archive: its name, unless a reader would take that for a field of the domain.
    func archivedKey(ofField name: String) -> String {
        isAmbiguous(name) ? Self.escape + name : name
    }

    /// The custom field for a key of the archive.
    func field(ofArchivedKey key: String) -> String {
        guard key.hasPrefix(Self.escape), isAmbiguous(key) else { return key }
        return String(key.dropFirst(Self.escape.count))
    }

    private func isAmbiguous(_ name: String) -> Bool {
        var bare = name[...]
        while bare.hasPrefix(Self.escape) { bare = bare.dropFirst(Self.escape.count) }
        // A reader uses the first alias that it finds.
        return fields.contains { _, key, aliases in
            guard let alias = aliases.firstIndex(where: { $0 == bare }) else { return false }
            return alias <= aliases.firstIndex { $0 == key } ?? 0
        }
    }

    /// Whether a class name is that of an item class: `Possession`, `BNRItem`, `Homepwner.Item`.
    static func isItemClass(_ name: String) -> Bool {
        let last = (name.split(separator: ".").last.map(String.init) ?? name).lowercased()
        return last.hasSuffix("item") || last == "possession" || last == "possessions"
    }
}

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

/// A field of every item with values that are not of its kind, or that some items lack: an application's archive has
/// them so, and they are carried as they are. They can be replaced only by values that fit.
public struct FieldMisfits: Sendable, Hashable, CustomStringConvertible {
    /// An item with such a value.
    public struct Example: Sendable, Hashable {
        /// The item's name in quotes, or its key if it has no name.
        public let item: String
        /// The value; nil if the item lacks the field.
        public let value: PropertyListValue?
    }

    /// The field's name.
    public let field: String
    /// The kind of its values with an article: `an integer`.
    public let kind: String
    /// The number of items. A real without a fraction in a field of integers is read alike by all programs, and does
    /// not count.
    public let count: Int
    /// Whether all of them lack the field, and a program reads nil, as here; for an integer it would read 0.
    public let isOnlyNil: Bool
    /// The first three, in the store's order.
    public let examples: [Example]

    /// `valueInDollars is not an integer in 2 items: 12.5 in "Lamp", nil in "Chair"`.
    public var description: String {
        let values = examples.map { "\(FieldValidation.describe($0.value)) in \($0.item)" }.joined(separator: ", ")
        return "\(field) is not \(kind) in \(count.counted("item")): \(values)\(count > examples.count ? ", …" : "")"
    }
}

extension ColumnStore {
    /// The fields with values that are not of their kinds.
    ///
    /// - Parameters:
    ///   - rows: the items; all if nil.
    ///   - fields: the fields.
    /// - Returns: one for each such field.
    /// - Complexity: O(1) if there are none, else O(items).
    package func misfits(
        among rows: [UInt32]? = nil, in fields: [ItemField] = ItemField.domain
    ) -> [FieldMisfits] {
        recordWholeRead()
        return fields.compactMap { field in
            guard let kind = misfitKind(field) else { return nil }
            var examples: [FieldMisfits.Example] = []
            var (count, isOnlyNil) = (0, kind != .integer)
            forEachMisfit(field, among: rows) { row, cell in
                if kind == .integer, cell.isReal, case let real = cell.realValue, Int64(exactly: real) != nil { return }
                // A text that ends within a character is a text.
                if kind == .text, case .utf16? = value(cell) { return }
                count += 1
                if !cell.isAbsent { isOnlyNil = false }
                if count <= 3 { examples.append(FieldMisfits.Example(item: label(row), value: value(cell))) }
            }
            guard count > 0 else { return nil }
            return FieldMisfits(
                field: name(of: field), kind: kind.named, count: count, isOnlyNil: isOnlyNil, examples: examples)
        }
    }

    /// An item for messages: its name in quotes, or its key if it has no name.
    package func label(_ row: UInt32) -> String {
        let cell = cell(row, .name)
        guard cell.isText, cell.withText({ !$0.isEmpty }) else { return keyString(row) }
        let name = CellHeap.string(cell)
        return (name.count <= 40 ? name : name.prefix(40) + "…").quoted()
    }
}
