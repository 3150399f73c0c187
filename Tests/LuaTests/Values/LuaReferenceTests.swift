import Testing

@testable import Lua

@Suite("References to values")
struct LuaReferenceTests {
    @Test("a loop over a function of the host that gives tables keeps none of them")
    func dropped() throws {
        let state = try LuaState(limits: LuaLimits(memory: 4 << 20))
        defer { state.close() }
        let make = state.makeFunction(LuaFunctionDeclaration("make")) { call in
            let table = call.state.makeTable()
            table[1] = "text"
            return call.returns(LuaValue.table(table))
        }
        state.globals["make"] = .function(make)
        _ = try state.load("for i = 1, 100000 do local t = make() end".utf8, name: "=test").call()
        #expect(state.memory.peak < 4 << 20)
    }
}
