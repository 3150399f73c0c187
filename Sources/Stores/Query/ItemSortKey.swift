/// A key that a query sorts by.
struct ItemSortKey {
    let key: ItemKey
    let isDescending: Bool
    /// The field that it is; nil for an expression or a function.
    let field: ItemField?

    init(key: ItemKey, isDescending: Bool) {
        (self.key, self.isDescending) = (key, isDescending)
        switch key {
        case .field(let field): self.field = field
        case .expression, .function: field = nil
        }
    }
}
