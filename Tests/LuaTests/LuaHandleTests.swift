import Testing

@testable import Lua

@Suite("Handles") final class LuaHandleTests {
    /// An object that nobody counts: the suites run side by side.
    final class Token {
        var label = "token"
    }

    let state: LuaState
    let tokens: LuaClass<Token>

    init() throws {
        let state = try LuaState()
        let tokens = LuaClass<Token>("Token", doc: "A thing.", in: state)
        tokens.text("label", doc: "A label.", get: { $0.label })
        let make = state.makeFunction(LuaFunctionDeclaration("make")) { call in call.returns(Token(), tokens) }
        state.globals["make"] = .function(make)
        self.state = state
        self.tokens = tokens
    }

    deinit { state.close() }

    @discardableResult
    private func run(_ text: String) throws -> String {
        let values = try state.load(text.utf8, name: "=test").call()
        return values.map { state.describe($0).description }.joined(separator: " ")
    }

    @Test("handles that are dropped at once are collected as fast as they are made") func pace() throws {
        try run("for i = 1, 200000 do local token = make() end")
        #expect(state.liveObjects < 40_000)
        state.collectGarbage()
        #expect(state.liveObjects <= 1)
    }

    @Test("what a script has collected is released when its call ends") func settling() throws {
        weak let token: Token? = {
            let token = Token()
            state.globals["token"] = tokens.value(token)
            return token
        }()
        try run("local label = token.label")
        #expect(token != nil)
        try run("token = nil collectgarbage() collectgarbage()")
        #expect(token == nil)
    }

    @Test("what only dropped references of Swift keep is garbage") func dropped() throws {
        let before = state.memory.used
        for _ in 0..<20 {
            let table = state.makeTable()
            table["text"] = .string(LuaString(Array(repeating: UInt8(ascii: "x"), count: 1 << 20)))
        }
        state.collectGarbage()
        #expect(state.memory.used < before + 100_000)
    }

    @Test("an object whose handle went gets another one; one that is held stays the same") func again() throws {
        let objects = (0..<300).map { _ in Token() }
        for round in 0..<3 {
            for (index, object) in objects.enumerated() {
                let value = tokens.value(object)
                #expect(tokens.object(of: value) === object)
                if index % 7 == 0 { state.globals["kept\(index)"] = value }
            }
            state.collectGarbage()
            #expect(state.liveObjects >= 43)
            objects[7].label = "round \(round)"
            state.globals["again"] = tokens.value(objects[7])
            #expect(try run("return rawequal(again, kept7), kept7.label") == "true round \(round)")
        }
    }
}
