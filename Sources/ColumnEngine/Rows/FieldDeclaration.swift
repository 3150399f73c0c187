public import PropertyList

/// What is declared of a field: the kind of its values, what else they have to be, and how people see them.
///
/// A declaration holds for every way in: a new item, an assignment, an update of a query, an import. What an archive,
/// a journal or another host brings is carried as it is, counted, and replaced only by what fits.
public struct FieldDeclaration: Sendable, Hashable {
    /// The kind of a field's values; the raw value is its name in scripts.
    public enum Kind: String, Sendable, CaseIterable {
        /// Texts; a number becomes its text.
        case string
        /// Whole numbers; a real without a fraction becomes one.
        case integer
        /// Floating-point numbers; an integer that one holds exactly becomes one.
        case real
        /// Whole or floating-point numbers, each as it is.
        case number
        /// Truth values.
        case boolean
        /// Dates.
        case date
        /// Bytes.
        case data
        /// Arrays.
        case array
        /// Dictionaries.
        case dictionary
        /// Values of all kinds.
        case any
    }

    /// How people and files get a field's values.
    public enum Format: Sendable, Hashable {
        /// A date without a time and a zone. In a field of any kind a date is one if it is the beginning of a day in UTC.
        case day
        /// A number with two decimals.
        case money
        /// A date in a pattern of letters, such as `dd.MM.yyyy`.
        case pattern(String)
    }

    /// What becomes of the items that refer to one that is removed; the raw value is its name in scripts.
    public enum DeleteRule: String, Sendable, CaseIterable {
        /// They are removed as well.
        case cascade
        /// They lose the reference.
        case nullify
        /// The removal is refused, as long as there are any.
        case deny
    }

    /// What the values of a field refer to.
    public struct Reference: Sendable, Hashable {
        /// The kind of the items.
        public var kind: String
        /// What becomes of an item when the one that it refers to is removed.
        public var onDelete: DeleteRule

        /// Creates a reference to items of a kind.
        public init(_ kind: String, onDelete: DeleteRule = .deny) { (self.kind, self.onDelete) = (kind, onDelete) }
    }

    /// The field's name.
    public let name: String
    /// The kind of its values.
    public var kind: Kind
    /// How people see them; as values of their kind if nil.
    public var format: Format?
    /// Whether no two items have the same value; an empty text is none.
    public var isUnique = false
    /// Whether every item has a value; an empty text is none.
    public var isRequired = false
    /// The values that the field may have; all if empty.
    public var values: [PropertyListValue] = []
    /// The least value: for numbers, dates and texts.
    public var least: PropertyListValue?
    /// The greatest value.
    public var most: PropertyListValue?
    /// The value of a new item without one.
    public var initial: PropertyListValue?
    /// The items that the values refer to, by their ids; nil for values that are none. An array has several.
    public var references: Reference?
    /// What the field is, for people.
    public var summary: String?

    /// Creates the declaration of a field's kind alone.
    public init(_ name: String, _ kind: Kind = .any) { (self.name, self.kind) = (name, kind) }

    /// A free field whose dates people see as days.
    package init(daysOf name: String) { (self.name, kind, format) = (name, .any, .day) }

    /// Whether nothing is said but how people see the values: the field is as free as one that is not declared.
    package var isFree: Bool { self == FieldDeclaration(daysOf: name) }
}

extension FieldDeclaration.Kind {
    /// The kind with its article, as in "takes a real".
    package var named: String {
        switch self {
        case .integer, .array: "an \(rawValue)"
        case .data: "data"
        case .any: "any value"
        default: "a \(rawValue)"
        }
    }

    /// Whether values of the kind are numbers.
    package var isNumeric: Bool { self == .integer || self == .real || self == .number }

    /// Whether values of the kind have an order.
    var isOrdered: Bool { isNumeric || self == .date || self == .string }
}

extension FieldDeclaration.Format {
    /// Its name in scripts; for a pattern, the pattern.
    package var text: String {
        switch self {
        case .day: "day"
        case .money: "money"
        case .pattern(let pattern): pattern
        }
    }

    package init(_ text: String) {
        self =
            switch text {
            case "day": .day
            case "money": .money
            default: .pattern(text)
            }
    }
}

