import Testing

@testable import Lua

@Suite("Async methods") struct AsyncMethodTests {
    final class Pump: LuaObject, Sendable {
        struct Dry: Error {}

        static var luaClass: LuaClassDeclaration {
            LuaClassDeclaration(Pump.self) {
                LuaMethod("draw", ["litres"], doc: "Draws water.") { (pump, litres: Int) async throws -> Int in
                    await Task.yield()
                    guard litres < 10 else { throw Dry() }
                    return litres * 2
                }
                LuaMethod("level") { _ in 7 }
            }
        }
    }

    @Test("a script waits for an async method, gets its result, and catches its error")
    func waits() async throws {
        let engine = try await LuaEngine()
        try await engine.withState { $0.setGlobal("pump", to: Pump()) }
        #expect(try await engine.run("return pump:draw(4) + pump:level()", as: Int.self) == 15)
        let script = "return select('#', pcall(pump.draw, pump, 10)) .. tostring((pcall(pump.draw, pump, 10)))"
        #expect(try await engine.run(script, as: String.self) == "2false")
        let error = await #expect(throws: LuaError.self) { try await engine.run("pump:draw('x')", name: "=test") }
        #expect(error?.message == "test:1: bad argument #1 'litres' to 'Pump:draw' (integer expected, got string)")
    }

    @Test("without an engine the call is an error")
    func alone() throws {
        let state = try LuaState()
        state.setGlobal("pump", to: Pump())
        let error = #expect(throws: LuaError.self) { try state.load("pump:draw(1)".utf8, name: "=test").call() }
        #expect(error?.message.hasPrefix("test:1: an async function can be called by scripts of a LuaEngine") == true)
    }
}
