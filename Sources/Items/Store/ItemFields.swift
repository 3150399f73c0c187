package import ColumnEngine
import ItemArchive
public import PropertyList

/// The initial values of a new item, or all of an item; fields that are not given get defaults.
public struct ItemFields: Sendable, Hashable {
    /// The fields of every item by name, and `itemKey`; null for a field that the item lacks.
    var declared: PropertyListFields
    /// Custom fields by name.
    package var custom: PropertyListFields

    init(_ declared: PropertyListFields, custom: PropertyListFields) {
        (self.declared, self.custom) = (declared, custom)
    }

    /// Creates fields by name from stored values.
    init(stored values: PropertyListFields, _ schema: ItemSchema = .household) {
        (declared, custom) = ([:], [:])
        for (name, value) in values {
            if schema.has(name) { declared[name] = value } else { custom[name] = value }
        }
    }

    /// A new UUID if nil; must not be in use.
    public var itemKey: String? {
        get { if case .string(let text)? = declared["itemKey"] { text } else { nil } }
        set { declared["itemKey"] = newValue.map { .string($0) } }
    }

    /// The given fields by name, including `itemKey`; null for a field that the item lacks.
    public var values: PropertyListFields { custom.merging(declared) { $1 } }
}

// Converts the engine's records, which are fields by name, to `ItemFields`.

extension ItemChange {
    /// The fields of an inserted item, or the last fields of a removed one; nil for other kinds.
    package var fields: ItemFields? {
        get { values.map { ItemFields(stored: $0) } }
        set { values = newValue?.values }
    }

    /// A new item with its fields and key, at a position counted from 0 or, if nil, at the end.
    package static func insert(_ fields: ItemFields, at position: Int? = nil) -> ItemChange {
        var change = insert(fields.values, at: position)
        change.name = fields.name
        return change
    }
}

extension ItemSnapshot {
    /// The items' fields, for a persistence that stores whole records.
    package func fields(at position: Int) -> ItemFields { ItemFields(stored: values(at: position), schema) }
}

extension ItemLoader {
    /// Adds an item at the end.
    ///
    /// - Throws: ``StoreError``: `duplicateKey`, `invalidValue`.
    package func add(_ fields: ItemFields) throws(StoreError) { try add(fields.values) }
}

extension ColumnStore {
    func fields(of row: UInt32) -> ItemFields { ItemFields(stored: dictionary(of: row, marksAbsent: true), schema) }
}

extension ItemDraft {
    /// Sets all fields of a record.
    func set(_ fields: ItemFields) throws(StoreError) {
        let schema = schema
        var carried: PropertyListFields = [:]
        for (name, value) in fields.declared {
            if schema.field(named: name)?.kind.takes(value) == false {
                carried[name] = value
            } else {
                try set(value, forField: name)
            }
        }
        if !carried.isEmpty { try carry(carried) }
        for (name, value) in fields.custom {
            if schema.has(name) {
                throw StoreError(
                    .invalidValue(field: name), "\(name) is a field of every item and cannot be a custom one")
            }
            try set(value, forField: name)
        }
    }
}

/// The form of declarations in scripts and in files: a kind, or a dictionary of it and of what else is declared.
extension FieldDeclaration {
    /// What a specification may have.
    package static let options = [
        "kind", "format", "unique", "required", "oneOf", "least", "most", "default", "references", "onDelete", "desc",
    ]

    /// Reads a specification.
    ///
    /// - Parameters:
    ///   - name: the field's name.
    ///   - specification: the name of a kind, or a dictionary.
    /// - Throws: `invalidValue` with what is wrong, and the nearest names.
    package init(_ name: String, _ specification: PropertyListValue) throws(StoreError) {
        func error(_ what: String) -> StoreError {
            StoreError(.invalidValue(field: name), "\(name) cannot be declared so: \(what)")
        }
        func hint(_ word: String?, _ known: [String]) -> String {
            let near = word.map { NearestNames.nearest(to: $0, among: known) } ?? []
            return near.isEmpty ? "; there are \(known.joined(separator: ", "))" : NearestNames.suggestion(near)
        }
        func kind(_ value: PropertyListValue?) throws(StoreError) -> Kind {
            guard let value else { return .any }
            let name: String? = if case .string(let text) = value { text } else { nil }
            if let kind = name.flatMap(Kind.init(exactly:)) { return kind }
            let known = hint(name, Kind.allCases.map(\.rawValue))
            throw error("\(FieldValidation.describe(value)) is not a kind\(known)")
        }
        if case .string = specification {
            self.init(name, try kind(specification))
            return
        }
        guard let fields = specification.fields else {
            throw error("a kind, a table or false is expected, got \(FieldValidation.describe(specification))")
        }
        for option in fields.keys.sorted(by: { $0 < $1 }) where !Self.options.contains(option) {
            throw error("unknown option '\(option)'\(hint(option, Self.options))")
        }
        self.init(name, try kind(fields["kind"]))
        func flag(_ option: String) throws(StoreError) -> Bool {
            switch fields[option] {
            case nil: return false
            case .boolean(let value)?: return value
            case let value: throw error("option '\(option)' is true or false, got \(FieldValidation.describe(value))")
            }
        }
        func text(_ option: String) throws(StoreError) -> String? {
            switch fields[option] {
            case nil: return nil
            case .string(let text)? where !text.isEmpty: return text
            case let value: throw error("option '\(option)' is a text, got \(FieldValidation.describe(value))")
            }
        }
        (isUnique, isRequired) = (try flag("unique"), try flag("required"))
        if let pattern = try text("format") { format = Format(pattern) }
        (summary, references) = (try text("desc"), try text("references").map { Reference($0) })
        if let rule = try text("onDelete") {
            guard let known = DeleteRule(exactly: rule) else {
                throw error("onDelete is \(DeleteRule.allCases.map(\.rawValue).joined(separator: ", ")), not \(rule)")
            }
            if references == nil {
                throw error("onDelete is for a field that refers to items: references has their kind")
            }
            references?.onDelete = known
        }
        (least, most, initial) = (fields["least"], fields["most"], fields["default"])
        switch fields["oneOf"] {
        case nil: break
        case .array(let elements)? where !elements.isEmpty: values = elements
        case .array?: throw error("option 'oneOf' is empty: no value would fit")
        case let value: throw error("option 'oneOf' is an array of values, got \(FieldValidation.describe(value))")
        }
    }
}

