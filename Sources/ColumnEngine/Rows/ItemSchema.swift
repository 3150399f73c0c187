package import PropertyList

/// The fields that every item of a collection has, with their names in archives.
///
/// A store is made with one, and journals and archives are read and written by that of their store: no field is named
/// anywhere else in the engine or in a format. A field's number is its place here; that of the items' key follows, then
/// those of custom fields, in the order of their appearance.
public struct ItemSchema: Sendable, Hashable {
    /// The fields.
    package let fields: [Field]
    /// The names of the items' key in archives: that of this program, then those of others, the likeliest first.
    package let keyNames: [String]
    /// The one of these that an item without an image has as nil, also beside another.
    package let imageKeyName: String?
    /// The classes of items in archives of other programs, by the last part of their names, in lowercase.
    package let classNames: Set<String>
    /// The same by the ends of their names.
    package let classSuffixes: [String]

    /// The kinds of the fields, by number.
    package let kinds: [DeclaredKind]
    /// Whether the first fields are those of a household, in its order.
    package let isHousehold: Bool

    /// Creates a schema.
    ///
    /// - Parameters:
    ///   - fields: the fields, with different names; none for items with nothing but their key.
    ///   - keyNames: the names of the items' key in archives, this program's first.
    ///   - imageKeyName: the one of these that is nil in an item without an image.
    ///   - classNames: the items' classes in archives of other programs, in lowercase, without a module.
    ///   - classSuffixes: the ends of such names.
    public init(
        _ fields: [Field] = [], keyNames: [String] = ["itemKey"], imageKeyName: String? = nil,
        classNames: Set<String> = [], classSuffixes: [String] = ["item"]
    ) {
        (self.fields, self.imageKeyName) = (fields, imageKeyName)
        self.keyNames = keyNames.isEmpty ? ["itemKey"] : keyNames
        (self.classNames, self.classSuffixes) = (classNames, classSuffixes)
        kinds = fields.map(\.kind)
        isHousehold = fields.prefix(Self.householdNames.count).map(\.name) == Self.householdNames
    }

    /// The names of a household's fields, in order.
    package static let householdNames = ["name", "serialNumber", "valueInDollars", "dateCreated"]

    /// A field of every item.
    public struct Field: Sendable, Hashable {
        /// Its name.
        package let name: String
        /// Its names in archives: that of this program, then those of others, the likeliest first.
        package let archiveNames: [String]
        /// The value of a new item without one; nil if an item may lack the field.
        package let initial: PropertyListValue?
        /// Whether a new item without a value gets the time of its creation; for one field of a schema.
        package let isStamped: Bool
        package let kind: DeclaredKind

        private init(
            _ name: String, _ kind: FieldKind, _ initial: PropertyListValue?, isStamped: Bool = false,
            _ otherNames: [String]
        ) {
            (self.name, self.initial, self.isStamped) = (name, initial, isStamped)
            self.kind = DeclaredKind(kind: kind, isOptional: initial == nil)
            archiveNames = [name] + otherNames
        }

        /// A field of texts; empty in a new item, or absent if an item may lack it.
        public static func text(_ name: String, isOptional: Bool = false, otherNames: [String] = []) -> Field {
            Field(name, .text, isOptional ? nil : .string(""), otherNames)
        }

        /// A field of integers of 64 bits.
        public static func integer(_ name: String, initial: Int64 = 0, otherNames: [String] = []) -> Field {
            Field(name, .integer, .integer(initial), otherNames)
        }

        /// A field of dates; in a new item the time of its creation, or else the reference date.
        public static func date(_ name: String, isStamped: Bool = false, otherNames: [String] = []) -> Field {
            let initial = PropertyListDate(secondsSinceReferenceDate: 0)
            return Field(name, .date, .date(initial), isStamped: isStamped, otherNames)
        }

        /// The cell of a new item.
        package var unset: Cell {
            switch initial {
            case .integer(let number)?: .integer(number)
            case .date(let date)?: .date(date.secondsSinceReferenceDate)
            case nil: .absent
            default: Cell(.shortText)
            }
        }
    }
}

/// The fields' form in records: an array of dictionaries in order. It has no names in archives.
extension ItemSchema {
    /// The value of a record; an empty array without fields.
    package var record: PropertyListValue { .array(fields.map { .fields($0.record) }) }

