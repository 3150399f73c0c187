import PropertyList

/// A JSON value of the protocol.
typealias JSONValue = PropertyListValue

/// Lenient reading of JSON: a field that is missing or of another type is nil.
extension PropertyListValue {
    /// An object's field.
    subscript(name: String) -> JSONValue? {
        get {
            guard case .dictionary(let fields) = self, let value = fields[name], value != .null else { return nil }
            return value
        }
        set {
            guard case .dictionary(var fields) = self else { return }
            fields[name] = newValue
            self = .dictionary(fields)
        }
    }

    var flag: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
    var number: Int? { if case .integer(let number) = self { Int(exactly: number) } else { nil } }
    var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    static func number(_ number: Int) -> JSONValue { .integer(Int64(number)) }

    /// An object of the fields that are not nil.
    static func object(_ fields: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        var present: PropertyListFields = [:]
        for (name, value) in fields { present[name] = value }
        return .fields(present)
    }

    /// The value as a message with its header; empty if JSON cannot represent it.
    var framed: [UInt8] {
        guard let content = try? json() else { return [] }
        return Array("Content-Length: \(content.count)\r\n\r\n".utf8) + content
    }
}
