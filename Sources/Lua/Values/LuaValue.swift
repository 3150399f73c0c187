/// A Lua value retained by Swift.
///
/// Tables, functions, coroutines and userdata are references: the state retains their values as long as the
/// `LuaValue`. They belong to one state and are used on its thread; they may be released on any thread.
public enum LuaValue {
    /// No value.
    case `nil`
    /// `true` or `false`.
    case boolean(Bool)
    /// A number of Lua's subtype integer.
    case integer(Int64)
    /// A number of Lua's subtype float.
    case number(Double)
    /// A string of any bytes.
    case string(LuaString)
    /// A table.
    case table(LuaTable)
    /// A function of Lua or of the host.
    case function(LuaFunction)
    /// A coroutine.
    case thread(LuaThread)
    /// An object of the host, or a file.
    case userdata(LuaUserdata)

    /// Creates a string value from text.
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

    /// Whether it is nil.
    public var isNil: Bool { if case .nil = self { true } else { false } }

    /// Whether it counts as true in conditions: all values but nil and false.
    public var isTruthy: Bool {
        switch self {
        case .nil, .boolean(false): false
        default: true
        }
    }

    /// The value as an integer: one, or a float with an integral value.
    public var integerValue: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The value as a number; includes integers.
    public var numberValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The text of a UTF-8 string.
    public var textValue: String? { if case .string(let string) = self { string.text } else { nil } }
}

/// Literals: `table["watts"] = 40`. There are no array and dictionary literals, since tables need a state.
extension LuaValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral, ExpressibleByFloatLiteral
{
    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(nilLiteral: ()) { self = .nil }
}
