/// A value bound to a parameter.
package enum SQLiteValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    /// The bytes of a text.
    case text([UInt8])
    case blob([UInt8])
}

/// A value of a row, in memory that is valid until the statement's next step.
package enum SQLiteCell {
    case null
    case integer(Int64)
    case real(Double)
    case text(UnsafeBufferPointer<UInt8>)
    case blob(UnsafeBufferPointer<UInt8>)
}
