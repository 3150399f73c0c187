import Wording

extension Bool: LuaRepresentable {
    public static var luaType: LuaType { .boolean }

    public static func fromLua(_ value: LuaValue) throws(LuaMismatch) -> Bool {
        guard case .boolean(let value) = value else { throw LuaMismatch(luaType, value) }
        return value
    }

    public func luaValue(in state: LuaState) -> LuaValue { .boolean(self) }
    public static func read(_ call: LuaCall, at position: Int) throws -> Bool { call.boolean(position) }
    public func push(as call: LuaCall) -> LuaResults { call.returns(self) }
}

extension Int64: LuaRepresentable {
    public static var luaType: LuaType { .integer }

    public static func fromLua(_ value: LuaValue) throws(LuaMismatch) -> Int64 {
        guard let integer = value.integerValue else { throw LuaMismatch(luaType, value) }
        return integer
    }

    public func luaValue(in state: LuaState) -> LuaValue { .integer(self) }
    public static func read(_ call: LuaCall, at position: Int) throws -> Int64 { try call.integer(position) }
    public func push(as call: LuaCall) -> LuaResults { call.returns(self) }
}

extension Int: LuaRepresentable {
    public static var luaType: LuaType { .integer }

    public static func fromLua(_ value: LuaValue) throws(LuaMismatch) -> Int {
        Int(try Int64.fromLua(value))
    }

    public func luaValue(in state: LuaState) -> LuaValue { .integer(Int64(self)) }
    public static func read(_ call: LuaCall, at position: Int) throws -> Int { Int(try call.integer(position)) }
    public func push(as call: LuaCall) -> LuaResults { call.returns(self) }
}

extension Double: LuaRepresentable {
    public static var luaType: LuaType { .number }

    public static func fromLua(_ value: LuaValue) throws(LuaMismatch) -> Double {
        guard let number = value.numberValue else { throw LuaMismatch(luaType, value) }
        return number
    }

    public func luaValue(in state: LuaState) -> LuaValue { .number(self) }
    public static func read(_ call: LuaCall, at position: Int) throws -> Double { try call.number(position) }
    public func push(as call: LuaCall) -> LuaResults { call.returns(self) }
}

extension String: LuaRepresentable {
    public static var luaType: LuaType { .text }

    public static func fromLua(_ value: LuaValue) throws(LuaMismatch) -> String {
        guard case .string(let string) = value else { throw LuaMismatch(luaType, value) }
        guard let text = string.text else { throw LuaMismatch("UTF-8 text expected, got other bytes") }
        return text
    }

    public func luaValue(in state: LuaState) -> LuaValue { .text(self) }
    public static func read(_ call: LuaCall, at position: Int) throws -> String { try call.text(position) }
    public func push(as call: LuaCall) -> LuaResults { call.returns(self) }
}

/// A string of any bytes.
extension LuaString: LuaRepresentable {
    public static var luaType: LuaType { .string }

    public static func fromLua(_ value: LuaValue) throws(LuaMismatch) -> LuaString {
        guard case .string(let string) = value else { throw LuaMismatch(luaType, value) }
        return string
    }

    public func luaValue(in state: LuaState) -> LuaValue { .string(self) }
}

/// A value of any type.
extension LuaValue: LuaRepresentable {
    public static var luaType: LuaType { .any }
    public static func fromLua(_ value: LuaValue) throws(LuaMismatch) -> LuaValue { value }
    public func luaValue(in state: LuaState) -> LuaValue { self }
}

extension LuaTable: LuaRepresentable {
    public static var luaType: LuaType { .table }

    public static func fromLua(_ value: LuaValue) throws(LuaMismatch) -> LuaTable {
        guard case .table(let table) = value else { throw LuaMismatch(luaType, value) }
        return table
    }

    public func luaValue(in state: LuaState) -> LuaValue { .table(self) }
}

extension LuaFunction: LuaRepresentable {
    public static var luaType: LuaType { .function }

    public static func fromLua(_ value: LuaValue) throws(LuaMismatch) -> LuaFunction {
        guard case .function(let function) = value else { throw LuaMismatch(luaType, value) }
        return function
    }

    public func luaValue(in state: LuaState) -> LuaValue { .function(self) }
}

/// The wrapped value, or nil.
extension Optional: LuaRepresentable where Wrapped: LuaRepresentable {
    public static var luaType: LuaType { .optional(Wrapped.luaType) }

    public static func fromLua(_ value: LuaValue) throws(LuaMismatch) -> Wrapped? {
        value.isNil ? nil : try Wrapped.fromLua(value)
    }

    public func luaValue(in state: LuaState) -> LuaValue { self?.luaValue(in: state) ?? .nil }

    public static func read(_ call: LuaCall, at position: Int) throws -> Wrapped? {
        call.isNil(position) ? nil : try Wrapped.read(call, at: position)
    }
}

/// An enum with text cases is a string in Lua; the error of an unknown word names the nearest cases.
extension LuaRepresentable where Self: RawRepresentable & CaseIterable, RawValue == String {
    public static var luaType: LuaType { .choice(allCases.map(\.rawValue)) }

    public static func fromLua(_ value: LuaValue) throws(LuaMismatch) -> Self {
        guard let word = value.textValue else { throw LuaMismatch(luaType, value) }
        guard let found = Self(rawValue: word) else {
            let hint = NearestNames.hint(for: word, among: allCases.map(\.rawValue))
            throw LuaMismatch("\(luaType.name) expected, got \"\(word)\"\(hint)")
        }
        return found
    }

    public func luaValue(in state: LuaState) -> LuaValue { .text(rawValue) }
}
