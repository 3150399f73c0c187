/// A field that a query sorts by.
struct ItemSortKey {
    var field: ItemField
    var isDescending: Bool
}
