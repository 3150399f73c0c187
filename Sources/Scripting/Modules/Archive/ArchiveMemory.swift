import KeyedArchive
import Lua
import PropertyList

/// What Lua's values do not show of what a table was in an archive: the order of keys, whether a number lay in an object
/// or was one, that a float had four bytes, that a string was mutable. What a script did not change is written back by it.
///
/// It is kept beside the table, under the table as a weak key, and refers to no table itself.
final class ArchiveMemory {
    /// A key or an element's position, compared by content.
    enum Place: Hashable {
        case text(LuaString)
        case integer(Int64)
        case number(UInt64)
        case boolean(Bool)
        /// A key with an identity: the position in the bridge's own list of the table's keys.
        case reference(Int64)

        /// Nil for what has an identity.
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

        /// The place as a key of a table; nil for one with an identity.
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
    /// The keys that were something else than they look like.
    var keys: [Place: ArchiveValue] = [:]
    /// The values that were something else than they look like.
    var values: [Place: ArchivedObject.FieldValue] = [:]

    /// One for a copy of the table.
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
