internal import CLuaShim

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
    package var typeName: String {
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
    package var isNil: Bool { if case .nil = self { true } else { false } }

    /// Whether it counts as true in conditions: all values but nil and false.
    package var isTruthy: Bool {
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

/// A Lua string: arbitrary bytes.
public struct LuaString: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The bytes.
    public var bytes: [UInt8]

    /// Creates a string from bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    /// Creates a string from a text's UTF-8.
    public init(_ text: String) { bytes = Array(text.utf8) }
    public init(stringLiteral text: String) { self.init(text) }

    /// The text; nil unless the bytes are UTF-8.
    public var text: String? { String(validating: bytes, as: UTF8.self) }

    /// The text, with escapes like `\xff` for bytes that are not UTF-8.
    public var description: String { String(escaping: bytes) }

    /// The string as a Lua literal; UTF-8 text remains readable.
    ///
    /// - Parameter limit: the maximum number of characters; for bytes that are not text, 64 unless there is no limit.
    /// - Returns: the literal, followed by the number of bytes if it is truncated.
    package func quoted(limit: Int = .max) -> String {
        guard let text else {
            let limit = limit == .max ? Int.max : 64
            let shown = bytes.prefix(limit).map { byte in
                (0x20...0x7e).contains(byte) && byte != 0x22 && byte != 0x5c
                    ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
            return "\"\(shown.joined())\"\(bytes.count > limit ? "… (\(bytes.count.counted("byte")))" : "")"
        }
        let shown = VisibleText.escaped(String(text.unicodeScalars.prefix(limit)).quoted())
        return text.unicodeScalars.count > limit ? "\(shown)… (\(text.utf8.count.counted("byte")))" : shown
    }
}

/// A userdata retained by Swift: an object of the host, or a foreign one.
public struct LuaUserdata {
    let state: LuaState
    let reference: LuaReference

    /// The class's name; nil for a foreign userdata.
    package var className: String? {
        state.reading(reference) { L in clua_classof(L, -1).map { String(cString: clua_classname($0)) } }
    }
}

/// Lua's `rawequal`: numbers are equal by value, so that 1 equals 1.0, strings by bytes, others by identity.
extension LuaValue: Equatable {
    public static func == (a: LuaValue, b: LuaValue) -> Bool {
        switch (a, b) {
        case (.nil, .nil): true
        case (.boolean(let a), .boolean(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.number(let a), .number(let b)): a == b
        case (.integer(let a), .number(let b)), (.number(let b), .integer(let a)): Int64(exactly: b) == a
        case (.string(let a), .string(let b)): a == b
        case (.table(let a), .table(let b)): a == b
        case (.function(let a), .function(let b)): a == b
        case (.thread(let a), .thread(let b)): a == b
        case (.userdata(let a), .userdata(let b)): a == b
        default: false
        }
    }
}

extension LuaTable: Equatable {
    /// Whether both are the same table.
    public static func == (a: LuaTable, b: LuaTable) -> Bool { a.state.isSame(a.reference, b.reference) }
}

extension LuaFunction: Equatable {
    /// Whether both are the same function.
    public static func == (a: LuaFunction, b: LuaFunction) -> Bool { a.state.isSame(a.reference, b.reference) }
}

extension LuaThread: Equatable {
    /// Whether both are the same coroutine.
    public static func == (a: LuaThread, b: LuaThread) -> Bool { a.state.isSame(a.reference, b.reference) }
}

extension LuaUserdata: Equatable {
    /// Whether both are the same userdata; `__eq` of the class is not called.
    public static func == (a: LuaUserdata, b: LuaUserdata) -> Bool { a.state.isSame(a.reference, b.reference) }
}

extension LuaState {
    /// Whether two references hold the same object.
    fileprivate func isSame(_ a: LuaReference, _ b: LuaReference) -> Bool {
        if a === b { return true }
        guard isOpen, a.releases === b.releases else { return false }
        return identity(of: a) == identity(of: b)
    }

    /// The address of a referenced object.
    func identity(of reference: LuaReference) -> UnsafeRawPointer? {
        reading(reference) { UnsafeRawPointer(clua_topointer($0, -1)) }
    }
}

/// The value's text at the prompt, in one line: `{ 1, 2, name = "Lamp" }`. Strings are quoted, tables expanded within
/// limits; `LuaState.describe` returns the text of `tostring`.
extension LuaValue: CustomStringConvertible {
    public var description: String {
        var text = LuaValueText()
        return text.describe(self)
    }
}

extension LuaTable: CustomStringConvertible {
    public var description: String { LuaValue.table(self).description }
}

extension LuaFunction: CustomStringConvertible {
    public var description: String { LuaValue.function(self).description }
}
