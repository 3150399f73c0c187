import ColumnEngine

/// A field of a row that a change set.
struct ChangedField: Hashable {
    var row: UInt32
    var field: UInt32
}

extension Change {
    /// What a `set` changed.
    var changedField: ChangedField { ChangedField(row: row, field: field) }
}
