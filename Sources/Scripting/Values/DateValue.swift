import KeyedArchive
import Lua
import PropertyList

/// A moment as Lua holds it: eight bytes, no object.
struct DateValue: LuaInline, Equatable {
    var date: PropertyListDate

    init(_ date: PropertyListDate) { self.date = date }
    init(luaBits: UInt64) { date = PropertyListDate(secondsSinceReferenceDate: Double(bitPattern: luaBits)) }
    var luaBits: UInt64 { date.secondsSinceReferenceDate.bitPattern }
}

/// Bytes as Lua holds them when they are not text: a value of a property list.
final class DataValue {
    let bytes: [UInt8]
    /// The mutable data of an archive that it came from.
    let mutable: ArchivedMutableData?

    init(_ bytes: [UInt8], mutable: ArchivedMutableData? = nil) {
        self.bytes = bytes
        self.mutable = mutable
    }
}

/// The one null of property lists and JSON, which a table can hold where nil can't stand.
final class NullValue {
    static nonisolated(unsafe) let shared = NullValue()  // Never changed: it has no state.
    private init() {}
}
