/// The kinds of values that the texts of a file become.
public enum ItemFileKind: String, Sendable, CaseIterable {
    /// Text as it stands.
    case string
    /// A whole number of 64 bits.
    case integer
    /// A floating-point number.
    case real
    /// `true` or `false`.
    case boolean
    /// A date in ISO 8601.
    case date
}

/// What decides the kinds of a file's columns.
public enum ItemFileKinds: Sendable, Hashable {
    /// The texts of comma-separated values: a column has a kind when all of its cells are in one canonical style, so that
    /// no two different texts become one value.
    case inferred
    /// All texts stay texts.
    case text
    /// Kinds by the fields' names; the others are inferred.
    case named([String: ItemFileKind])
}
