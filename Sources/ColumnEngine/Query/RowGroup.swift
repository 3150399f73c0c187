package import PropertyList

/// Rows of a query with equal values of each key.
package struct RowGroup {
    /// The value of the first key; nil for rows without one.
    package let key: PropertyListValue?
    /// The values of the other keys, in order.
    package var otherKeys: [PropertyListValue?] = []
    package let rows: ArraySlice<UInt32>
}
