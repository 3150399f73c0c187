import CPlatform
package import PropertyList

/// The names of fields and their numbers: the declared ones first, then the key, then custom ones as they appear.
package struct FieldTable {
    /// By number.
    package private(set) var names: [String]
    private var numbers: [ExactText: ItemField] = [:]

    /// The name of the field of an item's attachments; see ``ColumnStore/attachmentField``. Scripts and files cannot
    /// use it: ``FieldValidation/checkName(_:)`` refuses it.
    package static let attachmentName = "$image"
    /// The name for users under which a field's changes are reported.
    package static func shownName(of name: String) -> String { name == attachmentName ? "image" : name }
    /// The field of attachments; nil while no item has had it.
    package private(set) var attachment: ItemField?
    /// The declared field that is set to an item's creation time.
    let stamped: ItemField?

    package init(_ schema: ItemSchema) {
        names = schema.names
        stamped = schema.fields.firstIndex { $0.isStamped }.map { ItemField(rawValue: UInt32($0)) }
        for (number, name) in names.enumerated() { numbers[ExactText(name)] = ItemField(rawValue: UInt32(number)) }
    }

    func name(of field: ItemField) -> String {
        names[Int(field.rawValue)]
    }

    /// The field, if any item ever had it.
    func existing(_ name: String) -> ItemField? { numbers[ExactText(name)] }

    /// The field; made if it is new.
    mutating func field(named name: String) -> ItemField {
        if let known = existing(name) { return known }
        if name == Self.attachmentName, let attachment { return attachment }
        let field = ItemField(rawValue: UInt32(names.count))
        names.append(name)
        if name == Self.attachmentName { attachment = field } else { numbers[ExactText(name)] = field }
        return field
    }
}

