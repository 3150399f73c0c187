/// A Swift type with a counterpart in Lua, used to declare functions and properties:
///
/// ```swift
/// enum Mode: String, CaseIterable, LuaRepresentable { case dim, bright }
///
/// lamps.property("mode", doc: "How it shines.", get: { $0.mode }, set: { $0.mode = $1 })
/// lamps.method("blink", ["pattern", "mode"], doc: "Blinks.") { (lamp, pattern: [Double], mode: Mode?) in
///     lamp.blink(pattern, mode ?? .bright)
/// }
/// ```
public protocol LuaRepresentable {
    /// The type in declarations.
    static var luaType: LuaType { get }

    /// The result types of a function that returns this type. The default is the type itself.
    static var luaResults: [LuaType] { get }

    /// Converts a Lua value.
    ///
    /// - Throws: `LuaMismatch` for a value of another type.
    init(lua value: LuaValue) throws(LuaMismatch)

    /// Converts to a Lua value.
    func luaValue(in state: LuaState) -> LuaValue

    /// Reads an argument. The default implementation suffices.
    static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> Self

    /// Pushes the value as a result. The default implementation suffices.
    func push(as call: LuaCall) throws(LuaError) -> LuaResults
}

extension LuaRepresentable {
    public static var luaResults: [LuaType] { [luaType] }

    @inlinable
    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> Self {
        do { return try Self(lua: call.value(position)) } catch { throw call.refuse(position, error.message) }
    }

    @inlinable
    public func push(as call: LuaCall) throws(LuaError) -> LuaResults { call.returns(luaValue(in: call.state)) }
}

/// A type mismatch, described in words: `integer expected, got string`.
///
/// If a declared function throws it with an argument's name, the error names the function and the argument.
public struct LuaMismatch: Error, Equatable {
    private enum Reason {
        case text(String)
        /// Formatted on demand: an argument of several possible types is tried with each.
        case type(LuaType, got: String)
    }

    private let reason: Reason
    /// The name of the refused argument; nil outside of calls.
    let argument: String?
    /// The position of the refused argument, for a value that is read by its position.
    let position: Int?

    /// The description.
    public var message: String {
        switch reason {
        case .text(let message): message
        case .type(let type, let got): "\(type.name) expected, got \(got)"
        }
    }

    /// Creates a mismatch, for an ``LuaRepresentable/init(lua:)`` or for an argument.
    public init(_ message: String, argument: String? = nil) {
        (reason, self.argument, position) = (.text(message), argument, nil)
    }

    init(_ message: String, at position: Int) { (reason, argument, self.position) = (.text(message), nil, position) }

    @usableFromInline
    init(_ type: LuaType, _ value: LuaValue) {
        var got = value.typeName
        if case .userdata(let userdata) = value, let name = userdata.className { got = name }
        (reason, argument, position) = (.type(type, got: got), nil, nil)
    }

    public static func == (a: LuaMismatch, b: LuaMismatch) -> Bool {
        (a.message, a.argument, a.position) == (b.message, b.argument, b.position)
    }

    func at(_ place: String) -> LuaMismatch { LuaMismatch("\(place): \(message)") }
}

extension Bool: LuaRepresentable {
    public static var luaType: LuaType { .boolean }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .boolean(let value) = value else { throw LuaMismatch(Self.luaType, value) }
        self = value
    }

    public func luaValue(in state: LuaState) -> LuaValue { .boolean(self) }
    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> Bool { call.boolean(position) }
    public func push(as call: LuaCall) -> LuaResults { call.returns(self) }
}

extension Double: LuaRepresentable {
    public static var luaType: LuaType { .number }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard let number = value.numberValue else { throw LuaMismatch(Self.luaType, value) }
        self = number
    }

    public func luaValue(in state: LuaState) -> LuaValue { .number(self) }
    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> Double {
        try call.number(position)
    }
    public func push(as call: LuaCall) -> LuaResults { call.returns(self) }
}

/// A Lua number, rounded.
extension Float: LuaRepresentable {
    public static var luaType: LuaType { .number }
    public init(lua value: LuaValue) throws(LuaMismatch) { self = Float(try Double(lua: value)) }
    public func luaValue(in state: LuaState) -> LuaValue { .number(Double(self)) }
}

extension String: LuaRepresentable {
    public static var luaType: LuaType { .text }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .string(let string) = value else {
            guard let text = value.errorText else { throw LuaMismatch(Self.luaType, value) }
            self = text
            return
        }
        guard let text = string.text else { throw LuaMismatch("UTF-8 text expected, got other bytes") }
        self = text
    }

    public func luaValue(in state: LuaState) -> LuaValue { .text(self) }
    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> String { try call.text(position) }
    public func push(as call: LuaCall) -> LuaResults { call.returns(self) }
}

