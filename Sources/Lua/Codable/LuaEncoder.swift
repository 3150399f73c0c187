/// Encodes `Encodable` values as Lua values.
///
/// Structs and dictionaries become tables with their keys, arrays tables from 1, enums with payloads tables of one field,
/// as their synthesized conformances have it. Integers and floating-point numbers become Lua's numbers. `Date` becomes the
/// seconds since 1970, as of `os.time`; `Data` a string of its bytes; `URL` its text. An optional without a value is a
/// missing field; in an array, it leaves a hole, and the table's field `n` has the count, as of `table.pack`.
public struct LuaEncoder {
    /// The deepest nesting; beyond it, for example in a cycle of objects, encoding throws.
    public var maximumDepth = 100

    private let state: LuaState

    /// - Parameter state: the state of the tables.
    public init(_ state: LuaState) { self.state = state }

    /// Encodes a value.
    ///
    /// - Parameter value: the value.
    /// - Returns: its Lua value; a new table for what has fields or elements.
    /// - Throws: `EncodingError` with the coding path.
    public func encode<T: Encodable>(_ value: T) throws -> LuaValue {
        var result: LuaValue?
        let encoding = ValueEncoding(state: state, codingPath: [], depthLeft: maximumDepth) { result = $0 }
        try encoding.write(value)
        guard let result else {
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: [], debugDescription: "\(T.self) encoded no value"))
        }
        return result
    }
}
