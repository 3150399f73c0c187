package import PropertyList

/// Rows of a query that have a key's value in common.
package struct RowGroup {
    /// The value; nil for the rows without it.
    package let key: PropertyListValue?
    package let rows: ArraySlice<UInt32>
}
