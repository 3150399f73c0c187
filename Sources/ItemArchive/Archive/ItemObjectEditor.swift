import ColumnEngine
import KeyedArchive
import PropertyList

/// Edits an item's object where its fields have changed; the rest stays as the application wrote it.
struct ItemObjectEditor {
    typealias Values = PropertyListFields

    private let object: ArchivedObject
    private let schema: ArchiveSchema

    init(_ object: ArchivedObject, _ schema: ArchiveSchema) {
        self.object = object
        self.schema = schema
    }

    /// - Parameters:
    ///   - old: the fields as read from the object.
    ///   - new: the current fields.
    ///   - hasKey: whether the object contains the item's key.
    mutating func update(from old: Values, to new: Values, hasKey: Bool) {
        for field in schema.fields {
            let value = new[field.name]
            if field.name == "itemKey" {
                // The application's own key stays nil: it means that the item has no image.
                if !hasKey { set(value, under: "itemKey") }
            } else if !Self.areSame(value, old[field.name]) {
                let key = key(of: field, in: object)
                if value == .null {
                    object[key] = nil
                } else if case .object(_?)? = object[key] {
                    set(value, under: key)
                } else {
                    place(value, under: key, inline: true)
                }
            }
        }
        for name in customNames(old.merging(new) { $1 }.keys) where !Self.areSame(old[name], new[name]) {
            setCustom(new[name], under: schema.archivedKey(ofField: name))
        }
    }

    /// Sets all fields of a new object.
    mutating func fill(with values: Values) {
        for field in schema.fields where values[field.name] != .null {
            place(values[field.name], under: field.key, inline: !schema.valueIsObject)
        }
        for name in customNames(values.keys) {
            guard let value = values[name] else { continue }
            let key = schema.archivedKey(ofField: name)
            if schema.inlineFields.contains(ExactText(name)), Self.isScalar(value) {
                object[key] = .inline(value)
            } else {
                setCustom(value, under: key)
            }
        }
    }

    /// The first of a field's keys in an object, in the order of the reader.
    private func key(of field: (name: String, key: String, aliases: [String]), in object: ArchivedObject) -> String {
        field.aliases.first { object[$0] != nil } ?? field.key
    }

    /// Takes over another item's objects, and missing keys, of fields of every item that have its values and are not in
    /// the usual form.
    mutating func takeUnusualForms(of model: ArchivedObject, with values: Values, for new: Values) {
        for field in schema.fields where field.name != "itemKey" && Self.areSame(new[field.name], values[field.name]) {
            let entry = model[key(of: field, in: model)]
            switch (field.name, values[field.name], entry) {
            case ("name", .string?, _), ("serialNumber", .string?, _), ("dateCreated", .date?, _): continue
            case ("valueInDollars", .integer?, .inline?), ("valueInDollars", .integer?, .object(.integer?)?): continue
            default: object[key(of: field, in: object)] = entry
            }
        }
    }

    /// Copies another item's entries that are not fields: references to objects of the application's own classes, which
    /// both items then share.
    mutating func takeForeignFields(of model: ArchivedObject, besides values: Values) {
        let known = Set(
            (schema.fields.flatMap(\.aliases) + customNames(values.keys).map(schema.archivedKey) + ["imageKey"])
                .map { ExactText($0) })
        for field in model.fields where !known.contains(ExactText(field.key)) && object[field.key] == nil {
            object[field.key] = field.value
        }
    }

    private func customNames(_ names: some Sequence<String>) -> [String] {
        let domain = schema.fields.map(\.name)
        return names.filter { !domain.contains($0) }.sortedByBytes()
    }

    private func set(_ value: PropertyListValue?, under key: String) {
        object[key] = .object(value.flatMap(ArchiveValue.init(propertyList:)))
    }

    /// Sets a field of the domain: a number inline or as an object, any other value as an object.
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

    /// A reader would take a key that is a field of the domain in another edition for that field, unless the object has
    /// the field's own key: that is set to nil if it is absent.
    private func makeExplicit(before key: String) {
        for (_, usual, aliases) in schema.fields where aliases.contains(key) && object[usual] == nil {
            object[usual] = .object(nil)
        }
    }

    /// Whether two values are the same; a real that is not a number is the same as itself.
    static func areSame(_ first: PropertyListValue?, _ second: PropertyListValue?) -> Bool {
        if case .real(let left)? = first, case .real(let right)? = second { return left.bitPattern == right.bitPattern }
        return first == second
    }

    /// Whether coders write a value inline.
    private static func isScalar(_ value: PropertyListValue) -> Bool {
        switch value {
        case .boolean, .integer, .real, .single: true
        default: false
        }
    }
}
