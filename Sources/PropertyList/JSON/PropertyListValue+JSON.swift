/// Reading and writing of JSON.
extension PropertyListValue {
    /// Reads a JSON text. The last of equal keys counts. A number with an integral value is an integer, without a point
    /// and an exponent of up to 128 bits; one that is larger, or not finite as a real, is an error.
    ///
    /// - Throws: ``JSONError``.
    public init(json bytes: [UInt8]) throws(JSONError) {
        var repeated = RepeatedKeys()
        self = try Self(json: bytes, repeated: &repeated)
    }

    /// The same, and the keys that an object has again, which are added to those before.
    package init(json bytes: [UInt8], repeated: inout RepeatedKeys) throws(JSONError) {
        do throws(PropertyListError) {
            let (value, keys) = try JSONReader.value(of: bytes)
            self = value
            repeated.add(keys)
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

/// The keys that objects have more than once: how many, and the first of them.
package struct RepeatedKeys: Sendable, Hashable {
    package private(set) var count = 0
    package private(set) var first: String?

    package init() {}

    package mutating func note(_ key: String) {
        if first == nil { first = key }
        count += 1
    }

    package mutating func add(_ others: Self) {
        if first == nil { first = others.first }
        count += others.count
    }
}
