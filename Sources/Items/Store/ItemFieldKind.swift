/// A target kind for the texts of a file, and for ``ItemStore/convert(_:to:)``.
public enum ItemFieldKind: String, Sendable, CaseIterable {
    /// Text, unchanged; numbers and booleans as printed, dates in ISO 8601.
    case string
    /// A 64-bit integer in decimal digits; booleans are 1 and 0.
    case integer
    /// A finite floating-point number.
    case real
    /// `true` or `false`, 1 or 0.
    case boolean
    /// A date in ISO 8601.
    case date
}
