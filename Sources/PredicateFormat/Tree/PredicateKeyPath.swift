import PropertyList

/// A path from the object to a value: `name`, `owner.name`, `tags.@count`, `SELF`.
public struct PredicateKeyPath: Sendable, Hashable {
    /// The key of the object itself.
    public static let selfKey = "SELF"

    /// The first field of the path; `SELF` when it starts at the object itself.
    public let field: String

    /// The keys and collection operators after the field.
    public let rest: [String]

    /// A path of a field and further keys.
    public init(_ field: String, _ rest: [String] = []) {
        self.field = field
        self.rest = rest
    }

    package var isSelf: Bool { field == Self.selfKey }

    private var exact: [ExactText] { [ExactText(field)] + rest.map { ExactText($0) } }

    /// Whether two paths have the same keys, byte for byte.
    public static func == (first: Self, second: Self) -> Bool { first.exact == second.exact }

    public func hash(into hasher: inout Hasher) { hasher.combine(exact) }
}
