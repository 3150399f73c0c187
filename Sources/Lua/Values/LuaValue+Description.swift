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
