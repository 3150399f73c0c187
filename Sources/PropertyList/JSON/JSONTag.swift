/// The keys of the dictionaries that represent kinds that JSON lacks.
enum JSONTag: String, CaseIterable {
    /// ISO 8601, or a number of seconds since 2001, as a text when it is not finite.
    case date = "$date"
    /// Base64.
    case data = "$data"
    /// A real that is not finite: `nan`, `inf`, `-inf`, `nan(0x1)`.
    case real = "$real"
    /// A single-precision number.
    case float = "$float"
    case uid = "$uid"
    case set = "$set"
    /// The pairs of a dictionary with keys that are not texts: `[[key, value], …]`.
    case entries = "$entries"

    /// Escapes a dictionary's only key if it looks like a tag.
    static func escaped(_ key: String) -> String { isAmbiguous(key) ? "$" + key : key }

    static func escaped(_ key: PropertyListValue) -> PropertyListValue {
        if case .string(let text) = key { .string(escaped(text)) } else { key }
    }

    /// The inverse of `escaped`.
    static func unescaped(_ key: String) -> String {
        key.hasPrefix("$$") && isAmbiguous(key) ? String(key.dropFirst()) : key
    }

    private static func isAmbiguous(_ key: String) -> Bool {
        guard key.hasPrefix("$") else { return false }
        return JSONTag(exactly: "$" + key.drop { $0.is("$") }) != nil
    }
}
