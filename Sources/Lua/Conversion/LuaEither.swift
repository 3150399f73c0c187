/// An argument of either of two types: `LuaEither<String, LuaFunction>`.
public enum LuaEither<First, Second> {
    /// A value of the first type, tried first.
    case first(First)
    /// A value of the second type.
    case second(Second)
}

// Conforms in an extension, like arrays: the runtime then creates the type without searching all conformances of the
// program, which would delay each start.
extension LuaEither: LuaRepresentable where First: LuaRepresentable, Second: LuaRepresentable {
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
