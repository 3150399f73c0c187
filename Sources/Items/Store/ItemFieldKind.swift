/// A kind of values: what the texts of a file become, and what ``ItemStore/convert(_:to:)`` makes of a field's values.
public enum ItemFieldKind: String, Sendable, CaseIterable {
    /// Text as it stands; numbers and truth values as they print, dates in ISO 8601.
    case string
    /// A whole number of 64 bits, of decimal digits; truth values are 1 and 0.
    case integer
    /// A finite floating-point number.
    case real
    /// `true` or `false`, 1 or 0.
    case boolean
    /// A date in ISO 8601.
    case date
}
