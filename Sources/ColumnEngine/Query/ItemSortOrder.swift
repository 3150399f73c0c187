/// The sort keys of a query, the most significant first.
///
/// Two are stored inline: more are rare, and an array needs memory and a type that is made on first use.
package struct ItemSortOrder {
    package private(set) var first: ItemSortKey?
    package private(set) var second: ItemSortKey?
    private var others: Others?

    private final class Others {
        let keys: [ItemSortKey]
        init(_ keys: [ItemSortKey]) { self.keys = keys }
    }

    package var isEmpty: Bool { first == nil }

    /// All keys.
    package var keys: [ItemSortKey] {
        guard let first else { return [] }
        guard let second else { return [first] }
        return [first, second] + (others?.keys ?? [])
    }

    /// Whether a key is a function, which may change the store.
    var asksFunctions: Bool {
        first?.isFunction ?? false || second?.isFunction ?? false || others?.keys.contains(where: \.isFunction) ?? false
    }

    /// The keys, for users: `year descending, name`.
    func text(in store: ColumnStore) -> String {
        keys.map { store.text(of: $0.key) + ($0.isDescending ? " descending" : "") }.joined(separator: ", ")
    }

    /// Adds a less significant key.
    package mutating func append(_ key: ItemSortKey) {
        if first == nil {
            first = key
        } else if second == nil {
            second = key
        } else {
            others = Others((others?.keys ?? []) + [key])
        }
    }
}
