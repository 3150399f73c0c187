import Testing

@testable import Lua

@Suite("Tables") struct LuaTableTests {
    @Test("entries by name, position and any value, without metamethods")
    func entries() throws {
        let state = try LuaState()
        let table = state.makeTable()
        let name = "room"
        table["watts"] = 40
        table[name] = "Study"
        table[1] = true
        table[.number(2)] = 2.5
        table[.table(table)] = "itself"
        table[nil] = 1
        table[.number(.nan)] = 1
        #expect(table["watts"] == 40 && table[name] == "Study" && table[.table(table)] == "itself")
        #expect(table[1] == true && table[2] == 2.5 && table[nil] == nil && table["none"].isNil)
        #expect(table.count == 2)
        table["watts"] = nil
        #expect(table["watts"].isNil)

        let metatable = state.makeTable()
        metatable["__index"] = .table(table)
        let derived = state.makeTable()
        derived.setMetatable(metatable)
        #expect(try derived["room"].isNil && derived.get("room") == "Study")
    }

    @Test("globals are a table")
    func globals() throws {
        let state = try LuaState()
        state.globals["x"] = 1
        #expect(try state.load("return x + 1".utf8, name: "=t").call() == [2])
    }

    @Test("an entry as a Swift type")
    func typed() throws {
        let state = try LuaState()
        let table = state.makeTable()
        table["watts"] = 40
        table["tags"] = ["desk", "night"].luaValue(in: state)
        #expect(try table["watts", as: Int.self] == 40)
        #expect(try table["tags", as: [String].self] == ["desk", "night"])
        #expect(try table["none", as: Int?.self] == nil)
        let mismatch = #expect(throws: LuaMismatch.self) { try table["tags", as: [Int].self] }
        #expect(mismatch?.message == "field \"tags\": element 1: integer expected, got string")
    }
}
