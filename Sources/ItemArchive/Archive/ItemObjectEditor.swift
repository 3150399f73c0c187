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
                if !hasKey { set(value, under: field.aliases[0]) }
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
        for (number, field) in schema.fields.enumerated() where values[field.name] != .null {
            let isInline = !schema.objectFields.contains(ItemField(rawValue: UInt32(number)))
            place(values[field.name], under: field.key, inline: isInline)
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
            switch (schema.schema.field(named: field.name)?.kind.kind, values[field.name], entry) {
            case (.text?, .string?, _), (.date?, .date?, _): continue
            case (.integer?, .integer?, .inline?), (.integer?, .integer?, .object(.integer?)?): continue
            default: object[key(of: field, in: object)] = entry
            }
        }
    }

    /// Copies another item's entries that are not fields: references to objects of the application's own classes, which
    /// both items then share.
    mutating func takeForeignFields(of model: ArchivedObject, besides values: Values) {
        let known = Set(
            (schema.fields.flatMap(\.aliases) + customNames(values.keys).map(schema.archivedKey)).map { ExactText($0) })
        for field in model.fields where !known.contains(ExactText(field.key)) && object[field.key] == nil {
            object[field.key] = field.value
        }
    }

    private func customNames(_ names: some Sequence<String>) -> [String] {
        names.filter { !schema.schema.has($0) }.sortedByBytes()
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
        let isInline = if case .inline? = object[key] { true } else { false }
        place(value, under: key, inline: isInline)
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

/// The locations of the items in an archive's graph.
struct ItemPlaces {
    /// An array of items, and its other elements.
    private struct List {
        var topIndex: Int
        /// The elements that are not items, with their indices.
        var otherMembers: [(index: Int, value: ArchiveValue?)] = []
    }

    /// The items by key.
    private(set) var objects: [ExactText: ArchivedObject] = [:]
    private var lists: [List] = []
    /// The array of an item, by the item's key.
    private var listOfItem: [ExactText: Int] = [:]
    /// The location of the one item outside of arrays.
    private var single: Int?

    /// Fails if both do not match, or if one object is two items.
    ///
    /// - Parameters:
    ///   - graph: the archive.
    ///   - elements: the keys of the elements in the reader's order; nil for an element that is not an item.
    ///   - schema: knows the items' classes.
    init?(_ graph: ArchiveGraph, _ elements: [String?], _ schema: ItemSchema) {
        var rest = elements[...]
        for (topIndex, field) in graph.top.enumerated() {
            guard case .object(let value?) = field.value else { continue }
            if let members = Self.elements(of: value) {
                var list = List(topIndex: topIndex)
                for (index, member) in members.enumerated() {
                    guard let key = rest.popFirst() else { return nil }
                    guard let key else {
                        list.otherMembers.append((index, member))
                        continue
                    }
                    guard case .unknown(let object)? = member, record(object, key) else { return nil }
                    listOfItem[ExactText(key)] = lists.count
                }
                lists.append(list)
            } else if case .unknown(let object) = value, schema.isItemClass(object.archivedClass.name) {
                guard let key = rest.popFirst(), let key, single == nil, record(object, key) else { return nil }
                single = topIndex
            }
        }
        guard rest.isEmpty, Set(objects.values.map(ObjectIdentifier.init)).count == objects.count else { return nil }
    }

    private mutating func record(_ object: ArchivedObject, _ key: String) -> Bool {
        objects.updateValue(object, forKey: ExactText(key)) == nil
    }

    /// Whether there is an array for new items, or one item that can become an array.
    var hasPlaceForItems: Bool { !lists.isEmpty || single != nil }

    /// Puts the items in order into the graph: each into its original array, new ones into the last.
    func put(_ items: [(key: String, object: ArchivedObject)], into graph: ArchiveGraph) {
        if lists.isEmpty, let single {
            if items.count == 1, objects[ExactText(items[0].key)] === items[0].object { return }
            let all = items.map { ArchiveValue?.some(.unknown($0.object)) }
            graph.top[single].value = .object(.collection(ArchivedCollection(elements: all)))
            return
        }
        var members: [[ArchiveValue?]] = Array(repeating: [], count: lists.count)
        var hasSingle = false
        for item in items {
            if let list = listOfItem[ExactText(item.key)] {
                members[list].append(.unknown(item.object))
            } else if objects[ExactText(item.key)] === item.object {
                hasSingle = true
            } else if let last = members.indices.last {
                members[last].append(.unknown(item.object))
            }
        }
        for (list, items) in zip(lists, members) {
            guard case .object(let value?) = graph.top[list.topIndex].value else { continue }
            Self.setElements(of: value, to: Self.merged(items, list.otherMembers))
        }
        if let single, !hasSingle { graph.top[single].value = .object(nil) }
    }

    /// Merges items with an array's other elements, which keep their indices as far as enough items precede them.
    private static func merged(
        _ items: [ArchiveValue?], _ otherMembers: [(index: Int, value: ArchiveValue?)]
    ) -> [ArchiveValue?] {
        var elements: [ArchiveValue?] = []
        elements.reserveCapacity(items.count + otherMembers.count)
        var next = 0
        for item in items {
            while next < otherMembers.count, otherMembers[next].index <= elements.count {
                elements.append(otherMembers[next].value)
                next += 1
            }
            elements.append(item)
        }
        return elements + otherMembers[next...].map(\.value)
    }

    /// The elements of an array; also of an array that is kept as an archived object.
    private static func elements(of value: ArchiveValue) -> [ArchiveValue?]? {
        switch value {
        case .collection(let collection) where collection.kind == .array: return collection.elements
        case .unknown(let object) where object.archivedClass.lineage.contains("NSArray"):
            guard case .list(let parts)? = object["NS.objects"] else { return nil }
            var elements: [ArchiveValue?] = []
            for part in parts {
                guard case .object(let element) = part else { return nil }
                elements.append(element)
            }
            return elements
        default: return nil
        }
    }

    private static func setElements(of value: ArchiveValue, to elements: [ArchiveValue?]) {
        switch value {
        case .collection(let collection): collection.elements = elements
        case .unknown(let object): object["NS.objects"] = .list(elements.map { .object($0) })
        default: break
        }
    }
}
