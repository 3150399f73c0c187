/// An argument of either of two types: `LuaEither<String, LuaFunction>`.
public enum LuaEither<First: LuaRepresentable, Second: LuaRepresentable>: LuaRepresentable {
    /// A value of the first type, which is tried first.
    case first(First)
    /// A value of the second type.
    case second(Second)

    public static var luaType: LuaType { .union([First.luaType.wrapped, Second.luaType.wrapped]) }

    @inlinable
    public init(lua value: LuaValue) throws(LuaMismatch) {
        if let first = try? First(lua: value) {
            self = .first(first)
        } else if let second = try? Second(lua: value) {
            self = .second(second)
        } else {
            throw LuaMismatch(Self.luaType, value)
        }
    }

    public func luaValue(in state: LuaState) -> LuaValue {
        switch self {
        case .first(let value): value.luaValue(in: state)
        case .second(let value): value.luaValue(in: state)
        }
    }
}
