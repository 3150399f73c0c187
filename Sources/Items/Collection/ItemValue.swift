public import ColumnEngine
public import FoundationEssentials
public import PropertyList

/// A property type whose values conditions can compare, with its field representation.
///
/// The standard types conform, and optionals and arrays of them. An enum with raw values conforms by declaration alone:
/// `enum Genre: String, Codable, ItemValue`.
public protocol ItemValue: Sendable {
    /// The type without the optional.
    associatedtype Wrapped: ItemValue = Self

    /// The kind of the field's values, for declarations; any by default.
    static var fieldKind: FieldDeclaration.Kind { get }

    /// The field's value; nil for no value.
    var fieldValue: PropertyListValue? { get }

    /// Creates the value from a field's value; nil if that is of another kind.
    init?(fieldValue: PropertyListValue)
}

/// A value with an order: `Book.pages > 300`.
public protocol OrderedItemValue: ItemValue {}

/// A number, which can be summed.
public protocol NumericItemValue: OrderedItemValue {}

extension ItemValue {
    public static var fieldKind: FieldDeclaration.Kind { .any }
}

extension ItemValue where Self: RawRepresentable, RawValue: ItemValue {
    public static var fieldKind: FieldDeclaration.Kind { RawValue.fieldKind }

    public var fieldValue: PropertyListValue? { rawValue.fieldValue }

    public init?(fieldValue: PropertyListValue) {
        guard let raw = RawValue(fieldValue: fieldValue) else { return nil }
        self.init(rawValue: raw)
    }
}

extension NumericItemValue where Self: FixedWidthInteger {
    public static var fieldKind: FieldDeclaration.Kind { .integer }

    public var fieldValue: PropertyListValue? {
        Int64(exactly: self).map { .integer($0) } ?? .wideInteger(Int128(self))
    }

    public init?(fieldValue: PropertyListValue) {
        switch fieldValue {
        case .integer(let number): self.init(exactly: number)
        case .wideInteger(let number): self.init(exactly: number)
        case .real(let number): self.init(exactly: number)
        case .single(let number): self.init(exactly: number)
        default: return nil
        }
    }
}

extension Int: NumericItemValue {}
extension Int8: NumericItemValue {}
extension Int16: NumericItemValue {}
extension Int32: NumericItemValue {}
extension Int64: NumericItemValue {}
extension UInt: NumericItemValue {}
extension UInt8: NumericItemValue {}
extension UInt16: NumericItemValue {}
extension UInt32: NumericItemValue {}
extension UInt64: NumericItemValue {}
extension Int128: NumericItemValue {}

extension Double: NumericItemValue {
    public static var fieldKind: FieldDeclaration.Kind { .real }

    public var fieldValue: PropertyListValue? { .real(self) }

    public init?(fieldValue: PropertyListValue) {
        switch fieldValue {
        case .real(let number): self = number
        case .single(let number): self = Double(number)
        case .integer(let number): self.init(exactly: number)
        case .wideInteger(let number): self.init(exactly: number)
        default: return nil
        }
    }
}

extension Float: NumericItemValue {
    public static var fieldKind: FieldDeclaration.Kind { .real }

    // As a double: the engine's columns of reals store doubles.
    public var fieldValue: PropertyListValue? { .real(Double(self)) }

    public init?(fieldValue: PropertyListValue) {
        guard let number = Double(fieldValue: fieldValue) else { return nil }
        // The nearest one, since 0.1 is none in either width; but neither infinity nor 0 in place of a number.
        self = Float(number)
        if isFinite != number.isFinite || isZero != number.isZero { return nil }
    }
}

extension String: OrderedItemValue {
    public static var fieldKind: FieldDeclaration.Kind { .string }

    public var fieldValue: PropertyListValue? { .string(self) }

    public init?(fieldValue: PropertyListValue) {
        guard case .string(let text) = fieldValue else { return nil }
        self = text
    }
}

extension Bool: ItemValue {
    public static var fieldKind: FieldDeclaration.Kind { .boolean }

    public var fieldValue: PropertyListValue? { .boolean(self) }

    public init?(fieldValue: PropertyListValue) {
        guard case .boolean(let flag) = fieldValue else { return nil }
        self = flag
    }
}

extension Date: OrderedItemValue {
    public static var fieldKind: FieldDeclaration.Kind { .date }

    public var fieldValue: PropertyListValue? {
        .date(PropertyListDate(secondsSinceReferenceDate: timeIntervalSinceReferenceDate))
    }