/// The one answer to whether a value fits a field, and what it becomes.
extension FieldDeclaration {
    /// The value in the form that the field stores; nil for none.
    ///
    /// What converts without loss is converted: an integer for a field of reals, a number for one of texts. Of a date
    /// for a field of days the day in UTC remains.
    ///
    /// - Parameter value: nil for none.
    /// - Returns: the value; nil for none.
    /// - Throws: `invalidValue`, with the field, the value, the kind, and what to do.
    package func fitted(_ value: PropertyListValue?) throws(StoreError) -> PropertyListValue? {
        guard let value else {
            if isRequired { throw lacking }
            return nil
        }
        guard let value = converted(value) else { throw mismatch("\(kind.named)", value, "is not one") }
        if isRequired, Self.isBlank(value) { throw lacking }
        if !values.isEmpty, !values.contains(where: { Self.areEqual($0, value) }) {
            throw mismatch("one of \(values.map(FieldValidation.describe).listed(8))", value, "is none of them")
        }
        if let least, Self.order(value, least).map({ $0 < 0 }) ?? false {
            throw mismatch("at least \(FieldValidation.describe(least))", value, "is less")
        }
        if let most, Self.order(value, most).map({ $0 > 0 }) ?? false {
            throw mismatch("at most \(FieldValidation.describe(most))", value, "is more")
        }
        return value
    }

    /// Whether a stored value, or its absence, is one that could be assigned as it is.
    package func fits(_ value: PropertyListValue?) -> Bool {
        do throws(StoreError) {
            let fitted = try fitted(value)
            return fitted == value || isSameNumber(fitted, value)
        } catch {
            return false
        }
    }

    /// An integer of an archive in a field of reals is one of them.
    private func isSameNumber(_ fitted: PropertyListValue?, _ value: PropertyListValue?) -> Bool {
        guard kind.isNumeric, let fitted, let value else { return false }
        return Self.areEqual(fitted, value)
    }

    /// The value as one of the kind; nil if that would lose something.
    private func converted(_ value: PropertyListValue) -> PropertyListValue? {
        switch (kind, value) {
        case (.any, _), (.string, .string), (.string, .utf16), (.boolean, .boolean), (.data, .data), (.array, .array),
            (.dictionary, .dictionary):
            value
        case (.string, .integer(let number)): .string(String(number))
        case (.string, .wideInteger(let number)): .string(String(number))
        case (.string, .real(let number)): .string("\(number)")
        case (.string, .single(let number)): .string("\(number)")
        case (.integer, .integer), (.integer, .wideInteger), (.number, .integer), (.number, .wideInteger),
            (.number, .real), (.number, .single), (.real, .real):
            value
        case (.integer, .real(let number)): Self.integer(number)
        case (.integer, .single(let number)): Self.integer(Double(number))
        case (.real, .integer(let number)): Double(exactly: number).map { .real($0) }
        case (.real, .wideInteger(let number)): Double(exactly: number).map { .real($0) }
        case (.real, .single(let number)): .real(Double(number))
        case (.date, .date(let date)): .date(format == .day ? date.startOfDay : date)
        default: nil
        }
    }

    /// The integer that a real is; nil for one with a fraction, and for -0, which no integer is.
    private static func integer(_ number: Double) -> PropertyListValue? {
        number == 0 && number.sign == .minus ? nil : Int64(exactly: number).map { .integer($0) }
    }

    private var lacking: StoreError {
        .invalidValue(name, "\(name) is required: give the item a value of it, \(kind.named)")
    }

    private func mismatch(_ wanted: String, _ value: PropertyListValue, _ what: String) -> StoreError {
        .invalidValue(
            name,
            "\(name) is declared as \(wanted): \(FieldValidation.describe(value)) \(what); "
                + "give it another value, or declare it anew")
    }

    /// The error of a value that another item has.
    package func duplicate(_ value: PropertyListValue?, of other: String) -> StoreError {
        .invalidValue(
            name,
            "\(name) is unique, and \(FieldValidation.describe(value)) is that of \(other) already: "
                + "give it another value")
    }

    /// Whether a value is an empty text, which is none for a required and for a unique field.
    package static func isBlank(_ value: PropertyListValue) -> Bool {
        if case .string(let text) = value { text.isEmpty } else { false }
    }

    /// Whether two values are equal, numbers by what they are.
    package static func areEqual(_ first: PropertyListValue, _ second: PropertyListValue) -> Bool {
        first == second || order(first, second) == 0
    }

    /// The order of two numbers, dates or texts: negative, zero or positive; nil for values without one.
    private static func order(_ first: PropertyListValue, _ second: PropertyListValue) -> Int? {
        if case .string(var first) = first, case .string(var second) = second {
            return first.withUTF8 { first in second.withUTF8 { CellOrder.compareText(first, $0) } }
        }
        if let first = wide(first), let second = wide(second) { return first < second ? -1 : first == second ? 0 : 1 }
        guard let first = cell(first), let second = cell(second),
            (first.kind == .date) == (second.kind == .date)
        else { return nil }
        return CellOrder.compare(first, second)
    }