/// A string of any bytes.
extension LuaString: LuaRepresentable {
    public static var luaType: LuaType { .string }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .string(let string) = value else {
            guard let text = value.errorText else { throw LuaMismatch(Self.luaType, value) }
            self = LuaString(text)
            return
        }
        self = string
    }

    public func luaValue(in state: LuaState) -> LuaValue { .string(self) }
    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> LuaString {
        LuaString(try call.bytes(position))
    }
    public func push(as call: LuaCall) -> LuaResults { call.returns(self) }
}

/// A value of any type.
extension LuaValue: LuaRepresentable {
    public static var luaType: LuaType { .any }
    public init(lua value: LuaValue) throws(LuaMismatch) { self = value }
    public func luaValue(in state: LuaState) -> LuaValue { self }
    public static func read(_ call: LuaCall, at position: Int) -> LuaValue { call.value(position) }
    public func push(as call: LuaCall) -> LuaResults { call.returns(self) }
}

extension LuaTable: LuaRepresentable {
    public static var luaType: LuaType { .table }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .table(let table) = value else { throw LuaMismatch(Self.luaType, value) }
        self = table
    }

    public func luaValue(in state: LuaState) -> LuaValue { .table(self) }
}

extension LuaFunction: LuaRepresentable {
    public static var luaType: LuaType { .function }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard let function = value.callable else { throw LuaMismatch(Self.luaType, value) }
        self = function
    }

    public func luaValue(in state: LuaState) -> LuaValue { .function(self) }
}

/// The wrapped value, or nil.
extension Optional: LuaRepresentable where Wrapped: LuaRepresentable {
    public static var luaType: LuaType { .optional(Wrapped.luaType) }
    public init(lua value: LuaValue) throws(LuaMismatch) { self = value.isNil ? nil : try Wrapped(lua: value) }
    public func luaValue(in state: LuaState) -> LuaValue { self?.luaValue(in: state) ?? .nil }

    @inlinable
    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> Wrapped? {
        call.isNil(position) ? nil : try Wrapped.read(call, at: position)
    }

    @inlinable
    public func push(as call: LuaCall) throws(LuaError) -> LuaResults {
        try self?.push(as: call) ?? call.returns(LuaValue.nil)
    }
}

/// Integers of at most 64 bits. Lua numbers out of range or with a fraction are refused.
extension LuaRepresentable where Self: FixedWidthInteger {
    public static var luaType: LuaType { .integer }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard let integer = value.integerValue else { throw LuaMismatch(Self.luaType, value) }
        guard let exact = Self(exactly: integer) else { throw Self.refusing(integer) }
        self = exact
    }

    public func luaValue(in state: LuaState) -> LuaValue { .integer(Int64(self)) }

    @inlinable
    public static func read(_ call: LuaCall, at position: Int) throws(LuaMismatch) -> Self {
        let integer = try call.integer(position)
        guard let exact = Self(exactly: integer) else { throw call.refuse(position, refusing(integer).message) }
        return exact
    }

    @inlinable
    public func push(as call: LuaCall) throws(LuaError) -> LuaResults { call.returns(Int64(self)) }

    @usableFromInline
    static func refusing(_ integer: Int64) -> LuaMismatch {
        LuaMismatch("integer from \(Self.min) to \(Self.max) expected, got \(integer)")
    }
}

extension Int: LuaRepresentable {}
extension Int8: LuaRepresentable {}
extension Int16: LuaRepresentable {}
extension Int32: LuaRepresentable {}
extension Int64: LuaRepresentable {}
extension UInt8: LuaRepresentable {}
extension UInt16: LuaRepresentable {}
extension UInt32: LuaRepresentable {}

/// An enum without payloads is a string in Lua: the case's raw text or name. The error for an unknown word lists the
/// nearest cases.
extension LuaRepresentable where Self: CaseIterable {
    public static var luaType: LuaType { .choice(allCases.map { word(of: $0) }) }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        self = try Self.find(value) { word in Self.allCases.first { Self.word(of: $0) == word } }
    }

    public func luaValue(in state: LuaState) -> LuaValue { .text(Self.word(of: self)) }

    fileprivate static func find(_ value: LuaValue, _ known: (String) -> Self?) throws(LuaMismatch) -> Self {
        guard let word = value.textValue else { throw LuaMismatch(luaType, value) }
        if let found = known(word) { return found }
        let hint = NearestNames.hint(for: word, among: allCases.map { Self.word(of: $0) })
        throw LuaMismatch("\(luaType.name) expected, got \"\(word)\"\(hint)")
    }

    private static func word(of value: Self) -> String {
        (value as? any RawRepresentable)?.rawValue as? String ?? "\(value)"
    }
}

/// An enum with text raw values, converted without examining each case.
extension LuaRepresentable where Self: CaseIterable & RawRepresentable<String> {
    public static var luaType: LuaType { .choice(allCases.map { $0.rawValue }) }
    public init(lua value: LuaValue) throws(LuaMismatch) { self = try Self.find(value, Self.init(exactly:)) }
    public func luaValue(in state: LuaState) -> LuaValue { .text(rawValue) }
}
