/// JSON in and out.
extension PropertyListValue {
    /// The value of a JSON text. Of equal keys the first counts; a number without a fraction is an integer, one beyond 64
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
    /// - Throws: ``JSONError`` for numbers that JSON does not have, and for what has more than a gigabyte.
    public func json(isPretty: Bool = false) throws(JSONError) -> [UInt8] {
        try JSONWriter.encode(self, isPretty: isPretty)
    }
}