    public init?(fieldValue: PropertyListValue) {
        guard case .date(let date) = fieldValue else { return nil }
        self.init(timeIntervalSinceReferenceDate: date.secondsSinceReferenceDate)
    }
}

extension Data: ItemValue {
    public static var fieldKind: FieldDeclaration.Kind { .data }

    public var fieldValue: PropertyListValue? { .data([UInt8](self)) }

    public init?(fieldValue: PropertyListValue) {
        guard case .data(let bytes) = fieldValue else { return nil }
        self.init(bytes)
    }
}

extension UUID: ItemValue {
    public static var fieldKind: FieldDeclaration.Kind { .string }

    public var fieldValue: PropertyListValue? { .string(uuidString) }

    public init?(fieldValue: PropertyListValue) {
        guard case .string(let text) = fieldValue else { return nil }
        self.init(text: text, takesLowercase: true)
    }
}

extension URL: ItemValue {
    public static var fieldKind: FieldDeclaration.Kind { .string }

    public var fieldValue: PropertyListValue? { .string(absoluteString) }

    public init?(fieldValue: PropertyListValue) {
        guard case .string(let text) = fieldValue else { return nil }
        self.init(string: text)
    }
}

extension Optional: ItemValue where Wrapped: ItemValue {
    public static var fieldKind: FieldDeclaration.Kind { Wrapped.fieldKind }

    public var fieldValue: PropertyListValue? { self?.fieldValue }

    public init?(fieldValue: PropertyListValue) {
        if fieldValue == .null {
            self = .none
            return
        }
        guard let value = Wrapped(fieldValue: fieldValue) else { return nil }
        self = value
    }
}

extension Array: ItemValue where Element: ItemValue {
    public static var fieldKind: FieldDeclaration.Kind { .array }

    public var fieldValue: PropertyListValue? { .array(map { $0.fieldValue ?? .null }) }

    public init?(fieldValue: PropertyListValue) {
        guard case .array(let values) = fieldValue else { return nil }
        let elements = values.compactMap(Element.init(fieldValue:))
        guard elements.count == values.count else { return nil }
        self = elements
    }
}

/// The type of a model's own key: `String`, `UUID`, an integer, or any type with a text that identifies it.
///
/// A type that is `LosslessStringConvertible` conforms by declaration alone:
/// `struct ISBN: LosslessStringConvertible, Codable, Hashable, ItemIdentifier`.
public protocol ItemIdentifier: ItemValue {
    /// The item key for this value.
    var itemKey: String { get }

    /// Creates the value for an item key; nil for a key of another form.
    init?(itemKey: String)
}

extension ItemIdentifier where Self: LosslessStringConvertible {
    /// The value's text.
    public var itemKey: String { description }
    public init?(itemKey: String) { self.init(itemKey) }
}

extension ItemValue where Self: LosslessStringConvertible {
    public static var fieldKind: FieldDeclaration.Kind { .string }
    public var fieldValue: PropertyListValue? { .string(description) }

    public init?(fieldValue: PropertyListValue) {
        guard case .string(let text) = fieldValue else { return nil }
        self.init(text)
    }
}

extension Int: ItemIdentifier {}
extension Int32: ItemIdentifier {}
extension Int64: ItemIdentifier {}
extension UInt: ItemIdentifier {}
extension UInt32: ItemIdentifier {}
extension UInt64: ItemIdentifier {}

extension String: ItemIdentifier {
    public var itemKey: String { self }
    public init?(itemKey: String) { self = itemKey }
}

extension UUID: ItemIdentifier {
    public var itemKey: String { uuidString }

    public init?(itemKey: String) {
        // Only one spelling per UUID: an item with another spelling would not be found again.
        self.init(text: itemKey, takesLowercase: false)
    }
}

extension UUID {
    /// Reads a UUID's text: `6F9619FF-8B86-4D01-B42D-00CF4FC964FF`. Foundation's own initializer uses `sscanf`, which
    /// takes longer than the rest of a small model.
    ///
    /// - Parameters:
    ///   - text: 36 characters.
    ///   - takesLowercase: whether lowercase letters are allowed.
    init?(text: String, takesLowercase: Bool) {
        var text = takesLowercase && text.utf8.count == PackedKey.textCount ? text.uppercased() : text
        guard let key = text.withUTF8({ PackedKey(uuid: $0) }) else { return nil }
        let (high, low) = (key.high.bigEndian, key.low.bigEndian)
        self.init(uuid: unsafeBitCast((high, low), to: uuid_t.self))
    }
}
