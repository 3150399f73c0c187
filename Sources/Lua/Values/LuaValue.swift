/// A Lua value held by Swift.
///
/// Tables, functions, coroutines and userdata are references to the living thing: the state keeps them as long as a
/// `LuaValue` does. They belong to one state and are used on its thread; they may be dropped anywhere.
public enum LuaValue {
    case `nil`
    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    case string(LuaString)
    case table(LuaTable)
    case function(LuaFunction)
    case thread(LuaThread)
    case userdata(LuaUserdata)

    /// A string value from text.
    public static func text(_ text: String) -> LuaValue { .string(LuaString(text)) }

    /// Lua's name of the type.
    public var typeName: String {
        switch self {
        case .nil: "nil"
        case .boolean: "boolean"
        case .integer, .number: "number"
        case .string: "string"
        case .table: "table"
        case .function: "function"
        case .thread: "thread"
        case .userdata: "userdata"
        }
    }

    public var isNil: Bool { if case .nil = self { true } else { false } }

    /// As Lua's conditions see it: all but nil and false.
    public var isTruthy: Bool {
        switch self {
        case .nil, .boolean(false): false
        default: true
        }
    }

    /// The integer, or the float that is one exactly.
    public var integerValue: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    public var numberValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The text of a string that is UTF-8.
    public var textValue: String? { if case .string(let string) = self { string.text } else { nil } }
}

extension LuaValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral, ExpressibleByFloatLiteral
{
    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(nilLiteral: ()) { self = .nil }
}
