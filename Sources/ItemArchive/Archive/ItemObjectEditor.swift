import ColumnEngine
import KeyedArchive
import PropertyList

/// Changes the object of an item where its fields have changed; what has not stays as the application wrote it.
struct ItemObjectEditor {
    typealias Values = [String: PropertyListValue]

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
    mutating func update(from old: Values, to new: Values, hasKey: Bool) {
        for field in schema.fields {
            let value = new[field.name]
            if field.name == "itemKey" {
                // A key that is the application's own stays nil there: it says that the item has no image.
                if !hasKey { set(value, under: "itemKey") }
            } else if value != old[field.name] {
                // The first of the field's keys that the object has, as the reader looks for it.
                let key = field.aliases.first { object[$0] != nil } ?? field.key
                if case .object(_?)? = object[key] {
                    set(value, under: key)
                } else {
                    place(value, under: key, inline: true)
                }
            }
        }
        for name in customNames(Set(old.keys).union(new.keys)) where old[name] != new[name] {
            setCustom(new[name], under: schema.archivedKey(ofField: name))
        }
    }

    /// Gives a new object all fields.
    mutating func fill(with values: Values) {
        for field in schema.fields { place(values[field.name], under: field.key, inline: !schema.valueIsObject) }
        for name in customNames(values.keys) {
            guard let value = values[name] else { continue }
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
    mutating func takeForeignFields(of model: ArchivedObject, besides values: Values) {
        let known = Set(
            schema.fields.flatMap(\.aliases) + customNames(values.keys).map(schema.archivedKey) + ["imageKey"])
        for field in model.fields where !known.contains(field.key) && object[field.key] == nil {
            object[field.key] = field.value
        }
    }

    private func customNames(_ names: some Sequence<String>) -> [String] {
        let domain = schema.fields.map(\.name)
        return names.filter { !domain.contains($0) }.sorted()
    }

    private func set(_ value: PropertyListValue?, under key: String) {
        object[key] = .object(value.flatMap(ArchiveValue.init(propertyList:)))
    }

    /// Sets a field of the domain: a number in line or as an object, all else as an object.
    private func place(_ value: PropertyListValue?, under key: String, inline isInline: Bool) {
        if isInline, let value, Self.isScalar(value) { object[key] = .inline(value) } else { set(value, under: key) }
    }

    private func setCustom(_ value: PropertyListValue?, under key: String) {
        guard let value else {
            object[key] = nil
            return
        }
        makeExplicit(before: key)
        if case .inline? = object[key], Self.isScalar(value) {
            object[key] = .inline(value)
        } else {
            set(value, under: key)
        }
    }

    /// A key that is a field of the domain in another edition is one for a reader here, too, unless the object has the
    /// field's own key: that becomes nil where it was absent.
    private func makeExplicit(before key: String) {
        for (_, usual, aliases) in schema.fields where aliases.contains(key) && object[usual] == nil {
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
