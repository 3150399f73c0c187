import PropertyList

/// The fields of a message's JSON object, each with a default if it is missing or of another type.
struct JSONFields {
    private let fields: PropertyListFields

    /// Nil if the bytes are not a JSON object.
    init?(_ bytes: [UInt8]) {
        guard let value = try? PropertyListValue(json: bytes) else { return nil }
        self.init(value)
    }

    init?(_ value: PropertyListValue) {
        guard let fields = value.fields else { return nil }
        self.fields = fields
    }

    func text(_ name: String) -> String {
        if case .string(let text)? = fields[name] { text } else { "" }
    }

    func number(_ name: String) -> Int {
        if case .integer(let number)? = fields[name] { Int(number) } else { 0 }
    }

    func flag(_ name: String) -> Bool { fields[name] == .boolean(true) }

    func array(_ name: String) -> [PropertyListValue] {
        if case .array(let elements)? = fields[name] { elements } else { [] }
    }

    func object(_ name: String) -> JSONFields? { fields[name].flatMap(JSONFields.init) }

    /// Encodes an object; an empty one if JSON cannot represent a number.
    static func encode(_ fields: PropertyListFields) -> [UInt8] {
        (try? PropertyListValue.fields(fields).json()) ?? Array("{}".utf8)
    }
}
