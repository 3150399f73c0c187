package import PropertyList

/// Rows of a query with an equal value of a key.
package struct RowGroup {
    /// The value; nil for rows without one.
    package let key: PropertyListValue?
    package let rows: ArraySlice<UInt32>
}
