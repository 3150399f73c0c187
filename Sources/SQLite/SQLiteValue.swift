/// A value that a parameter is bound to.
package enum SQLiteValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    /// Bytes of a text.
    case text([UInt8])
    case blob([UInt8])
}

/// A value of a row, in memory that is good until the statement's next step.
package enum SQLiteCell {
    case null
    case integer(Int64)
    case real(Double)
    case text(UnsafeBufferPointer<UInt8>)
    case blob(UnsafeBufferPointer<UInt8>)
}
