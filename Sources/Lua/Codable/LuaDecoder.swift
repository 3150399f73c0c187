/// Decodes `Decodable` values from Lua values, without metamethods.
///
/// Reads the output of ``LuaEncoder``. A number of either subtype is read as an integer if it is whole and in the
/// integer type's range. Text is not converted to numbers, nor numbers to text. An array's keys are 1 to its length;
/// holes are nil, and the greatest key, or the field `n`, is the count. Arrays of mostly holes are refused.
///
/// A conversion has ``LuaLimits/conversion``, allocates at most ``LuaLimits/memory`` bytes, and ends when the script for
/// which it works is stopped. A table that occurs several times is decoded once for each type, and so is a string; an
/// instance of a class is made for each of its places.
public struct LuaDecoder {
    /// Maximum nesting depth; decoding throws beyond it, for example for a table that contains itself. The limits of the
    /// state may be narrower.
    public var maximumDepth = 100

    /// Creates a decoder.
    public init() {}

    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: its type in Swift.
    ///   - value: its Lua value.
    /// - Returns: the decoded value.
    /// - Throws: `DecodingError` with the coding path; ``LuaError`` beyond a limit of the conversion, and when the script
    ///   for which it works is stopped.
    public func decode<T: Decodable>(_ type: T.Type, from value: LuaValue) throws -> T {
        let session = DecodingSession(value)
        do {
            let decoding = ValueDecoding(
                value: value, codingPath: [], depthLeft: min(maximumDepth, session.count.depth), session: session)
            let result = try decoding.read(type)
            if let failure = session.count.failure { throw failure }
            return result
        } catch { throw session.count.failure ?? error }
    }
}
