/// Encodes `Encodable` values as Lua values.
///
/// Structs and dictionaries become tables with their keys, arrays tables from 1, and enums with payloads tables of one
/// field, as in synthesized conformances. Integers and floating-point numbers become Lua's numbers. `Date` becomes the
/// seconds since 1970, as for `os.time`; `Data` a string of its bytes; `URL` its text. A nil optional is a missing
/// field; in an array it leaves a hole, and the table's field `n` has the count, as for `table.pack`.
///
/// A conversion has ``LuaLimits/conversion``, puts no value into Lua that does not fit into ``LuaLimits/memory``, and
/// ends when the script for which it works is stopped.
public struct LuaEncoder {
    /// Maximum nesting depth; encoding throws beyond it, for example for a cycle of objects. The limits of the state may
    /// be narrower.
    public var maximumDepth = 100

    private let state: LuaState

    /// - Parameter state: the state of the tables.
    public init(_ state: LuaState) { self.state = state }

    /// Encodes a value.
    ///
    /// - Parameter value: the value.
    /// - Returns: its Lua value; a new table for a value with fields or elements.
    /// - Throws: `EncodingError` with the coding path; ``LuaError`` beyond a limit, and when the script for which it works
    ///   is stopped.
    public func encode<T: Encodable>(_ value: T) throws -> LuaValue {
        var result: LuaValue?
        let total = ConversionCount(state)
        let encoding = ValueEncoding(
            state: state, total: total, codingPath: [], depthLeft: min(maximumDepth, total.depth)
        ) { result = $0 }
        do {
            try encoding.write(value)
            if let failure = total.failure { throw failure }
            try state.checkRefusal()
        } catch {
            // The error says what was refused.
            _ = state.takeRefusal()
            throw total.failure ?? error
        }
        guard let result else {
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: [], debugDescription: "\(T.self) encoded no value"))
        }
        return result
    }
}
