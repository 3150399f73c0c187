extension Bool: LuaRepresentable {
    public static var luaType: LuaType { .boolean }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard case .boolean(let value) = value else { throw LuaMismatch(Self.luaType, value) }
        self = value
    }

    public func luaValue(in state: LuaState) -> LuaValue { .boolean(self) }
    public static func read(_ call: LuaCall, at position: Int) throws -> Bool { call.boolean(position) }
    public func push(as call: LuaCall) -> LuaResults { call.returns(self) }
}

extension Double: LuaRepresentable {
    public static var luaType: LuaType { .number }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard let number = value.numberValue else { throw LuaMismatch(Self.luaType, value) }
        self = number
    }

    public func luaValue(in state: LuaState) -> LuaValue { .number(self) }
    public static func read(_ call: LuaCall, at position: Int) throws -> Double { try call.number(position) }
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
    public static func read(_ call: LuaCall, at position: Int) throws -> String { try call.text(position) }
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
    public static func read(_ call: LuaCall, at position: Int) throws -> LuaString {
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
    public static func read(_ call: LuaCall, at position: Int) throws -> Wrapped? {
        call.isNil(position) ? nil : try Wrapped.read(call, at: position)
    }

    @inlinable
    public func push(as call: LuaCall) throws -> LuaResults { try self?.push(as: call) ?? call.returns(LuaValue.nil) }
}