/// The number of a field within one store: the result of looking up its name once, for access without hashing.
@usableFromInline package struct ItemField: Hashable, Sendable {
    /// The field's number, which stays the same while the process runs.
    @usableFromInline package let rawValue: UInt32

    @inlinable
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

/// The values that each field accepts, and the messages for others.
package enum FieldValidation {
    /// Maximum nesting of arrays and dictionaries in a field.
    package static let depthLimit = ConversionBudget.depthLimit
    /// Maximum length of texts and data in bytes: a cell's length has 32 bits.
    static let byteLimit = Int(Int32.max)

    /// The value in the form stored by a declared field; nil to clear the field.
    ///
    /// An integer field accepts a real with an integral value, and stores the integer.
    package static func checked(
        _ value: PropertyListValue?, _ kind: FieldKind, isOptional: Bool, named name: @autoclosure () -> String
    ) throws(StoreError) -> PropertyListValue? {
        switch (kind, value) {
        case (.integer, .integer?): return value
        case (.integer, .real(let real)?):
            if let integer = Int64(exactly: real) { return .integer(integer) }
        case (.integer, .single(let single)?):
            if let integer = Int64(exactly: single) { return .integer(integer) }
        case (.text, .string(let text)?):
            try checkLength(text.utf8.count, name())
            return value
        case (.text, nil) where isOptional: return nil
        case (.date, .date(let date)?) where date.secondsSinceReferenceDate.isFinite: return value
        default: break
        }
        throw error(name(), kind == .text && isOptional ? "a string or nil" : kind.named, value)
    }

    /// The value in the form stored by a custom field; nil to remove the field.
    package static func checked(
        _ value: PropertyListValue?, custom name: @autoclosure () -> String
    ) throws(StoreError) -> PropertyListValue? {
        if let value { try checkCustom(value, name(), depth: 0) }
        return value
    }

    package static let keyIsReadOnly = StoreError(
        .readOnlyField(field: "itemKey"),
        "itemKey is read-only: an item gets its key when it is created and keeps it")

    /// Refuses a name that is not allowed for a custom field.
    package static func checkName(_ name: String) throws(StoreError) {
        if name.isEmpty {
            throw .invalidValue(name, "a field's name cannot be empty")
        }
        if name.utf8.first == 0x24 {  // $
            throw .invalidValue(name, "a field's name cannot begin with $, as \(name) does: archives use such keys")
        }
        try checkLength(name.utf8.count, "a field's name")
    }

    /// Refuses a name that is not allowed for a field of a stored item.
    package static func checkStoredName(_ name: String) throws(StoreError) {
        if name != FieldTable.attachmentName { try checkName(name) }
    }

    /// Checks a key for a new item.
    static func checkKey(_ key: String) throws(StoreError) {
        if key.isEmpty {
            throw .invalidValue("itemKey", "itemKey takes a string that is not empty")
        }
        try checkLength(key.utf8.count, "itemKey")
    }

    /// Whether a custom field can store a value: more than can be assigned, since archives contain null, UIDs and sets.
    static func isKeepable(_ value: PropertyListValue, depth: Int = 0) -> Bool {
        guard depth <= depthLimit + 1, cubby_stack_is_short() == 0 else { return false }
        return switch value {
        case .date(let date): date.secondsSinceReferenceDate.isFinite
        case .string(let text): text.utf8.count <= byteLimit
        case .utf16(let units): units.count <= byteLimit / 3
        case .data(let data): data.count <= byteLimit
        case .array(let elements), .set(let elements):
            elements.allSatisfy { isKeepable($0, depth: depth + 1) }
        case .dictionary(let entries):
            entries.entries.allSatisfy {
                isKeepable($0.key, depth: depth + 1) && isKeepable($0.value, depth: depth + 1)
            }
        default: true
        }
    }

    /// The path, which begins with the field's name, is made only for an error.
    private static func checkCustom(
        _ value: PropertyListValue, _ path: @autoclosure () -> String, depth: Int
    ) throws(StoreError) {
        switch value {
        case .null:
            let advice = depth == 0 ? "assign nil to remove the field" : "leave the entry out"
            throw .invalidValue(path(), "\(path()) cannot hold null: \(advice)")
        case .uid:
            throw .invalidValue(path(), "\(path()) takes a property-list value: an archive's UID is not one")
        case .set:
            throw .invalidValue(path(), "\(path()) takes a property-list value: a set is not one, an array is")
        case .date(let date):
            guard date.secondsSinceReferenceDate.isFinite else { throw error(path(), "a date", value) }
        case .string(let text):
            try checkLength(text.utf8.count, path())
        case .utf16(let units):
            try checkLength(units.count * 3, path())
        case .data(let bytes):
            try checkLength(bytes.count, path())
        case .array(let elements):
            try checkDepth(depth, path())
            // Null is an element of its own; a dictionary without the entry says the same.
            for (index, element) in elements.enumerated() where element != .null {
                try checkCustom(element, "\(path())[\(index + 1)]", depth: depth + 1)
            }
        case .dictionary(let entries):
            try checkDepth(depth, path())
            for (key, element) in entries.sortedEntries {
                try checkCustom(key, "a key of \(path())", depth: depth + 1)
                try checkCustom(element, "\(path()).\(key.keyText)", depth: depth + 1)
            }
        case .boolean, .integer, .wideInteger, .real, .single:
            break
        }
    }

    private static func checkDepth(_ depth: Int, _ path: @autoclosure () -> String) throws(StoreError) {
        if depth >= depthLimit {
            throw .invalidValue(path(), "\(path()) nests more than \(depthLimit) deep: store it in flatter form")
        }
    }

    private static func checkLength(_ count: Int, _ path: @autoclosure () -> String) throws(StoreError) {
        if count > byteLimit {
            throw .invalidValue(path(), "\(path()) is \(count) bytes long: \(byteLimit) is the most")
        }
    }

    package static func error(_ field: String, _ wanted: String, _ value: PropertyListValue?) -> StoreError {
        var message = "\(field) takes \(wanted): \(describe(value)) is not one"
        if case .string(let text)? = value, wanted.hasPrefix("a date"), ISO8601.hasSurplusDigits(text) {
            message += ", since no date has all of its digits"
        }
        return .invalidValue(field, message)
    }

    /// A value for an error message: short, and quoted if it is a text.
    package static func describe(_ value: PropertyListValue?) -> String {
        switch value {
        case nil: "nil"
        case .null?: "null"
        case .boolean(let value)?: String(value)
        case .integer(let value)?: String(value)
        case .wideInteger(let value)?: String(value)
        case .real(let value)?: String(value)
        case .single(let value)?: String(value)
        case .date(let value)?: "the date \(value.text)"
        case .data(let bytes)?: "data of \(bytes.count) bytes"
        case .string(let text)?: text.count <= 40 ? "\"\(text)\"" : "\"\(text.prefix(40))…\""
        case .utf16?: describe(value?.text.map { .string($0) })
        case .uid?: "a UID"
        case .array?: "an array"
        case .set?: "a set"
        case .dictionary?: "a dictionary"
        }
    }
}
