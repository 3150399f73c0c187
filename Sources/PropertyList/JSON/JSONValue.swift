/// A JSON value of a protocol.
package typealias JSONValue = PropertyListValue

/// Lenient reading of JSON: a field that is missing or of another type is nil.
extension PropertyListValue {
    /// An object's field.
    package subscript(name: String) -> JSONValue? {
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

    /// A truth value.
    package var flag: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
    /// An integer.
    package var number: Int? { if case .integer(let number) = self { Int(exactly: number) } else { nil } }
    /// An array's elements.
    package var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// An integer.
    package static func number(_ number: Int) -> JSONValue { .integer(Int64(number)) }

    /// A number.
    package var double: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        default: nil
        }
    }

    /// An object of the fields that are not nil.
    package static func object(_ fields: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        var present: PropertyListFields = [:]
        for (name, value) in fields { present[name] = value }
        return .fields(present)
    }
}

/// What a field of an object is made from.
package protocol JSONConvertible { var jsonValue: JSONValue { get } }

extension PropertyListValue: JSONConvertible {
    package var jsonValue: JSONValue { self }

    /// An object of the fields that are not nil, from plain values.
    package static func of(_ fields: KeyValuePairs<String, (any JSONConvertible)?>) -> JSONValue {
        var present: PropertyListFields = [:]
        for (name, value) in fields { present[name] = value?.jsonValue }
        return .fields(present)
    }
}

extension String: JSONConvertible { package var jsonValue: JSONValue { .string(self) } }
extension Int: JSONConvertible { package var jsonValue: JSONValue { .number(self) } }
extension Double: JSONConvertible { package var jsonValue: JSONValue { .real(self) } }
extension Bool: JSONConvertible { package var jsonValue: JSONValue { .boolean(self) } }
extension Array: JSONConvertible where Element: JSONConvertible {
    package var jsonValue: JSONValue { .array(map(\.jsonValue)) }
}
