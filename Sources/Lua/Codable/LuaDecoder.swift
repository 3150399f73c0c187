/// Decodes `Decodable` values from Lua values, without metamethods.
///
/// Reads what ``LuaEncoder`` writes. A number of either kind is read as an integer when it is one, of any width in whose
/// range it is. Text is not read as a number, nor a number as text. An array's keys are 1 to its length; a hole is nil,
/// and the greatest key, or the field `n`, is the count. Arrays with more holes than elements are refused.
public struct LuaDecoder {
    /// The deepest nesting; beyond it, for example in a table that contains itself, decoding throws.
    public var maximumDepth = 100

    /// A decoder.
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
