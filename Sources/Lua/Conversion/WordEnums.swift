import Wording

/// An enum of plain cases is a string in Lua, the case's name or its text; the error of an unknown word names the nearest
/// cases.
extension LuaRepresentable where Self: CaseIterable {
    public static var luaType: LuaType { .choice(allCases.map { word(of: $0) }) }

    public init(lua value: LuaValue) throws(LuaMismatch) {
        guard let word = value.textValue else { throw LuaMismatch(Self.luaType, value) }
        guard let found = Self.allCases.first(where: { Self.word(of: $0) == word }) else {
            let hint = NearestNames.hint(for: word, among: Self.allCases.map { Self.word(of: $0) })
            throw LuaMismatch("\(Self.luaType.name) expected, got \"\(word)\"\(hint)")
        }
        self = found
    }

    public func luaValue(in state: LuaState) -> LuaValue { .text(Self.word(of: self)) }

    private static func word(of value: Self) -> String {
        (value as? any RawRepresentable)?.rawValue as? String ?? "\(value)"
    }
}
