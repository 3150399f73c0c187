/// The way from the judged object to a value: `name`, `owner.name`, `tags.@count`, `SELF`.
public struct PredicateKeyPath: Sendable, Hashable {
    /// The name under which a lookup is asked for the judged object itself.
    public static let selfKey = "SELF"

    /// The field that the path starts at; `SELF` when it starts at the object itself.
    public let field: String

    /// The keys and collection operators after the field.
    public let rest: [String]

    /// A path from a field through keys.
    public init(_ field: String, _ rest: [String] = []) {
        self.field = field
        self.rest = rest
    }

    var isSelf: Bool { field == Self.selfKey }
}
