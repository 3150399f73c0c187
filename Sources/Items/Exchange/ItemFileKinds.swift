/// What decides the kinds of a file's columns.
public enum ItemFileKinds: Sendable, Hashable {
    /// The texts of comma-separated values: a column has a kind when all of its cells are in one canonical style, so that
    /// no two different texts become one value.
    case inferred
    /// All texts stay texts.
    case text
    /// Kinds by the fields' names; the others are inferred.
    case named([String: ItemFieldKind])
}
