/// The keys of the dictionaries that represent kinds that JSON lacks.
enum JSONTag: String, CaseIterable {
    /// ISO 8601, or a number of seconds since 2001.
    case date = "$date"
    /// Base64.
    case data = "$data"
    /// `nan`, `inf` or `-inf`.
    case real = "$real"
    /// A single-precision number.
    case float = "$float"
    case uid = "$uid"
    case set = "$set"

    /// Escapes a dictionary's only key if it looks like a tag.
    static func escaped(_ key: String) -> String { isAmbiguous(key) ? "$" + key : key }

    /// The inverse of `escaped`.
    static func unescaped(_ key: String) -> String {
        key.hasPrefix("$$") && isAmbiguous(key) ? String(key.dropFirst()) : key
    }

    private static func isAmbiguous(_ key: String) -> Bool {
        guard key.hasPrefix("$") else { return false }
        return JSONTag(rawValue: "$" + key.drop { $0 == "$" }) != nil
    }
}
