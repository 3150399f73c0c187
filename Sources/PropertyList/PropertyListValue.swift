/// A property-list value.
///
/// The kinds are those of Apple's binary form (`bplist00`); the XML form has no null and no set. Values are compared by
/// kind and exact content: an integer 5, a real 5.0 and `true` are three values.
public enum PropertyListValue: Sendable, Hashable {
    /// Null, which only the binary form has.
    case null
    /// True or false.
    case boolean(Bool)
    /// A signed 64-bit integer: nearly every integer.
    case integer(Int64)
    /// An integer outside the range of `Int64`, up to 128 bits; never used for one inside it.
    case wideInteger(Int128)
    /// A double-precision real.
    case real(Double)
    /// A single-precision real, stored in four bytes.
    case single(Float)
    /// A point in time.
    case date(PropertyListDate)
    /// Bytes.
    case data([UInt8])
    /// A text.
    case string(String)
    /// A reference into `$objects` of a keyed archive.
    case uid(UInt32)
    /// Values in order.
    case array([PropertyListValue])
    /// A set, which only the binary form has. Elements keep their order in the file.
    case set([PropertyListValue])
    /// Values by key.
    case dictionary([String: PropertyListValue])
}