/// A target kind for the texts of a file, and for ``ItemStore/convert(_:to:)``.
package enum ItemFieldKind: String, Sendable, CaseIterable {
    /// Text, unchanged; numbers and booleans as printed, dates in ISO 8601.
    case string
    /// A 64-bit integer in decimal digits; booleans are 1 and 0.
    case integer
    /// A finite floating-point number.
    case real
    /// An integer where the text is one, else a real.
    case number
    /// `true` or `false`, 1 or 0.
    case boolean
    /// A date in ISO 8601.
    case date
}

extension ItemFieldKind {
    /// Converts a value. Blank text becomes no value, `.some(nil)`. Nil if the value cannot be converted.
    func converted(_ value: PropertyListValue) -> PropertyListValue?? {
        if self != .string, case .string(let text) = value {
            let trimmed = text.filter { !$0.isWhitespace }
            return trimmed.isEmpty ? .some(nil) : parse(text).map { .some($0) }
        }
        return convert(value).map { .some($0) }
    }

    private func parse(_ text: String) -> PropertyListValue? {
        var text = String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
        switch self {
        case .integer:
            return text.withUTF8(DecimalText.whole).flatMap(Int64.init(exactly:)).map { .integer($0) }
        case .real: return text.withUTF8(real).map { .real($0) }
        case .number:
            if let number = Int128(text) { return Int64(exactly: number).map { .integer($0) } ?? .wideInteger(number) }
            return text.withUTF8(real).map { .real($0) }
        case .date: return ISO8601.parse(text).map { .date($0) }
        case .boolean:
            switch text.lowercased() {
            case "true": return .boolean(true)
            case "false": return .boolean(false)
            default: return nil
            }
        case .string: return .string(text)
        }
    }

    /// A decimal number that has the whole digits of its text.
    private func real(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        guard let number = DecimalText.real(text), DecimalText.hasWholeDigits(number, of: text) else { return nil }
        return number
    }

    private func convert(_ value: PropertyListValue) -> PropertyListValue? {
        switch (self, value) {
        case (.integer, .boolean(let value)), (.number, .boolean(let value)): return .integer(value ? 1 : 0)
        case (.boolean, .integer(let integer)) where 0...1 ~= integer: return .boolean(integer == 1)
        case (.string, .boolean(let value)): return .string(value ? "true" : "false")
        case (.string, .date(let date)): return .string(date.exchangeText)
        default:
            // The others as a declaration converts them.
            guard let kind = FieldDeclaration.Kind(rawValue: rawValue) else { return nil }
            return try? FieldDeclaration("value", kind).fitted(value)
        }
    }
}

extension ItemStore {
    /// Converts a custom field's values; if one cannot be converted, none is. Blank text becomes no value. O(n).
    ///
    /// - Parameters:
    ///   - name: the field.
    ///   - kind: the new kind of values.
    /// - Returns: the number of items whose value changed.
    /// - Throws: `StoreError`: `unknownField`; `readOnlyField` for a field of the domain, whose kind is fixed, and for
    ///   one that is declared of another kind;
    ///   `invalidValue`, naming the first value that cannot be converted and its item.
    @discardableResult
    package func convert(_ name: String, to kind: ItemFieldKind) throws -> Int {
        let field = try columns.queriedField(name)
        if !columns.isCustom(field) {
            throw StoreError(.readOnlyField(field: name), "\(name) is a field of every item: its kind cannot change")
        }
        if let declared = columns.declaration(of: field)?.kind, declared != .any, declared.rawValue != kind.rawValue,
            declared != .number || ![.integer, .real].contains(kind)
        {
            throw StoreError(
                .readOnlyField(field: name),
                "\(name) is declared as \(declared.named): declare it anew to change its kind")
        }
        let count = try query().changeEach { row in
            let cell = columns.cell(row, field)
            guard !cell.isAbsent, let value = columns.value(cell) else { return false }
            guard let converted = kind.converted(value) else {
                throw StoreError(
                    .invalidValue(field: name),
                    "\(name) of the item \(columns.keyString(row)) is \(FieldValidation.describe(value)), "
                        + "which is not \(kind.rawValue.withArticle): nothing was converted")
            }
            if converted == value { return false }
            try set(row, field, converted)
            return true
        }
        columns.recountKinds(field)
        return count
    }
}
