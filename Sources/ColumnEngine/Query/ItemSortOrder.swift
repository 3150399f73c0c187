/// The fields that an answer is sorted by, the most significant first.
///
/// Two of them stand in place: more are rare, and an array is memory and a type that is made when it is first needed.
package struct ItemSortOrder {
    package private(set) var first: ItemSortKey?
    package private(set) var second: ItemSortKey?
    private var others: Others?

    private final class Others {
        let keys: [ItemSortKey]
        init(_ keys: [ItemSortKey]) { self.keys = keys }
    }

    package var isEmpty: Bool { first == nil }

    /// All of them.
    package var keys: [ItemSortKey] {
        guard let first else { return [] }
        guard let second else { return [first] }
        return [first, second] + (others?.keys ?? [])
    }

    /// Whether a key is a function, which may change the store.
    var asksFunctions: Bool {
        first?.isFunction ?? false || second?.isFunction ?? false || others?.keys.contains(where: \.isFunction) ?? false
    }

    /// Its keys, for people: `year descending, name`.
    func text(in store: ColumnStore) -> String {
        keys.map { store.text(of: $0.key) + ($0.isDescending ? " descending" : "") }.joined(separator: ", ")
    }

    /// Adds a key that orders what is equal so far.
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
