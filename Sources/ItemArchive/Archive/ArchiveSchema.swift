import ColumnEngine
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