    /// Reads a record. Its bytes are not trusted.
    ///
    /// - Throws: `corruptJournal` for another value; `newerFormat` for a field that this program does not know.
    package init(record: PropertyListValue) throws(StoreError) {
        guard case .array(let elements) = record else {
            throw StoreError(.corruptJournal, "the fields of the items are none")
        }
        var fields: [Field] = []
        for element in elements { fields.append(try Field(record: element)) }
        self.init(fields)
    }
}

extension ItemSchema.Field {
    fileprivate var record: PropertyListFields {
        var record: PropertyListFields = ["name": .string(name), "kind": .string("\(kind.kind)")]
        record["initial"] = initial
        if isStamped { record["stamped"] = .boolean(true) }
        return record
    }

    fileprivate init(record: PropertyListValue) throws(StoreError) {
        guard let record = record.fields, case .string(let name)? = record["name"],
            case .string(let kind)? = record["kind"], (try? FieldValidation.checkName(name)) != nil
        else { throw StoreError(.corruptJournal, "a field of the items is none") }
        var field: ItemSchema.Field?
        switch (kind, record["initial"]) {
        case ("text", nil): field = .text(name, isOptional: true)
        case ("text", _): field = .text(name)
        case ("integer", .integer(let initial)?): field = .integer(name, initial: initial)
        case ("date", _): field = .date(name, isStamped: record["stamped"] == .boolean(true))
        default: break
        }
        // What this program would not write is of a newer one.
        guard let field, field.record == record else {
            throw StoreError(
                .newerFormat, "the field \(name) of the items has what this program does not know: a newer one wrote it"
            )
        }
        self = field
    }
}

extension ItemSchema {
    /// The number of the items' key.
    package var keyField: ItemField { ItemField(rawValue: UInt32(fields.count)) }

    /// The numbers of the fields, and of the key.
    package var numbers: [ItemField] { (0...UInt32(fields.count)).map(ItemField.init(rawValue:)) }

    /// The names of the fields, and of the key.
    package var names: [String] { fields.map(\.name) + ["itemKey"] }

    /// Whether a name is that of a field, or of the key.
    package func has(_ name: String) -> Bool { name == "itemKey" || field(named: name) != nil }

    /// The field of a name; nil for the key and custom fields.
    package func field(named name: String) -> Field? { fields.first { $0.name == name } }

    /// The kind of a field; nil for the key and custom fields.
    @inline(__always)
    package func kind(_ field: ItemField) -> DeclaredKind? {
        Int(field.rawValue) < kinds.count ? kinds[Int(field.rawValue)] : nil
    }

    /// The value of a new item; nil for the key and custom fields, too.
    package func initial(of field: ItemField) -> PropertyListValue? {
        kind(field) == nil ? nil : fields[Int(field.rawValue)].initial
    }

    /// Whether a name is that of an item class: `Possession`, `BNRItem`, `Homepwner.Item`.
    package func isItemClass(_ name: String) -> Bool {
        let last = (name.split(separator: ".").last.map(String.init) ?? name).lowercased()
        return classNames.contains(last) || classSuffixes.contains(where: last.hasSuffix)
    }
}

/// The kind of a field of every item. Values of other kinds are not assigned to it; those that an archive contains are
/// carried as they are: see ``FieldColumn/misfits``.
package struct DeclaredKind: Sendable, Hashable {
    /// Not `mixed`.
    package let kind: FieldKind
    /// Whether an item may lack the field.
    package let isOptional: Bool

    package init(kind: FieldKind, isOptional: Bool) { (self.kind, self.isOptional) = (kind, isOptional) }

    /// Whether a cell is of the kind.
    @inline(__always)
    package func accepts(_ cell: Cell) -> Bool {
        switch kind {
        case .text: cell.isText || isOptional && cell.isAbsent
        case .integer: cell.kind == .integer
        case .date: cell.kind == .date
        case .mixed: true
        }
    }

    /// Whether a value is of the kind, and not merely converted to it.
    package func takes(_ value: PropertyListValue) -> Bool {
        switch (kind, value) {
        case (.text, .string), (.integer, .integer), (.date, .date), (.mixed, _): true
        default: false
        }
    }
}

/// The kind of a field's values.
package enum FieldKind: Sendable {
    case text, integer, date, mixed
}

extension FieldKind {
    /// The kind in words, as in "is not an integer".
    package var named: String { FieldDeclaration.Kind(self).named }
}
