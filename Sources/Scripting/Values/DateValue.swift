import KeyedArchive
import Lua
import PropertyList

/// A date as an inline Lua value.
struct DateValue: LuaInline, Equatable {
    var date: PropertyListDate

    init(_ date: PropertyListDate) { self.date = date }
    /// - Parameters:
    ///   - seconds: since 1970.
    ///   - digits: the decimal digits of a fraction.
    init(_ seconds: Int64, fraction digits: String) {
        date = PropertyListDate(secondsSince1970: Int(seconds), fraction: digits)
    }
    init(luaBits: UInt64) { date = PropertyListDate(secondsSinceReferenceDate: Double(bitPattern: luaBits)) }
    /// The date a number of seconds later.
    func moved(by seconds: Double) -> DateValue {
        DateValue(PropertyListDate(secondsSinceReferenceDate: date.secondsSinceReferenceDate + seconds))
    }

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
