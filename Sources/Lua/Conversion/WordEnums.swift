import Wording

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
