import ColumnEngine

/// A field of a row, set by a change.
struct ChangedField: Hashable {
    var row: UInt32
    var field: UInt32
}

extension Change {
    /// The field of a `set`.
    var changedField: ChangedField { ChangedField(row: row, field: field) }
}
