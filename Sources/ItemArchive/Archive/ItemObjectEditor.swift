import ColumnEngine
import KeyedArchive
import PropertyList

/// Changes the object of an item where its fields have changed; what has not stays as the application wrote it.
struct ItemObjectEditor {
    private let object: ArchivedObject
    private let schema: ArchiveSchema

    init(_ object: ArchivedObject, _ schema: ArchiveSchema) {
        self.object = object
        self.schema = schema
    }

    /// - Parameters:
    ///   - old: the fields as they were read from the object.
    ///   - new: the fields as they are.
    ///   - hasKey: whether the object names the item's key.
    mutating func update(from old: ItemFields, to new: ItemFields, hasKey: Bool) {
        if new.name != old.name { set(.string(new.name), under: key(ArchiveSchema.nameKeys, schema.nameKey)) }
        if new.serialNumber != old.serialNumber {
            set(
                new.serialNumber.map(ArchiveValue.string),
                under: key(ArchiveSchema.serialNumberKeys, schema.serialNumberKey))
        }
        if new.valueInDollars != old.valueInDollars {
            let key = key(ArchiveSchema.valueKeys, schema.valueKey)
            if case .object(_?)? = object[key] {
                set(.integer(new.valueInDollars), under: key)
            } else {
                object[key] = .inline(.integer(new.valueInDollars))
            }
        }
        if new.dateCreated != old.dateCreated, let date = new.dateCreated {
            set(.date(date), under: key(ArchiveSchema.dateKeys, schema.dateKey))
        }
        // A key that is the application's own stays nil there: it says that the item has no image.
        if !hasKey, let itemKey = new.itemKey { set(.string(itemKey), under: "itemKey") }
        for name in Set(old.custom.keys).union(new.custom.keys).sorted() {
            let (before, after) = (old.custom[name], new.custom[name])
            if before != after { setCustom(after, under: schema.archivedKey(ofField: name)) }
        }
    }

    /// Gives a new object all fields.
    mutating func fill(with fields: ItemFields) {
        set(.string(fields.name), under: schema.nameKey)
        set(fields.serialNumber.map(ArchiveValue.string), under: schema.serialNumberKey)
        if schema.valueIsObject {
            set(.integer(fields.valueInDollars), under: schema.valueKey)
        } else {
            object[schema.valueKey] = .inline(.integer(fields.valueInDollars))
        }
        set(fields.dateCreated.map(ArchiveValue.date), under: schema.dateKey)
        set(fields.itemKey.map(ArchiveValue.string), under: schema.itemKeyKey)
        for (name, value) in fields.custom.sorted(by: { $0.key < $1.key }) {
            let key = schema.archivedKey(ofField: name)
            if schema.inlineFields.contains(name), Self.isScalar(value) {
                object[key] = .inline(value)
            } else {
                setCustom(value, under: key)
            }
        }
    }

    /// Takes over what another item has under keys that are no fields: the objects of the application's own classes, which
    /// both refer to then.
    mutating func takeForeignFields(of model: ArchivedObject, besides fields: ItemFields) {
        var known: Set<String> = ["imageKey"]
        for keys in [
            ArchiveSchema.nameKeys, ArchiveSchema.serialNumberKeys, ArchiveSchema.valueKeys, ArchiveSchema.dateKeys,
            ArchiveSchema.itemKeyKeys,
        ] {
            known.formUnion(keys)
        }
        known.formUnion(fields.custom.keys.map { schema.archivedKey(ofField: $0) })
        for field in model.fields where !known.contains(field.key) && object[field.key] == nil {
            object[field.key] = field.value
        }
    }

    /// The first of a field's names that the object has, as the reader looks for it.
    private func key(_ aliases: [String], _ usual: String) -> String {
        aliases.first { object[$0] != nil } ?? usual
    }

    private func set(_ value: ArchiveValue?, under key: String) { object[key] = .object(value) }

    private func setCustom(_ value: PropertyListValue?, under key: String) {
        guard let value else {
            object[key] = nil
            return
        }
        makeExplicit(before: key)
        if case .inline? = object[key], Self.isScalar(value) {
            object[key] = .inline(value)
        } else {
            object[key] = .object(ArchiveValue(propertyList: value))
        }
    }

    /// A key that is a field of the domain in another edition is one for a reader here, too, unless the object has the
    /// field's own key: that becomes nil where it was absent.
    private func makeExplicit(before key: String) {
        let fields = [
            (ArchiveSchema.nameKeys, schema.nameKey), (ArchiveSchema.serialNumberKeys, schema.serialNumberKey),
            (ArchiveSchema.valueKeys, schema.valueKey), (ArchiveSchema.dateKeys, schema.dateKey),
            (ArchiveSchema.itemKeyKeys, schema.itemKeyKey),
        ]
        for (aliases, usual) in fields where aliases.contains(key) && object[usual] == nil {
            object[usual] = .object(nil)
        }
    }

    /// Whether a value is one that coders write in place.
    private static func isScalar(_ value: PropertyListValue) -> Bool {
        switch value {
        case .boolean, .integer, .real, .single: true
        default: false
        }
    }
}
