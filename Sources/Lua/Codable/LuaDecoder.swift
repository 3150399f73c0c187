/// Decodes `Decodable` values from Lua values, without metamethods.
///
/// Reads the output of ``LuaEncoder``. A number of either subtype is read as an integer if it is whole and in the
/// integer type's range. Text is not converted to numbers, nor numbers to text. An array's keys are 1 to its length;
/// holes are nil, and the greatest key, or the field `n`, is the count. Arrays of mostly holes are refused.
public struct LuaDecoder {
    /// Maximum nesting depth; decoding throws beyond it, for example for a table that contains itself.
    public var maximumDepth = 100

    /// Creates a decoder.
    public init() {}

    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: its type in Swift.
    ///   - value: its Lua value.
    /// - Returns: the decoded value.
    /// - Throws: `DecodingError` with the coding path; ``LuaError`` for lack of stack.
    public func decode<T: Decodable>(_ type: T.Type, from value: LuaValue) throws -> T {
        try ValueDecoding(value: value, codingPath: [], depthLeft: maximumDepth).read(type)
    }
}
