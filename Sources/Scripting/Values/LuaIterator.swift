import Lua

/// An iterator as a result: a function that Swift releases when Lua collects it.
struct LuaIterator: LuaRepresentable {
    let next: (LuaCall) throws -> LuaResults

    init(_ next: @escaping (LuaCall) throws -> LuaResults) { self.next = next }

    static var luaType: LuaType { .callback("() → any") }

    /// Iterators are results only.
    init(lua value: LuaValue) throws(LuaMismatch) { throw LuaMismatch("no argument") }
    func luaValue(in state: LuaState) -> LuaValue { .nil }

    func push(as call: LuaCall) throws -> LuaResults { call.returns(ownedFunction: next) }
}
