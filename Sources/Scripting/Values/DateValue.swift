import KeyedArchive
import Lua
import PropertyList

/// A date as an inline Lua value.
struct DateValue: LuaInline, Equatable {
    var date: PropertyListDate

    init(_ date: PropertyListDate) { self.date = date }
    /// - Parameters:
    ///   - seconds: since 1970.
    ///   - fraction: a fraction to add, in seconds.
    init(_ seconds: Int64, fraction: Double) {
        // Relative to the reference date, since whole and binary fractions of a second are exact in that form.
        date = PropertyListDate(
            secondsSinceReferenceDate: Double(seconds) - PropertyListDate.unixEpochOffset + fraction)
    }
    init(luaBits: UInt64) { date = PropertyListDate(secondsSinceReferenceDate: Double(bitPattern: luaBits)) }
    var luaBits: UInt64 { date.secondsSinceReferenceDate.bitPattern }
}

/// Bytes of a property list as a Lua object.
final class DataValue {
    let bytes: [UInt8]
    /// The mutable data of its archive.
    let mutable: ArchivedMutableData?

    init(_ bytes: [UInt8], mutable: ArchivedMutableData? = nil) {
        self.bytes = bytes
        self.mutable = mutable
    }
}

/// The null of property lists and JSON, as a value that a Lua table can hold.
final class NullValue {
    static nonisolated(unsafe) let shared = NullValue()  // Immutable: it has no state.
    private init() {}
}
