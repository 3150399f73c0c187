/// How the kinds of a file's columns are decided.
public enum ItemFileKinds: Sendable, Hashable {
    /// Inferred from the texts of comma-separated values: a column has a kind if all of its cells are in one canonical
    /// style, so that no two different texts become the same value.
    case inferred
    /// All texts stay texts.
    case text
    /// Given by field name; the others are inferred.
    case named([String: ItemFieldKind])
}
