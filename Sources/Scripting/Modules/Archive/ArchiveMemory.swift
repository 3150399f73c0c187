import KeyedArchive
import Lua
import PropertyList

/// The details of a table's archived form that Lua values cannot show: the order of keys, whether a number was an
/// object or inline, that a float had four bytes, that a string was mutable. Unchanged values are written back in this
/// form.
///
/// It is stored beside the table, under a weak key, and refers to no table.
final class ArchiveMemory {
    /// A key or an element's position, compared by content.
    enum Place: Hashable {
        case text(LuaString)
        case integer(Int64)
        case number(UInt64)
        case boolean(Bool)
        /// A key with identity: its position in the bridge's list of the table's keys.
        case reference(Int64)

        /// Nil for a value with identity.
        init?(_ value: LuaValue) {
            switch value {
            case .string(let text): self = .text(text)
            case .integer(let value): self = .integer(value)
            case .number(let value): self = Int64(exactly: value).map(Place.integer) ?? .number(value.bitPattern)
            case .boolean(let value): self = .boolean(value)
            default: return nil
            }
        }

        init(_ text: String) { self = .text(LuaString(text)) }

        /// The place as a table's key; nil for one with identity.
        var lua: LuaValue {
            switch self {
            case .text(let text): .string(text)
            case .integer(let value): .integer(value)
            case .number(let bits): .number(Double(bitPattern: bits))
            case .boolean(let value): .boolean(value)
            case .reference: .nil
            }
        }
    }

    /// The keys in the archive's order.
    var order: [Place] = []
    /// The original keys where the Lua value differs.
    var keys: [Place: ArchiveValue] = [:]
    /// The original values where the Lua value differs.
    var values: [Place: ArchivedObject.FieldValue] = [:]

    /// The memory for a copy of the table.
    func copy() -> ArchiveMemory {
        let copy = ArchiveMemory()
        copy.order = order
        copy.keys = keys
        copy.values = values.mapValues { value in
            guard case .object(.mutableString(let string)?) = value else { return value }
            return .object(.mutableString(ArchivedMutableString(string.text)))
        }
        return copy
    }
}
