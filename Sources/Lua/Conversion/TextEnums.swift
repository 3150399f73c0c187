import Wording

/// An enum with text cases is a string in Lua; the error of an unknown word names the nearest cases.
extension LuaRepresentable where Self: RawRepresentable & CaseIterable, RawValue == String {
    public static var luaType: LuaType { .choice(allCases.map(\.rawValue)) }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard let word = value.textValue else { throw LuaMismatch(Self.luaType, value) }
        guard let found = Self(rawValue: word) else {
            let hint = NearestNames.hint(for: word, among: Self.allCases.map(\.rawValue))
            throw LuaMismatch("\(Self.luaType.name) expected, got \"\(word)\"\(hint)")
        }
        self = found
    }

    public func luaValue(in state: LuaState) -> LuaValue { .text(rawValue) }
}
