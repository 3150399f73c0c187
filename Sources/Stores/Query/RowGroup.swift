import PropertyList

/// Rows of a query that have a key's value in common.
struct RowGroup {
    /// The value; nil for the rows without it.
    let key: PropertyListValue?
    let rows: ArraySlice<UInt32>
}
