/// A sort key of a query.
///
/// Nearly all are fields: other keys are behind a reference, so that queries are cheap to copy.
package struct ItemSortKey {
    /// The field; nil for an expression or a function.
    package let field: ItemField?
    let isDescending: Bool
    private let other: Other?

    private final class Other {
        let key: RowKey
        init(_ key: RowKey) { self.key = key }
    }

    package init(field: ItemField, isDescending: Bool) {
        (self.field, self.isDescending, other) = (field, isDescending, nil)
    }

    package init(key: RowKey, isDescending: Bool) {
        self.isDescending = isDescending
        if case .field(let field) = key {
            (self.field, other) = (field, nil)
        } else {
            (field, other) = (nil, Other(key))
        }
    }

    package var key: RowKey {
        if let other { return other.key }
        return .field(field ?? ItemField(rawValue: 0))
    }

    /// Whether it is a function, which may change the store.
    var isFunction: Bool {
        guard let other, case .function = other.key else { return false }
        return true
    }
}
