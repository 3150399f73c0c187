/// The declared type of a parameter, a result or a property.
///
/// Arguments are checked against it before the function runs. Errors, help, completion and editor annotations quote it.
public indirect enum LuaType: Sendable, Equatable {
    /// Any value, nil included.
    case any
    /// `true` or `false`.
    case boolean
    /// A whole number: 78 or 78.0, not 78.5.
    case integer
    /// An integer or a float.
    case number
    /// A string of any bytes.
    case string
    /// A string of UTF-8.
    case text
    /// A table of any shape.
    case table
    /// A function, or another callable value.
    case function
    /// A callback with its signature, `(item: Item) → boolean`.
    case callback(String)
    /// An object of the class of this name.
    case object(String)
    /// An array from 1 with elements of this type.
    case array(LuaType)
    /// One of these words.
    case choice([String])
    /// A table of named options; an unknown name is an error.
    case options(LuaFields)
    /// A table with these fields, and a name for editors. An argument may have other fields as well.
    case record(String, LuaFields)
    /// A value of one of several types.
    case union([LuaType])
    /// A value of this type, or nil.
    case optional(LuaType)
    /// Any number of arguments of this type, at the end.
    case variadic(LuaType)

    /// The type in words, for help and errors.
    public var name: String {
        switch self {
        case .any: "any value"
        case .boolean: "boolean"
        case .integer: "integer"
        case .number: "number"
        case .string: "string"
        case .text: "string"
        case .table: "table"
        case .function: "function"
        case .callback: "function"
        case .object(let name): name
        case .array(let element): "array of \(element.name)"
        case .choice(let words): words.map { "\"\($0)\"" }.joined(separator: " or ")
        case .options: "table of options"
        case .record: "table"
        case .union(let types): types.map(\.name).joined(separator: " or ")
        case .optional(let type): "\(type.name) or nil"
        case .variadic(let type): "\(type.name)…"
        }
    }

    /// The result types of a function that can fail: the value, or nil and an error.
    public static func orError(_ type: LuaType) -> [LuaType] { [.optional(type), .optional(.object("Error"))] }

    /// The type without nil.
    var wrapped: LuaType { if case .optional(let type) = self { type } else { self } }

    /// Whether a text conforms to it.
    var takesText: Bool {
        switch self {
        case .text, .string: true
        case .optional(let type), .variadic(let type): type.takesText
        case .union(let types): types.contains { $0.takesText }
        default: false
        }
    }

    /// Whether it stands for any number of arguments.
    package var isVariadic: Bool { if case .variadic = self { true } else { false } }

    /// Whether the argument may be omitted.
    public var isOptional: Bool {
        switch self {
        case .optional, .variadic, .any: true
        default: false
        }
    }
}
