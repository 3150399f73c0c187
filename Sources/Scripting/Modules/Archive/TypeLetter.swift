import Lua

/// A C type as an argument: one of Objective-C's letters.
struct TypeLetter: LuaRepresentable {
    static let argument: LuaArgument = "an Objective-C type letter: i for a 32-bit integer, d a double, @ an object"

    let letter: Character

    static var luaType: LuaType { .text }

    init(lua value: LuaValue) throws(LuaMismatch) {
        let text = try String(lua: value)
        guard text.count == 1, let letter = text.first else {
            throw LuaMismatch("one letter expected, got \"\(text)\"")
        }
        self.letter = letter
    }

    func luaValue(in state: LuaState) -> LuaValue { .text(String(letter)) }
}