    private static func wide(_ value: PropertyListValue) -> Int128? {
        switch value {
        case .integer(let number): Int128(number)
        case .wideInteger(let number): number
        default: nil
        }
    }

    private static func cell(_ value: PropertyListValue) -> Cell? {
        switch value {
        case .integer(let number): .integer(number)
        case .wideInteger(let number): .real(Double(number))
        case .real(let number): .real(number)
        case .single(let number): .real(Double(number))
        case .date(let date): .date(date.secondsSinceReferenceDate)
        default: nil
        }
    }
}

extension PropertyListDate {
    /// The beginning of the day in UTC.
    package var startOfDay: PropertyListDate {
        PropertyListDate(secondsSinceReferenceDate: (secondsSinceReferenceDate / 86400).rounded(.down) * 86400)
    }
}

/// Checks of the declaration itself.
extension FieldDeclaration {
    /// The declaration with its values in the field's form.
    ///
    /// - Parameter field: the field of every item with this name, if there is one.
    /// - Returns: the declaration.
    /// - Throws: `invalidValue` for a constraint that does not go with the kind.
    package func checked(_ field: ItemSchema.Field?) throws(StoreError) -> FieldDeclaration {
        var result = self
        if name == "itemKey" { throw error("itemKey has its kind, is unique and required in every store") }
        if let field {
            let fixed = Kind(field.kind.kind)
            if kind == .any { result.kind = fixed }
            guard result.kind == fixed else {
                throw error("every item has it, as \(fixed.named): its kind cannot be \(kind.rawValue)")
            }
            if initial != nil, field.initial != nil { throw error("every new item has a value of it: no default") }
        }
        if let references {
            guard ![.real, .number, .boolean, .date, .data, .dictionary].contains(result.kind) else {
                throw error("a reference is a string or an integer, the id of an item, or an array of them")
            }
            if isRequired, references.onDelete == .nullify {
                throw error("a required field cannot lose its reference: not nullify")
            }
        }
        if isUnique, !result.kind.isOrdered { throw error("a unique field is of strings, numbers or dates") }
        if least != nil || most != nil, !result.kind.isOrdered {
            throw error("least and most are for strings, numbers and dates")
        }
        switch format {
        case .day?: if result.kind != .date, result.kind != .any { throw error("the format day is for dates") }
        case .pattern(let pattern)?:
            if result.kind != .date { throw error("the format \(pattern.quoted()) is for dates") }
            do throws(DatePatternError) {
                try DatePattern.checkLength(pattern)
                try DatePattern(pattern).checkParsing()
            } catch {
                throw self.error("the format \(pattern.quoted()): \(error.description)")
            }
        case .money?: if !result.kind.isNumeric { throw error("the format money is for numbers") }
        case nil: break
        }
        // Each of them has to be of the kind, and no more.
        var plain = result
        (plain.isRequired, plain.values, plain.least, plain.most) = (false, [], nil, nil)
        for value in values where value == .null { throw error("oneOf has \(FieldValidation.describe(value))") }
        result.values = []
        for value in values { if let value = try plain.fitted(value) { result.values.append(value) } }
        result.least = try plain.fitted(least)
        result.most = try plain.fitted(most)
        if let least = result.least, let most = result.most, Self.order(least, most).map({ $0 > 0 }) ?? false {
            throw error("least is more than most")
        }
        if let initial {
            if isUnique { throw error("a unique field has no default: two items would have it") }
            result.initial = try FieldValidation.checked(try result.fitted(initial), custom: name)
        }
        return result
    }

    private func error(_ what: String) -> StoreError {
        .invalidValue(name, "\(name) cannot be declared so: \(what)")
    }
}

extension FieldDeclaration.Kind {
    /// The kind of a field of every item.
    package init(_ kind: FieldKind) {
        self =
            switch kind {
            case .text: .string
            case .integer: .integer
            case .date: .date
            case .mixed: .any
            }
    }

    /// The kind of a value, as for a property whose type has none of its own: of a nested struct, of an enum without
    /// conformance to `ItemValue`.
    package init?(of value: PropertyListValue) {
        switch value {
        case .string, .utf16: self = .string
        case .integer, .wideInteger: self = .integer
        case .real, .single: self = .real
        case .boolean: self = .boolean
        case .date: self = .date
        case .data: self = .data
        case .array, .set: self = .array
        case .dictionary: self = .dictionary
        case .null, .uid: return nil
        }
    }
}
