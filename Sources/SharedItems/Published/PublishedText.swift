import PropertyList

/// Texts in the form in which PostgreSQL has all of them: its `text` and `jsonb` have neither U+0000 nor half of a surrogate
/// pair.
///
/// In an escaped text a backslash is `\\`, U+0000 is `\0`, and half of a surrogate pair is `\ud83d`: it reads back exactly.
enum PublishedText {
    private static let backslash: Unicode.Scalar = "\\"

    /// Whether all texts of a value are as they can be in PostgreSQL.
    static func isPlain(_ value: PropertyListValue) -> Bool {
        switch value {
        case .string(let text): !hasNull(text)
        case .utf16: false
        case .array(let elements), .set(let elements): elements.allSatisfy(isPlain)
        case .dictionary(let entries): entries.entries.allSatisfy { isPlain($0.key) && isPlain($0.value) }
        case .null, .boolean, .integer, .wideInteger, .real, .single, .date, .data, .uid: true
        }
    }

    /// A value whose texts are escaped, all of them: those of a field are all escaped, or none is.
    static func escaped(_ value: PropertyListValue) -> PropertyListValue {
        switch value {
        case .string(let text): .string(escaped(text))
        case .utf16(let units): .string(escaped(units))
        case .array(let elements): .array(elements.map(escaped))
        case .set(let elements): .set(elements.map(escaped))
        case .dictionary(let entries):
            .dictionary(PropertyListDictionary(entries.entries.map { (escaped($0.key), escaped($0.value)) }))
        case .null, .boolean, .integer, .wideInteger, .real, .single, .date, .data, .uid: value
        }
    }

    private static func hasNull(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { $0.contains(0) } ?? text.utf8.contains(0)
    }

    private static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { append(scalar, to: &result) }
        return String(result)
    }

    private static func escaped(_ units: [UInt16]) -> String {
        var result = String.UnicodeScalarView()
        var index = 0
        while index < units.count {
            let unit = units[index]
            let next = index + 1 < units.count ? units[index + 1] : 0
            index += 1
            if let scalar = Unicode.Scalar(unit) {
                append(scalar, to: &result)
            } else if UTF16.isLeadSurrogate(unit), UTF16.isTrailSurrogate(next) {
                result.append(contentsOf: String(decoding: [unit, next], as: UTF16.self).unicodeScalars)
                index += 1
            } else {
                result.append(contentsOf: "\\u\(String(unit, radix: 16))".unicodeScalars)
            }
        }
        return String(result)
    }

    private static func append(_ scalar: Unicode.Scalar, to result: inout String.UnicodeScalarView) {
        switch scalar {
        case backslash: result.append(contentsOf: "\\\\".unicodeScalars)
        case "\0": result.append(contentsOf: "\\0".unicodeScalars)
        default: result.append(scalar)
        }
    }

    // MARK: Names

    /// A key of an item, or a field's name. One that has to be escaped has one more backslash in front; so has one that
    /// begins with a backslash: two names never become one.
    static func name(_ name: String) -> String {
        guard hasNull(name) || name.unicodeScalars.first == backslash else { return name }
        return "\\" + escaped(name)
    }

    /// The inverse of ``name(_:)``.
    static func field(named name: String) -> String {
        guard name.unicodeScalars.first == backslash else { return name }
        var result = String.UnicodeScalarView()
        var isAfterBackslash = false
        for scalar in name.unicodeScalars.dropFirst() {
            if scalar == backslash, !isAfterBackslash {
                isAfterBackslash = true
                continue
            }
            result.append(isAfterBackslash && scalar == "0" ? "\0" : scalar)
            isAfterBackslash = false
        }
        return String(result)
    }
}
