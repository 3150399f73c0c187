package import ColumnEngine
package import PropertyList

/// The form of an archive's items: class and keys, as the application that owns the archive knows them.
///
/// A new store has the schema of this application. A store opened from another application's archive keeps that schema,
/// so that the other can open the archive again.
package struct ArchiveSchema: Sendable, Hashable {
    /// The format of the file.
    package enum Form: Sendable, Hashable {
        /// A keyed archive with an array of items as root.
        case keyedArchive
        /// A property list, an array of dictionaries.
        case propertyList
    }

    /// How the items are stored.
    package var form = Form.keyedArchive
    /// The items' class, for example `Item` or `Homepwner.Item`.
    package var className = "Item"
    /// Its superclasses.
    package var superclasses = ["NSObject"]
    /// Whether the root is an NSMutableArray.
    package var isMutableArray = false

    /// The fields of every item of the store.
    package let schema: ItemSchema
    /// The keys of the fields of every item, by number, then that of the items' key.
    package var keys: [String]
    /// The fields of integers that are NSNumber objects and not inline.
    package var objectFields: Set<ItemField> = []
    /// The fields that are nil in items that lack them. For items that lack another field there is no key.
    var nilFields: Set<ItemField> = []
    /// Custom fields that are inline in the item and not objects.
    package var inlineFields: Set<ExactText> = []
    /// The keys of items without a key under ``itemKeyKey``: nil there means that the item has no image.
    package var keylessItems: Set<ExactText> = []
    /// The items' objects of the application's own classes.
    package internal(set) var foreignFields = ForeignFields()
    /// The archive as opened, if it has content beyond the fields of its items.
    package internal(set) var original: OriginalArchive?

    /// Creates the usual form of a store's items, of a class.
    package init(_ schema: ItemSchema, className: String = "Item") {
        (self.schema, self.className) = (schema, className)
        keys = schema.fields.map { $0.archiveNames[0] } + schema.keyNames.prefix(1)
    }

    /// The key of the items' key.
    package var itemKeyKey: String {
        get { keys.last ?? "itemKey" }
        set { keys[keys.count - 1] = newValue }
    }

    /// The fields of every item in the order of their numbers: name, key in this archive, and all known keys.
    var fields: [(name: String, key: String, aliases: [String])] {
        zip(zip(schema.names, keys), schema.fields.map(\.archiveNames) + [schema.keyNames]).map { ($0.0, $0.1, $1) }
    }

    /// Whether keys of an archive are ones of these fields.
    func knows(_ keys: [String]) -> Bool {
        keys.count == self.keys.count
            && zip(fields, keys).allSatisfy { field, key in field.aliases.contains { $0 == key } }
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
}

/// A field of every item with values that are not of its kind, or that some items lack: an application's archive has
/// them so, and they are carried as they are. They can be replaced only by values that fit.
package struct FieldMisfits: Sendable, Hashable, CustomStringConvertible {
    /// An item with such a value.
    package struct Example: Sendable, Hashable {
        /// The item's name in quotes, or its key if it has no name.
        package let item: String
        /// The value; nil if the item lacks the field.
        package let value: PropertyListValue?
    }

    /// The field's name.
    package let field: String
    /// The kind of its values with an article: `an integer`.
    package let kind: String
    /// The number of items. A real without a fraction in a field of integers is read alike by all programs, and does
    /// not count.
    package let count: Int
    /// Whether all of them lack the field, and a program reads nil, as here; for an integer it would read 0.
    package let isOnlyNil: Bool
    /// The first three, in the store's order.
    package let examples: [Example]

    /// `valueInDollars is not an integer in 2 items: 12.5 in "Lamp", nil in "Chair"`.
    package var description: String {
        let values = examples.map { "\(FieldValidation.describe($0.value)) in \($0.item)" }.joined(separator: ", ")
        return "\(field) is not \(kind) in \(count.counted("item")): \(values)\(count > examples.count ? ", …" : "")"
    }
}

extension ColumnStore {
    /// The fields with values that are not of their kinds.
    ///
    /// - Parameters:
    ///   - rows: the items; all if nil.
    ///   - fields: the fields; those of every item if nil.
    /// - Returns: one for each such field.
    /// - Complexity: O(1) if there are none, else O(items).
    package func misfits(
        among rows: [UInt32]? = nil, in fields: [ItemField]? = nil
    ) -> [FieldMisfits] {
        recordWholeRead()
        return (fields ?? schema.numbers).compactMap { field in
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
}
