/// Reading and writing of JSON.
extension PropertyListValue {
    /// Reads a JSON text. The first of equal keys counts. A number with an integral value is an integer, and beyond 64
    /// bits a real.
    ///
    /// - Throws: ``JSONError``.
    public init(json bytes: [UInt8]) throws(JSONError) {
        do throws(PropertyListError) {
            self = try JSONReader.value(of: bytes)
        } catch {
            throw JSONError(error, in: bytes)
        }
    }

    /// The value as JSON: dates in ISO 8601, data in Base64, keys sorted.
    ///
    /// - Throws: ``JSONError`` for numbers that JSON cannot represent, and for more than a gigabyte of text.
    public func json(isPretty: Bool = false) throws(JSONError) -> [UInt8] {
        try JSONWriter.encode(self, isPretty: isPretty)
    }
}
