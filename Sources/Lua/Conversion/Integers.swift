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
    public static func read(_ call: LuaCall, at position: Int) throws -> Self {
        let integer = try call.integer(position)
        guard let exact = Self(exactly: integer) else { throw call.refuse(position, refusing(integer).message) }
        return exact
    }

    @inlinable
    public func push(as call: LuaCall) -> LuaResults { call.returns(Int64(self)) }

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
